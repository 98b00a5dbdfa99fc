import { arrange as layOut, type ArrangeBlock, type ArrangeWire, type Arrangement } from "../arrange";
import { bendsOf } from "../model/bends";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
import { arrangeTexts } from "../arrange/texts";
import { text } from "../texts";
import type { Edit, Point } from "@weft/client";

let stop: (() => void) | undefined;

/** Arranges the selected blocks where there are several, else the whole page; a second call ends the first. */
export async function arrange(workbench: Workbench, page: PageEditor): Promise<void> {
  stop?.();
  const selected = page.selectedBlocks().map((block) => block.id);
  const ids = selected.length > 1 ? selected : page.model.ids;
  if (ids.length === 0) return;
  const reveal = workbench.revealLater();
  const { result, cancel } = layOut(ids.map((id) => blockOf(page, id)), wiresOf(page, new Set(ids)));
  stop = cancel;
  const dismiss = workbench.notifications.show("info", text(arrangeTexts.arranging, { count: ids.length }), { label: arrangeTexts.cancel, onSelect: cancel });
  try {
    const arrangement = await result;
    if (await page.edit(editsOf(page, arrangement, workbench.settings.get().routedWires), arrangeTexts.edit)) reveal(ids, false);
  } catch (error) {
    if ((error as Error).name === "AbortError") workbench.announce(arrangeTexts.cancelled);
    else workbench.notifications.show("error", text(arrangeTexts.failed, { problem: error instanceof Error ? error.message : String(error) }));
  } finally {
    dismiss();
    if (stop === cancel) stop = undefined;
  }
}

function blockOf(page: PageEditor, id: string): ArrangeBlock {
  const [x, y] = page.model.position(id);
  const { width, height, rows } = page.model.shape(id);
  const ports = (side: "in" | "out") => rows.filter((row) => row.side === side).map((row) => ({ port: row.name, y: row.y }));
  return { id, x, y, width, height, inputs: ports("in"), outputs: ports("out") };
}

function wiresOf(page: PageEditor, ids: ReadonlySet<string>): ArrangeWire[] {
  return [...page.model.wires()].filter((wire) => ids.has(wire.source) && ids.has(wire.target)).map(({ from, to, source, target }) => ({
    id: to, from: source, fromPort: from.slice(source.length + 1), to: target, toPort: to.slice(target.length + 1),
  }));
}

/** One step of undo: where the blocks go, and where routed wires bend. */
function editsOf(page: PageEditor, { places, bends }: Arrangement, routed: boolean): Edit[] {
  const layout = Object.fromEntries([...places].map(([id, { x, y }]) => [id, [x, y] as Point]));
  const whole = places.size === page.model.ids.length;
  const edits: Edit[] = whole ? [{ op: "set", key: "layout", value: layout }] : page.moveEdits(layout);
  if (!routed && page.model.keys["bends"] === undefined) return edits;
  const added = Object.fromEntries([...bends].filter(([, points]) => points.length > 0).map(([to, points]) => [to, points.map(({ x, y }) => [x, y])]));
  const kept = whole ? {} : Object.fromEntries(Object.entries(bendsOf(page.model.keys)).filter(([to]) => !bends.has(to)));
  return [...edits, { op: "set", key: "bends", value: { ...kept, ...(routed ? added : {}) } }];
}
