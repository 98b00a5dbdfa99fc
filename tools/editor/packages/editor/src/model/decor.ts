import { renamedPort, type Point } from "@weft/client";
import { equal } from "./equal";

/** A frame round blocks. It names its members; where it lies follows from them. Kept under the page's key "frames". */
export interface Frame {
  id: string;
  title: string;
  color?: string;
  blocks: string[];
}

/** A text on the page. Kept under the page's key "notes". */
export interface Note {
  id: string;
  text: string;
  at: Point;
  size?: Point;
  color?: string;
}

/** A plot that stands on the page. Kept under the page's key "plots". */
export interface PagePlot {
  id: string;
  /** Names of values: "loss.output". */
  values: string[];
  at: Point;
  size?: Point;
  log?: boolean;
}

/** Colours that blocks, frames and notes may have; names, so that they suit either theme. */
export const palette = ["blue", "violet", "teal", "green", "amber", "orange", "red", "pink", "grey"] as const;

/** The frames of a page; what is not one is left out (and stays on the page). */
export function framesOf(keys: Record<string, unknown>): Frame[] {
  const list = keys["frames"];
  if (!Array.isArray(list)) return [];
  return list.filter((f): f is Frame => isRecord(f) && typeof f["id"] === "string" && Array.isArray(f["blocks"]))
    .map((f) => ({ ...f, title: typeof f.title === "string" ? f.title : "", blocks: f.blocks.filter((b) => typeof b === "string") }));
}

/** The notes of a page. */
export function notesOf(keys: Record<string, unknown>): Note[] {
  const list = keys["notes"];
  if (!Array.isArray(list)) return [];
  return list.filter((n): n is Note => isRecord(n) && typeof n["id"] === "string" && typeof n["text"] === "string" && isPoint(n["at"]));
}

/** The plots of a page. */
export function plotsOf(keys: Record<string, unknown>): PagePlot[] {
  const list = keys["plots"];
  if (!Array.isArray(list)) return [];
  return list.filter((p): p is PagePlot => isRecord(p) && typeof p["id"] === "string" && Array.isArray(p["values"]) && isPoint(p["at"]))
    .map((p) => ({ ...p, values: p.values.filter((v) => typeof v === "string") }));
}

/** The keys that name the block `from`, naming it `to`; those that do not are left out. */
export function renamedKeys(keys: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  const list = (key: string, part: string, rename: (name: unknown) => unknown): [string, unknown][] => {
    const entries = keys[key];
    return Array.isArray(entries) ? [[key, entries.map((entry) => (isRecord(entry) && Array.isArray(entry[part]) ? { ...entry, [part]: entry[part].map(rename) } : entry))]] : [];
  };
  const port = (name: unknown): unknown => (typeof name === "string" ? renamedPort(name, from, to) : name);
  const { bends } = keys;
  const after: [string, unknown][] = [
    ...list("frames", "blocks", (id) => (id === from ? to : id)), ...list("plots", "values", port),
    ...(isRecord(bends) ? [["bends", Object.fromEntries(Object.entries(bends).map(([input, points]) => [port(input), points]))] as [string, unknown]] : []),
  ];
  return Object.fromEntries(after.filter(([key, value]) => !equal(value, keys[key])));
}

/** An id that no entry has. */
export function freshId(prefix: string, taken: Iterable<string>): string {
  const used = new Set(taken);
  for (let k = 1; ; k++) if (!used.has(`${prefix}${k}`)) return `${prefix}${k}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const isPoint = (value: unknown): value is Point =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number");

/** The CSS colour of a name of `palette`; a CSS colour as pages of other programs have it is taken as it is. */
export function colorValue(name: unknown): string | undefined {
  if (typeof name !== "string" || !name) return undefined;
  if ((palette as readonly string[]).includes(name)) return `var(--w-color-${name})`;
  return /^#[0-9a-f]{3,8}$/i.test(name) ? name : undefined;
}
