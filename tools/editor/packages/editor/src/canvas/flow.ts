import type { Edge as FlowEdge, Node as FlowNode } from "@xyflow/react";
import { Position } from "@xyflow/react";
import type { Point } from "@weft/client";
import { framesOf, notesOf, plotsOf, type Frame, type Note, type PagePlot } from "../model/decor";
import { Cell } from "../model/emitter";
import type { Rect } from "../model/geometry";
import { localPort } from "../model/names";
import type { ModelChange, PageModel, WireInfo } from "../model/page";
import { Sight } from "./sight";

/** What is selected: ids of blocks, "wire:TO", "frame:ID", "note:ID". */
export type Selection = ReadonlySet<string>;

export const framePadding = 20;
export const frameTitle = 28;

/**
 * The nodes and edges that React Flow is given: those of the visible part of the page and round it. A change of one block makes one new
 * node object; all others stay the same objects, which React Flow and React pass over.
 */
export class FlowModel {
  readonly nodes = new Cell<FlowNode[]>([]);
  readonly edges = new Cell<FlowEdge[]>([]);
  private nodeCache = new Map<string, FlowNode>();
  private edgeCache = new Map<string, FlowEdge>();
  private selected: Selection = new Set();
  private window: Rect | null = null;
  private readonly sight: Sight;
  private scheduled = false;
  private readonly ends: (() => void)[];

  constructor(private readonly model: PageModel, selection: Cell<Selection>) {
    this.sight = new Sight(model);
    this.ends = [model.follow((change) => this.changed(change)), selection.subscribe(() => this.select(selection.get()))];
    this.selected = selection.get();
  }

  dispose(): void {
    for (const end of this.ends) end();
  }

  /** Whether the overview is shown, which has no nodes. */
  get far(): boolean {
    return this.window === null;
  }

  /** The visible part is now this one; null: none, since the overview is shown. */
  show(view: Rect | null): void {
    if (!view) {
      if (this.window) this.look(null);
      return;
    }
    const now = this.window;
    const inside = now && view.x >= now.x && view.y >= now.y && view.x + view.width <= now.x + now.width && view.y + view.height <= now.y + now.height;
    if (inside && now.width < view.width * 4) return;
    this.look({ x: view.x - view.width / 2, y: view.y - view.height / 2, width: view.width * 2, height: view.height * 2 });
  }

  private look(window: Rect | null): void {
    this.window = window;
    this.sight.scan(window);
    if (this.edgeCache.size > 4000) this.edgeCache.clear();
    this.rebuild();
  }

  private changed(change: ModelChange): void {
    if (change.reset) {
      this.nodeCache.clear();
      this.edgeCache.clear();
      this.sight.scan(this.window);
      this.rebuild();
      return;
    }
    const rewired = new Set([...change.added, ...change.removed, ...change.changed]);
    const touched = new Set([...rewired, ...change.moved]);
    for (const id of touched) this.nodeCache.delete(id);
    if (touched.size || change.keys.length) this.dropDecor();
    if (change.keys.includes("bends")) this.edgeCache.clear();
    if (rewired.size) for (const [key, edge] of this.edgeCache) if (rewired.has(edge.target) || rewired.has(edge.source)) this.edgeCache.delete(key);
    this.sight.update(touched);
    if (touched.size || change.keys.length) this.rebuild();
  }

  /** Frames follow their members, and notes are cheap: both are made anew. */
  private dropDecor(): void {
    for (const id of this.nodeCache.keys()) if (/^(frame|note|plot):/.test(id)) this.nodeCache.delete(id);
  }

  private select(next: Selection): void {
    const before = this.selected;
    this.selected = next;
    for (const id of new Set([...before, ...next])) {
      if (before.has(id) === next.has(id)) continue;
      const node = this.nodeCache.get(id);
      if (node) this.nodeCache.set(id, { ...node, selected: next.has(id) });
      const edge = id.startsWith("wire:") ? this.edgeCache.get(id.slice(5)) : undefined;
      if (edge) this.edgeCache.set(edge.id, { ...edge, selected: next.has(id) });
    }
    this.rebuild();
  }

  /** One rebuild for all changes of a turn. */
  private rebuild(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.build();
    });
  }

  private build(): void {
    const window = this.window;
    if (!window) {
      this.nodes.set(noNodes);
      this.edges.set(noEdges);
      return;
    }
    const ends = new Set(this.sight.blocks);
    const edges: FlowEdge[] = [];
    for (const wire of this.sight.wires.values()) {
      edges.push(this.edge(wire));
      ends.add(wire.source).add(wire.target);
    }
    const nodes: FlowNode[] = [];
    for (const frame of framesOf(this.model.keys)) {
      const node = this.frame(frame);
      if (node) nodes.push(node);
    }
    for (const note of notesOf(this.model.keys)) nodes.push(this.note(note));
    for (const plot of plotsOf(this.model.keys)) nodes.push(this.plot(plot));
    for (const id of ends) nodes.push(this.block(id));
    this.nodes.set(nodes);
    this.edges.set(edges);
  }

  private block(id: string): FlowNode {
    const cached = this.nodeCache.get(id);
    if (cached) return cached;
    const shape = this.model.shape(id);
    const [x, y] = this.model.position(id);
    const node: FlowNode = {
      id, type: "block", position: { x, y }, data: nothing, ariaLabel: `${id}, ${this.model.blocks.get(id)?.block ?? ""}`, selected: this.selected.has(id), zIndex: 1,
      width: shape.width, height: shape.height, measured: { width: shape.width, height: shape.height },
      handles: shape.rows.map((row) => ({
        id: row.name, type: row.side === "in" ? "target" as const : "source" as const,
        position: row.side === "in" ? Position.Left : Position.Right,
        x: row.side === "in" ? -5 : shape.width - 5, y: row.y - 5, width: 10, height: 10,
      })),
    };
    this.nodeCache.set(id, node);
    return node;
  }

  private edge(wire: WireInfo): FlowEdge {
    const cached = this.edgeCache.get(wire.to);
    if (cached && cached.data?.["from"] === wire.from) return cached;
    const edge: FlowEdge = {
      id: wire.to, type: "wire", source: wire.source, target: wire.target,
      sourceHandle: wire.from.slice(wire.source.length + 1), targetHandle: localPort(wire.to),
      data: { from: wire.from }, ariaLabel: `${wire.from} → ${wire.to}`, selected: this.selected.has(`wire:${wire.to}`),
    };
    this.edgeCache.set(wire.to, edge);
    return edge;
  }

  /** The part of the page that the members of a frame take; null where none is left. */
  frameRect(frame: Frame): Rect | null {
    const members = this.model.bounds(frame.blocks);
    return members && {
      x: members.x - framePadding, y: members.y - framePadding - frameTitle,
      width: members.width + 2 * framePadding, height: members.height + 2 * framePadding + frameTitle,
    };
  }

  private frame(frame: Frame): FlowNode | undefined {
    const id = `frame:${frame.id}`;
    const cached = this.nodeCache.get(id);
    if (cached) return cached;
    const rect = this.frameRect(frame);
    if (!rect) return undefined;
    const { width, height } = rect;
    const node: FlowNode = {
      id, type: "frame", position: { x: rect.x, y: rect.y }, width, height, measured: { width, height }, handles: [],
      data: { frame }, zIndex: -1, selected: this.selected.has(id), dragHandle: ".w-frame-title", connectable: false,
    };
    this.nodeCache.set(id, node);
    return node;
  }

  private note(note: Note): FlowNode {
    return this.placed("note", note, { note }, [200, 80]);
  }

  private plot(plot: PagePlot): FlowNode {
    return this.placed("plot", plot, { plot }, [240, 120]);
  }

  /** What stands on the page at a place of its own. */
  private placed(type: string, entry: { id: string; at: Point; size?: Point }, data: Record<string, unknown>, size: Point): FlowNode {
    const id = `${type}:${entry.id}`;
    const cached = this.nodeCache.get(id);
    if (cached) return cached;
    const [width, height] = entry.size ?? size;
    const node: FlowNode = {
      id, type, position: { x: entry.at[0], y: entry.at[1] }, width, height, measured: { width, height }, handles: [],
      data, zIndex: type === "plot" ? 2 : 0, selected: this.selected.has(id), connectable: false, ariaLabel: id,
    };
    this.nodeCache.set(id, node);
    return node;
  }
}

const nothing = {};
const noNodes: FlowNode[] = [];
const noEdges: FlowEdge[] = [];
