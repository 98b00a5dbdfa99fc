import { alignBoxes, distributeBoxes, type PlacedBox } from "../arrange/align";
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

/** Arranges the selected blocks, or the whole page. */
export async function arrangePage(workbench: Workbench, page: PageEditor): Promise<void> {
  const { arrange } = await import("./arrange");
  await arrange(workbench, page);
}
