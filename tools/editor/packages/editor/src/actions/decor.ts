import type { Edit, Point } from "@weft/client";
import { framesOf, freshId, notesOf, type Frame, type Note } from "../model/decor";
import type { PageEditor } from "../model/pageEditor";

/** Entries of a list under a key of the page, those that the editor does not know included. */
function entries(page: PageEditor, key: "frames" | "notes"): Record<string, unknown>[] {
  const list = page.model.keys[key];
  return Array.isArray(list) ? structuredClone(list) as Record<string, unknown>[] : [];
}

const write = (key: "frames" | "notes", list: unknown[]): Edit => ({ op: "set", key, value: list.length ? list : null });

/** Puts a frame round blocks. */
export async function addFrame(page: PageEditor, blocks: string[], title: string): Promise<void> {
  if (!blocks.length) return;
  const id = freshId("frame", framesOf(page.model.keys).map((f) => f.id));
  const frame: Frame = { id, title, color: "blue", blocks };
  if (await page.edit([write("frames", [...entries(page, "frames"), { ...frame }])], "Add frame")) page.select([`frame:${id}`]);
}

export function setFrame(page: PageEditor, id: string, change: Partial<Frame>): Promise<boolean> {
  return page.edit([write("frames", entries(page, "frames").map((f) => (f["id"] === id ? { ...f, ...change } : f)))], "Change frame");
}

/** Puts a note on the page. */
export async function addNote(page: PageEditor, at: Point, text = ""): Promise<void> {
  const id = freshId("note", notesOf(page.model.keys).map((n) => n.id));
  const note: Note = { id, text, at: [Math.round(at[0]), Math.round(at[1])], size: [200, 80] };
  if (await page.edit([write("notes", [...entries(page, "notes"), { ...note }])], "Add note")) page.select([`note:${id}`]);
}

export function setNote(page: PageEditor, id: string, change: Partial<Note>): Promise<boolean> {
  return page.edit([write("notes", entries(page, "notes").map((n) => (n["id"] === id ? { ...n, ...change } : n)))], "Change note");
}

/** The edits that take frames and notes of a selection away. */
export function removeDecor(page: PageEditor, selection: ReadonlySet<string>): Edit[] {
  const edits: Edit[] = [];
  for (const key of ["frames", "notes"] as const) {
    const prefix = key === "frames" ? "frame:" : "note:";
    const all = entries(page, key);
    const left = all.filter((entry) => !selection.has(prefix + String(entry["id"])));
    if (left.length !== all.length) edits.push(write(key, left));
  }
  return edits;
}

/** The edits that give frames and notes of a selection a colour. */
export function colorDecor(page: PageEditor, selection: ReadonlySet<string>, color: string | null): Edit[] {
  const edits: Edit[] = [];
  for (const key of ["frames", "notes"] as const) {
    const prefix = key === "frames" ? "frame:" : "note:";
    const all = entries(page, key);
    if (!all.some((entry) => selection.has(prefix + String(entry["id"])))) continue;
    edits.push(write(key, all.map((entry) => (selection.has(prefix + String(entry["id"])) ? { ...entry, color: color ?? undefined } : entry))));
  }
  return edits;
}
