import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
import type { Point } from "@weft/client";

export type Alignment = "left" | "right" | "top" | "bottom" | "centerX" | "centerY" | "spreadX" | "spreadY";

interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Aligns or spreads the selected blocks. */
export async function alignSelection(page: PageEditor, how: Alignment): Promise<void> {
  const boxes = page.selectedBlocks().map(({ id }): Box => {
    const [x, y] = page.model.position(id);
    return { id, x, y, ...page.model.shape(id) };
  });
  if (boxes.length > 1) await page.edit(page.moveEdits(aligned(boxes, how)), "Align");
}

/** New places of boxes. */
export function aligned(boxes: Box[], how: Alignment): Record<string, Point> {
  if (how === "spreadX" || how === "spreadY") return spread(boxes, how === "spreadX");
  const left = Math.min(...boxes.map((b) => b.x));
  const right = Math.max(...boxes.map((b) => b.x + b.width));
  const top = Math.min(...boxes.map((b) => b.y));
  const bottom = Math.max(...boxes.map((b) => b.y + b.height));
  const place: Record<Exclude<Alignment, "spreadX" | "spreadY">, (b: Box) => Point> = {
    left: (b) => [left, b.y], right: (b) => [right - b.width, b.y], top: (b) => [b.x, top], bottom: (b) => [b.x, bottom - b.height],
    centerX: (b) => [(left + right - b.width) / 2, b.y], centerY: (b) => [b.x, (top + bottom - b.height) / 2],
  };
  return Object.fromEntries(boxes.map((b) => [b.id, place[how](b)]));
}

/** The same gap between all, the first and the last staying where they are. */
function spread(boxes: Box[], across: boolean): Record<string, Point> {
  const sorted = [...boxes].sort((a, b) => (across ? a.x - b.x : a.y - b.y));
  const size = (b: Box): number => (across ? b.width : b.height);
  const start = (b: Box): number => (across ? b.x : b.y);
  const first = sorted[0];
  const last = sorted.at(-1);
  if (!first || !last) return {};
  const room = start(last) + size(last) - start(first) - sorted.reduce((sum, b) => sum + size(b), 0);
  const gap = room / Math.max(1, sorted.length - 1);
  let at = start(first);
  return Object.fromEntries(sorted.map((b) => {
    const place: Point = across ? [at, b.y] : [b.x, at];
    at += size(b) + gap;
    return [b.id, place];
  }));
}

/** Arranges the selected blocks, or the whole page. */
export async function arrangePage(workbench: Workbench, page: PageEditor): Promise<void> {
  const { arrange } = await import("./arrange");
  await arrange(workbench, page);
}
