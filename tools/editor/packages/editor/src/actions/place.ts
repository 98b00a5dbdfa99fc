import { alignBoxes, distributeBoxes, type PlacedBox } from "../arrange/align";
import { notesOf } from "../model/decor";
import { texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
import type { Point } from "@weft/client";

export type Alignment = "left" | "right" | "top" | "bottom" | "centerX" | "centerY" | "spreadX" | "spreadY";

/** What the words of the menus are in `alignBoxes`. */
const sides = { left: "left", right: "right", top: "top", bottom: "bottom", centerX: "center", centerY: "middle" } as const;

/** Aligns the selected blocks, or makes the gaps between them equal. */
export async function alignSelection(page: PageEditor, how: Alignment): Promise<void> {
  const boxes = page.selectedBlocks().map(({ id }): PlacedBox => {
    const [x, y] = page.model.position(id);
    const { width, height } = page.model.shape(id);
    return { id, x, y, width, height };
  });
  const moves = how === "spreadX" || how === "spreadY" ? distributeBoxes(boxes, how === "spreadX" ? "horizontal" : "vertical") : alignBoxes(boxes, sides[how]);
  const places = Object.fromEntries([...moves].map(([id, { x, y }]) => [id, [x, y] as Point]));
  if (moves.size > 0) await page.edit(page.moveEdits(places), texts.edits.align);
}

/** Where something that is added without a place goes: in the middle of what is seen, beside the blocks and notes that are there. */
export function freePlace(page: PageEditor, width = 160, height = 72): Point {
  const view = page.viewport ?? { x: 0, y: 0, zoom: 1 };
  const box = document.querySelector(".w-canvas")?.getBoundingClientRect();
  const taken: [Point, number, number][] = [
    ...page.model.ids.map((id): [Point, number, number] => [page.model.position(id), page.model.shape(id).width, page.model.shape(id).height]),
    ...notesOf(page.model.keys).map(({ at, size }): [Point, number, number] => [at, ...(size ?? [200, 80] as const)]),
  ];
  let [x, y] = [((box?.width ?? 800) / 2 - view.x) / view.zoom - width / 2, ((box?.height ?? 600) / 2 - view.y) / view.zoom - height / 2];
  const isTaken = (): boolean => taken.some(([[bx, by], w, h]) => bx < x + width + 8 && bx + w + 8 > x && by < y + height + 8 && by + h + 8 > y);
  for (let k = 0; k < 40 && isTaken(); k++) [x, y] = [x + (k % 4 === 3 ? -3 * 48 : 48), y + 48];
  return [x, y];
}

/** Arranges the selected blocks, or the whole page. */
export async function arrangePage(workbench: Workbench, page: PageEditor): Promise<void> {
  const { arrange } = await import("./arrange");
  await arrange(workbench, page);
}
