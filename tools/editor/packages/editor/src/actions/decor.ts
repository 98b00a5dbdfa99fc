import type { Edit, Point } from "@weft/client";
import { framesOf, freshId, notesOf, plotsOf, type Frame, type Note, type PagePlot } from "../model/decor";
import { parsePort } from "../model/names";
import { texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";
import { selectAdded } from "./arrival";

/** Keys of the page that hold lists of what stands on it besides blocks. */
type DecorKey = "frames" | "notes" | "plots";

const prefixes: Record<DecorKey, string> = { frames: "frame:", notes: "note:", plots: "plot:" };

/** Entries of a list under a key of the page, those that the editor does not know included. */
function entries(page: PageEditor, key: DecorKey): Record<string, unknown>[] {
  const list = page.model.keys[key];
  return Array.isArray(list) ? structuredClone(list) as Record<string, unknown>[] : [];
}

const write = (key: DecorKey, list: unknown[]): Edit => ({ op: "set", key, value: list.length ? list : null });

/** Puts a frame round blocks. */
export async function addFrame(page: PageEditor, blocks: string[], title: string): Promise<void> {
  if (!blocks.length) return;
  const id = freshId("frame", framesOf(page.model.keys).map((f) => f.id));
  const frame: Frame = { id, title, color: "blue", blocks };
  await selectAdded(page, [`frame:${id}`], page.edit([write("frames", [...entries(page, "frames"), { ...frame }])], texts.edits.addFrame));
}

export function setFrame(page: PageEditor, id: string, change: Partial<Frame>): Promise<boolean> {
  return page.edit([write("frames", entries(page, "frames").map((f) => (f["id"] === id ? { ...f, ...change } : f)))], texts.edits.changeFrame);
}

/** Puts a note on the page, and begins to write it. */
export async function addNote(page: PageEditor, at: Point, text = ""): Promise<void> {
  const id = freshId("note", notesOf(page.model.keys).map((n) => n.id));
  const note: Note = { id, text, at: [Math.round(at[0]), Math.round(at[1])], size: [200, 80] };
  await selectAdded(page, [`note:${id}`], page.edit([write("notes", [...entries(page, "notes"), { ...note }])], texts.edits.addNote), () => page.startWriting(`note:${id}`));
}

export function setNote(page: PageEditor, id: string, change: Partial<Note>): Promise<boolean> {
  return page.edit([write("notes", entries(page, "notes").map((n) => (n["id"] === id ? { ...n, ...change } : n)))], texts.edits.changeNote);
}

/** Puts a plot of a value on the page, right of the block that computes it. */
export async function addPlot(page: PageEditor, value: string): Promise<void> {
  const id = freshId("plot", plotsOf(page.model.keys).map((p) => p.id));
  const block = parsePort(value).block;
  const [x, y] = page.model.position(block);
  const plot: PagePlot = { id, values: [value], at: [Math.round(x), Math.round(y + page.model.shape(block).height + 24)], size: [240, 120] };
  await selectAdded(page, [`plot:${id}`], page.edit([write("plots", [...entries(page, "plots"), { ...plot }])], texts.edits.addPlot));
}

export function setPlot(page: PageEditor, id: string, change: Partial<PagePlot>): Promise<boolean> {
  return page.edit([write("plots", entries(page, "plots").map((p) => (p["id"] === id ? { ...p, ...change } : p)))], texts.edits.changePlot);
}

/** The edits that take frames and notes of a selection away. */
export function removeDecor(page: PageEditor, selection: ReadonlySet<string>): Edit[] {
  const edits: Edit[] = [];
  for (const key of ["frames", "notes", "plots"] as const) {
    const prefix = prefixes[key];
    const all = entries(page, key);
    const left = all.filter((entry) => !selection.has(prefix + String(entry["id"])));
    if (left.length !== all.length) edits.push(write(key, left));
  }
  return edits;
}

/** The edits that give frames and notes of a selection a colour. */
export function colorDecor(page: PageEditor, selection: ReadonlySet<string>, color: string | null): Edit[] {
  const edits: Edit[] = [];
  for (const key of ["frames", "notes", "plots"] as const) {
    const prefix = prefixes[key];
    const all = entries(page, key);
    if (!all.some((entry) => selection.has(prefix + String(entry["id"])))) continue;
    edits.push(write(key, all.map((entry) => (selection.has(prefix + String(entry["id"])) ? { ...entry, color: color ?? undefined } : entry))));
  }
  return edits;
}
