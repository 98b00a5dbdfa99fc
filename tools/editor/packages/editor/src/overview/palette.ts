/** Colours of the theme, as a canvas needs them: read from the custom properties once, and again when the theme changes. */

export interface Palette {
  readonly bg: string;
  readonly surface: string;
  readonly border: string;
  readonly text: string;
  readonly text2: string;
  readonly accent: string;
  readonly accentSoft: string;
  /** By the index of STATES; "" draws nothing. */
  readonly states: readonly string[];
  readonly error: string;
  readonly warning: string;
  /** From cold to hot, 16 steps. */
  readonly heat: readonly string[];
  readonly font: string;
  category(name: string): { readonly line: string; readonly head: string; readonly body: string };
  type(name: string): string;
  /** A colour that may be a custom property, "var(--w-color-teal)": a canvas knows none. */
  color(written: string): string;
}

type Rgb = readonly [number, number, number];

let probe: CanvasRenderingContext2D | null | undefined;

/** A CSS colour as red, green and blue; middle grey where there is no canvas to ask. */
export function rgbOf(color: string): Rgb {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color.trim());
  if (hex) return [parseInt(hex[1]!, 16), parseInt(hex[2]!, 16), parseInt(hex[3]!, 16)];
  if (typeof document === "undefined") return [128, 128, 128];
  if (probe === undefined) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    probe = canvas.getContext?.("2d", { willReadFrequently: true }) ?? null;
  }
  if (!probe) return [128, 128, 128];
  probe.fillStyle = "#808080";
  probe.fillStyle = color;
  probe.fillRect(0, 0, 1, 1);
  const [r = 128, g = 128, b = 128] = probe.getImageData(0, 0, 1, 1).data;
  return [r, g, b];
}

/** `share` of the first colour in the second. */
export function mix(first: string, second: string, share: number): string {
  const a = rgbOf(first), b = rgbOf(second);
  return `rgb(${a.map((part, i) => Math.round(part * share + b[i]! * (1 - share))).join(" ")})`;
}

/** The palette of the theme that the element is in. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const get = (name: string, fallback: string) => style.getPropertyValue(name).trim() || fallback;
  const surface = get("--w-surface", "#ffffff");
  const accent = get("--w-accent", "#2458d0");
  const warning = get("--w-warning", "#8a5a00");
  const error = get("--w-error", "#b3261e");
  const other = get("--w-cat-other", "#6b7280");
  const categories = new Map<string, { line: string; head: string; body: string }>();
  const types = new Map<string, string>();
  const keep = <T>(map: Map<string, T>, name: string, make: () => T): T => {
    let value = map.get(name);
    if (value === undefined) map.set(name, (value = make()));
    return value;
  };
  return {
    bg: get("--w-bg", "#f4f5f7"), surface, border: get("--w-border", "#dcdfe5"), text: get("--w-text", "#1b1f27"), text2: get("--w-text-2", "#4a5261"),
    accent, accentSoft: get("--w-accent-soft", "#e4ecfd"), error, warning, font: get("--w-font", "sans-serif"),
    states: ["", get("--w-text-3", "#646c7a"), get("--w-running", accent), get("--w-ok", "#1a7038"), get("--w-border-strong", "#868d9a"), error,
      get("--w-paused", warning), get("--w-border-strong", "#868d9a")],
    heat: Array.from({ length: 16 }, (_, i) => mix(error, get("--w-warning-soft", "#fdf3dc"), (i / 15) ** 0.8)),
    category: (name) => keep(categories, name, () => {
      const line = get(`--w-cat-${name}`, other);
      return { line: mix(line, surface, 0.75), head: mix(line, surface, 0.28), body: mix(line, surface, 0.06) };
    }),
    color: (written) => {
      const name = /^var\((--[\w-]+)\)$/.exec(written)?.[1];
      return name ? get(name, accent) : written;
    },
    type: (name) => keep(types, name, () => get(`--w-type-${name}`, get("--w-type-unknown", "#8b93a1"))),
  };
}

/** Calls back when the theme of the element's surroundings changes. The answer ends it. */
export function watchTheme(element: Element, changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  for (let each: Element | null = element; each; each = each.parentElement) {
    observer.observe(each, { attributes: true, attributeFilter: ["data-theme", "class"] });
  }
  const dark = window.matchMedia?.("(prefers-color-scheme: dark)");
  dark?.addEventListener?.("change", changed);
  return () => {
    observer.disconnect();
    dark?.removeEventListener?.("change", changed);
  };
}
