import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
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
  const file = event.dataTransfer?.files[0];
  if (file && /\.(json|svg)$/i.test(file.name)) {
    await workbench.open({ text: await file.text(), name: file.name.replace(/\.page\.json$|\.json$|\.svg$/i, "") });
    return;
  }
  const clip = parseClip(event.dataTransfer?.getData("text/plain") ?? "");
  if (clip) await paste(page, clip, [at.x, at.y]);
}
