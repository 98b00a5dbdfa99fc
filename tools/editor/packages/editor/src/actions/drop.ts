import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
import { text, texts } from "../texts";
import { parseClip } from "../model/clipboard";
import { addBlock, paste } from "./edit";

/** The kind of data that a block type of the palette is dragged as. */
export const dragType = "application/x-weft-block";

/** Where the pointer is in the window, for mouse and touch alike. */
export function pointOf(event: { clientX?: number; clientY?: number; changedTouches?: ArrayLike<{ clientX: number; clientY: number }> }): { x: number; y: number } {
  const touch = event.changedTouches?.[0];
  return { x: touch?.clientX ?? event.clientX ?? 0, y: touch?.clientY ?? event.clientY ?? 0 };
}

/** Something was dropped on the canvas: a block type of the palette, or a page as a file, which is opened. */
export async function dropSchema(workbench: Workbench, page: PageEditor, event: DragEvent, at: { x: number; y: number }): Promise<void> {
  event.preventDefault();
  const type = event.dataTransfer?.getData(dragType);
  if (type) {
    await addBlock(page, type, [at.x - 20, at.y - 20]);
    return;
  }
  if (event.dataTransfer?.files.length) {
    await openFiles(workbench, event.dataTransfer.files);
    return;
  }
  const clip = parseClip(event.dataTransfer?.getData("text/plain") ?? "");
  if (clip) await paste(page, clip, [at.x, at.y]);
}

/** Opens files of the user's as pages, one after the other. */
export async function openFiles(workbench: Workbench, files: Iterable<File>): Promise<void> {
  for (const file of [...files]) {
    if (/\.(json|svg)$/i.test(file.name)) await workbench.open({ text: await file.text(), name: file.name.replace(/(\.page)?\.(json|svg)$/i, "") });
    else workbench.toast({ kind: "error", text: text(texts.app.noPage, { name: file.name }) });
  }
}

/** A block type was dropped by a finger somewhere in the window: where the canvas is, it is added. In a narrow window the list gives way. */
export async function dropBlock(workbench: Workbench, type: string, { x, y }: { x: number; y: number }): Promise<void> {
  const page = workbench.active.get();
  const canvas = document.querySelector(".w-canvas")?.getBoundingClientRect();
  const over = document.elementFromPoint(x, y);
  if (!page || !canvas || !over?.closest(".w-canvas, .w-over-close")) return;
  const view = page.viewport ?? { x: 0, y: 0, zoom: 1 };
  if (over.closest(".w-over-close")) workbench.set("left", false);
  const id = await addBlock(page, type, [(x - canvas.x - view.x) / view.zoom - 20, (y - canvas.y - view.y) / view.zoom - 20]);
  if (id) workbench.announce(id);
}
