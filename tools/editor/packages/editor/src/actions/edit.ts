import type { Block, Diagnostic, Edit, Point } from "@weft/client";
import { makeClip, parseClip, pasteEdits, freshBlockId, type Clip } from "../model/clipboard";
import { selectAdded } from "./arrival";
import { focusNode } from "./focus";
import { colorDecor, removeDecor } from "./decor";
import { renamedKeys } from "../model/decor";
import { parsePort } from "../model/names";
import { plural, text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";

/** How a block is added: its port `port` wired to `wire`; `show` hears of it as soon as it is on the page. */
export interface AddOptions {
  wire?: { port: string; side: "source" | "target" };
  port?: string;
  show?: (id: string) => void;
}

/** Adds a block of a type at a place. Returns its id; undefined where it was refused. */
export async function addBlock(page: PageEditor, type: string, place: Point, { wire, port, show }: AddOptions = {}): Promise<string | undefined> {
  const id = freshBlockId(type, (name) => page.model.blocks.has(name));
  const at: Point = [Math.round(place[0] / 8) * 8, Math.round(place[1] / 8) * 8];
  const block: Block = { id, block: type };
  // a constant is of use only with a value: zero, until it gets another
  if (type === "Const" && !(wire?.side === "source" && port === "value")) block.inputs = { value: { dtype: "DT_FLOAT", shape: [], values: [0] } };
  const edits: Edit[] = [{ op: "add", block, layout: at }];
  if (wire && port) {
    edits.push(wire.side === "source" ? { op: "connect", from: wire.port, to: `${id}.${port}` } : { op: "connect", from: `${id}.${port}`, to: wire.port });
  }
  const done = page.edit([...pinAuto(page), ...edits], text(texts.edits.add, { what: type }));
  return (await selectAdded(page, [id], done, () => show?.(id))) ? id : undefined;
}

/** Before the first block gets a place on a page that places none, the others keep the places that they are seen at. */
function pinAuto(page: PageEditor): Edit[] {
  return page.model.placedCount === 0 && page.model.blocks.size > 0 ? page.moveEdits({}) : [];
}

/** Removes what is selected: blocks with their wires, wires, frames, notes. */
export async function removeSelection(workbench: Workbench, page: PageEditor): Promise<void> {
  const selection = page.selection.get();
  const blocks = page.selectedBlocks().map((b) => b.id);
  const gone = new Set(blocks);
  const wires = [...selection].filter((id) => id.startsWith("wire:")).map((id) => id.slice(5)).filter((to) => !gone.has(parsePort(to).block));
  // elements of a list from the last one on, since those behind one that goes move up
  wires.sort((a, b) => (parsePort(b).index ?? 0) - (parsePort(a).index ?? 0));
  const edits: Edit[] = [
    ...wires.map((to): Edit => ({ op: "disconnect", to })),
    ...blocks.map((block): Edit => ({ op: "remove", block })),
    ...removeDecor(page, selection),
  ];
  if (!edits.length) return;
  const label = blocks.length === 1 && edits.length === 1 ? text(texts.edits.remove, { what: blocks[0] ?? "" }) : blocks.length ? plural(blocks.length, texts.edits.removeOne, texts.edits.removeMany) : texts.edits.removeWires;
  if (await page.edit(edits, label)) workbench.announce(label);
}

/** Copies the selected blocks, into the system's clipboard, too. */
export function copy(workbench: Workbench, page: PageEditor): boolean {
  const blocks = page.selectedBlocks();
  if (!blocks.length) return false;
  workbench.clip = makeClip(blocks, (id) => page.model.position(id));
  void navigator.clipboard?.writeText(JSON.stringify(workbench.clip, null, 2)).catch(() => {});
  workbench.announce(plural(blocks.length, texts.edits.copiedOne, texts.edits.copiedMany));
  return true;
}

export async function cut(workbench: Workbench, page: PageEditor): Promise<void> {
  if (copy(workbench, page)) await removeSelection(workbench, page);
}

/** Pastes a clip at a place, or a little beside where it was copied. */
export async function paste(page: PageEditor, clip: Clip | null, at?: Point): Promise<void> {
  if (!clip) return;
  const corner = clip.blocks.map((b) => clip.layout[b.id]).filter((p): p is Point => Boolean(p));
  const left = Math.min(...corner.map(([x]) => x));
  const top = Math.min(...corner.map(([, y]) => y));
  const offset: Point = at && corner.length ? [at[0] - left, at[1] - top] : [32, 32];
  const { edits, ids } = pasteEdits(clip, (id) => page.model.blocks.has(id), offset);
  await selectAdded(page, ids, page.edit([...pinAuto(page), ...edits], plural(clip.blocks.length, texts.edits.pasteOne, texts.edits.pasteMany)), () => focusNode(ids[0] ?? ""));
}

/** What is in the system's clipboard, where it may be read and is a page; else what was copied here last. */
export async function clipboardClip(workbench: Workbench): Promise<Clip | null> {
  try {
    return parseClip(await navigator.clipboard.readText()) ?? workbench.clip;
  } catch {
    return workbench.clip;
  }
}

export async function duplicate(page: PageEditor): Promise<void> {
  const blocks = page.selectedBlocks();
  if (blocks.length) await paste(page, makeClip(blocks, (id) => page.model.position(id)));
}

/** Gives blocks, frames and notes of the selection a colour; null: that of their category. */
export async function colorSelection(page: PageEditor, color: string | null): Promise<void> {
  const blocks = page.selectedBlocks().map((b): Edit => ({ op: "set", block: b.id, key: "color", value: color }));
  await page.edit([...blocks, ...colorDecor(page, page.selection.get(), color)], texts.edits.color);
}

/** Renames a block; its wires follow, and so do frames, bends and plots. A refusal is shown, or handed to `refused`. */
export async function rename(workbench: Workbench, page: PageEditor, from: string, to: string, refused?: (reason: Diagnostic) => void): Promise<boolean> {
  if (from === to) return true;
  const keys = Object.entries(renamedKeys(page.model.keys, from, to)).map(([key, value]): Edit => ({ op: "set", key, value }));
  const done = await page.edit([{ op: "rename", block: from, to }, ...keys], text(texts.edits.rename, { from, to }), "apply", refused);
  if (done) workbench.announce(`${from} → ${to}`);
  return done;
}

/** Removes blocks with their wires. */
export async function removeBlocks(workbench: Workbench, page: PageEditor, ids: string[]): Promise<void> {
  page.select(ids);
  await removeSelection(workbench, page);
}

export function setNoteOf(page: PageEditor, block: Block, note: string): Promise<boolean> {
  return page.edit([{ op: "set", block: block.id, key: "note", value: note || null }], text(texts.edits.note, { what: block.id }));
}
