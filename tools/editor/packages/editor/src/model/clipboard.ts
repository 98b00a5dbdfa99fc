import type { Block, Edit, InputValue, Point } from "@weft/client";
import { parsePort } from "./names";

/** What is copied: a page of its own, so that it can be pasted into another page, another window, or a file. */
export interface Clip {
  weft: 1;
  page: "clipboard";
  blocks: Block[];
  layout: Record<string, Point>;
}

/** Copies blocks with their places. */
export function makeClip(blocks: Block[], position: (id: string) => Point): Clip {
  return { weft: 1, page: "clipboard", blocks: structuredClone(blocks), layout: Object.fromEntries(blocks.map((b) => [b.id, position(b.id)])) };
}

/** A text as a clip: a whole page serves, too. Null for other texts. */
export function parseClip(text: string): Clip | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const page = JSON.parse(text) as { weft?: unknown; blocks?: unknown; layout?: unknown };
    if (typeof page.weft !== "number" || !Array.isArray(page.blocks)) return null;
    const blocks = page.blocks.filter((b): b is Block => typeof b === "object" && b !== null && typeof (b as Block).id === "string" && typeof (b as Block).block === "string");
    const layout = typeof page.layout === "object" && page.layout !== null ? (page.layout as Record<string, Point>) : {};
    return blocks.length ? { weft: 1, page: "clipboard", blocks, layout } : null;
  } catch {
    return null;
  }
}

/** An id for a new block: the type's name, with a short random ending where it is taken (not a counter: branches of a page must not clash). */
export function freshBlockId(type: string, taken: (id: string) => boolean, random: () => number = Math.random): string {
  const base = type.replace(/[^A-Za-z0-9_]/g, "_").replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/^(\d)/, "_$1") || "block";
  if (!taken(base)) return base;
  for (;;) {
    const id = `${base.replace(/_(?=[a-z]*\d)[a-z0-9]{3}$/, "")}_${Math.floor(random() * 36 ** 3).toString(36).padStart(3, "0")}`;
    if (!taken(id)) return id;
  }
}

/**
 * The edits that put a clip on a page: with new ids where they are taken, wires among the copies following them. Wires from other blocks
 * stay where the page has the block (`has`), otherwise the input is left open.
 */
export function pasteEdits(clip: Clip, has: (id: string) => boolean, offset: Point, random?: () => number): { edits: Edit[]; ids: string[] } {
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const block of clip.blocks) {
    const free = !has(block.id) && !used.has(block.id);
    const id = free ? block.id : freshBlockId(block.id, (name) => has(name) || used.has(name), random);
    used.add(id);
    names.set(block.id, id);
  }
  const edits = clip.blocks.map((block, k): Edit => {
    const inputs = block.inputs && Object.fromEntries(
      Object.entries(block.inputs).map(([port, value]) => [port, rewire(value, names, has)] as const).filter(([, value]) => value !== undefined),
    );
    const id = names.get(block.id) ?? block.id;
    const copy = { ...structuredClone(block), id } as Block;
    if (inputs && Object.keys(inputs).length) copy.inputs = inputs as Record<string, InputValue>;
    else delete copy.inputs;
    const [x, y] = clip.layout[block.id] ?? [40 * k, 40 * k];
    return { op: "add", block: copy, layout: [Math.round(x + offset[0]), Math.round(y + offset[1])] };
  });
  return { edits, ids: [...names.values()] };
}

function rewire(value: InputValue, names: ReadonlyMap<string, string>, has: (id: string) => boolean): InputValue | undefined {
  if (typeof value === "string") {
    const { block } = parsePort(value);
    const copy = names.get(block);
    if (copy) return copy + value.slice(block.length);
    return has(block) ? value : undefined;
  }
  if (Array.isArray(value)) return value.map((item) => rewire(item, names, has)).filter((item): item is InputValue => item !== undefined);
  return value;
}
