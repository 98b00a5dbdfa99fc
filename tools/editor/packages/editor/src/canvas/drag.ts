import { useMemo } from "react";
import type { Node, NodeChange } from "@xyflow/react";
import type { Edit, Point } from "@weft/client";
import { setNote, setPlot } from "../actions/decor";
import { framesOf, notesOf, plotsOf } from "../model/decor";
import { plural, text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";

const decorKeys = [["notes", "note:"], ["plots", "plot:"]] as const;

/** What moves together, from where, since a drag began. */
interface Dragging {
  lead: string;
  from: Map<string, Point>;
  notes: Map<string, Point>;
  to: Map<string, Point>;
  /** Keys of the page before it. */
  before: Record<string, unknown>;
}

/**
 * Dragging blocks, frames and notes: shown at once, sent when the pointer lets go, as one edit. Blocks that are selected but out of sight
 * move along, and so do the members of a frame.
 */
export function useDrag(page: PageEditor) {
  return useMemo(() => new Drag(page), [page]);
}

class Drag {
  private now: Dragging | null = null;

  constructor(private readonly page: PageEditor) {}

  start = (_event: unknown, node: Node): void => this.begin(node.id);
  startAll = (_event: unknown, nodes: Node[]): void => this.begin(nodes[0]?.id);
  stop = (): void => void this.finish();
  stopAll = (): void => void this.finish();

  /** Positions that React Flow wants. Keyboard moves come without a start: they are taken as they are. */
  change = (changes: NodeChange[]): void => {
    const moves = changes.filter((change) => change.type === "position");
    if (!moves.length) return;
    if (!this.now) {
      const by = moves.filter((m) => m.position && m.dragging === false);
      if (by.length) void this.byKeyboard(by.map((m) => [m.id, m.position as { x: number; y: number }]));
      return;
    }
    const lead = moves.find((move) => move.id === this.now?.lead && move.position);
    if (!lead?.position) return;
    const from = this.now.from.get(lead.id) ?? this.now.notes.get(lead.id);
    if (!from) return;
    const [dx, dy] = [lead.position.x - from[0], lead.position.y - from[1]];
    this.now.to = new Map([...this.now.from].map(([id, [x, y]]) => [id, [x + dx, y + dy] as Point]));
    this.page.model.drag([...this.now.to].filter(([id]) => !id.startsWith("frame:")));
    this.moveNotes(dx, dy);
  };

  private begin(lead: string | undefined): void {
    if (!lead) return;
    const selection = new Set(this.page.selection.get());
    if (!selection.has(lead)) {
      selection.clear();
      selection.add(lead);
    }
    const from = new Map<string, Point>();
    const notes = new Map<string, Point>();
    const add = (id: string): void => void (this.page.model.blocks.has(id) && from.set(id, this.page.model.position(id)));
    for (const id of selection) add(id);
    for (const frame of framesOf(this.page.model.keys)) {
      if (!selection.has(`frame:${frame.id}`)) continue;
      frame.blocks.forEach(add);
      const rect = this.page.flow.frameRect(frame);
      if (rect) from.set(`frame:${frame.id}`, [rect.x, rect.y]);
    }
    for (const note of notesOf(this.page.model.keys)) if (selection.has(`note:${note.id}`)) notes.set(`note:${note.id}`, note.at);
    for (const plot of plotsOf(this.page.model.keys)) if (selection.has(`plot:${plot.id}`)) notes.set(`plot:${plot.id}`, plot.at);
    this.now = { lead, from, notes, to: new Map(), before: this.page.model.keys };
  }

  /** Notes and plots are shown where they go by the document itself: there are few. */
  private moveNotes(dx: number, dy: number): void {
    const moved = this.now?.notes;
    if (!moved?.size) return;
    const keys: Record<string, unknown> = {};
    for (const [key, prefix] of decorKeys) {
      if (![...moved.keys()].some((id) => id.startsWith(prefix))) continue;
      keys[key] = ((this.page.model.keys[key] ?? []) as Record<string, unknown>[]).map((entry) => {
        const at = moved.get(prefix + String(entry["id"]));
        return at ? { ...entry, at: [Math.round(at[0] + dx), Math.round(at[1] + dy)] } : entry;
      });
    }
    this.page.model.apply({ keys });
  }

  private async finish(): Promise<void> {
    const done = this.now;
    this.now = null;
    if (!done) return;
    const positions = Object.fromEntries([...done.to].filter(([id]) => this.page.model.blocks.has(id)));
    const count = Object.keys(positions).length;
    const edits: Edit[] = count ? this.page.moveEdits(positions) : [];
    edits.push(...this.decorEdits(done));
    if (!edits.length) return;
    const moved = await this.page.edit(edits, count === 1 ? text(texts.edits.move, { what: Object.keys(positions)[0] ?? "" }) : plural(Math.max(count, done.notes.size), texts.edits.moveOne, texts.edits.moveMany));
    if (!moved) this.page.model.drag(Object.keys(positions).map((id) => [id, null]));
  }

  /** The model is taken back to what the server has: the edits show the places again, and take them back where they are refused. */
  private decorEdits({ notes, before }: Dragging): Edit[] {
    const { model } = this.page;
    const moved = decorKeys.filter(([, prefix]) => [...notes.keys()].some((id) => id.startsWith(prefix))).map(([key]) => key);
    const edits = moved.map((key): Edit => ({ op: "set", key, value: model.keys[key] ?? [] }));
    if (moved.length) model.apply({ keys: Object.fromEntries(moved.map((key) => [key, before[key]])) });
    return edits;
  }

  private async byKeyboard(moves: [string, { x: number; y: number }][]): Promise<void> {
    const positions = Object.fromEntries(moves.filter(([id]) => this.page.model.blocks.has(id)).map(([id, { x, y }]) => [id, [x, y] as Point]));
    if (Object.keys(positions).length) await this.page.edit(this.page.moveEdits(positions), plural(Object.keys(positions).length, texts.edits.moveOne, texts.edits.moveMany));
    for (const [id, { x, y }] of moves) if (id.startsWith("plot:")) await setPlot(this.page, id.slice(5), { at: [Math.round(x), Math.round(y)] });
    for (const [id, { x, y }] of moves) if (id.startsWith("note:")) await setNote(this.page, id.slice(5), { at: [Math.round(x), Math.round(y)] });
  }
}
