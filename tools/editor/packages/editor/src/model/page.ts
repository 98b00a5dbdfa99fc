import type { Block, Diagnostic, InputValue, Point, PortType } from "@weft/client";
import { Emitter } from "./emitter";
import { blockShape, type BlockShape, type Rect } from "./geometry";
import { parsePort } from "./names";
import { isList, type SchemaIndex } from "./schema";

/** A wire as the page stores it: the input names it, since an input has at most one. */
export interface WireInfo {
  /** "y.x" or "sum.inputs[1]". */
  to: string;
  /** "a.z". */
  from: string;
  source: string;
  target: string;
}

/** What became different, by id. `reset`: everything. */
export interface ModelChange {
  reset?: boolean;
  added: string[];
  removed: string[];
  changed: string[];
  moved: string[];
  /** Keys of the page that are different, such as "frames". */
  keys: string[];
}

/** What the server says of a change; what is missing is as it was. */
export interface PagePatch {
  blocks?: Block[];
  removed?: string[];
  order?: string[];
  layout?: Record<string, Point | null>;
  /** `layout` has all places: others are gone. */
  layoutAll?: boolean;
  types?: Record<string, PortType | null>;
  diagnostics?: Diagnostic[];
  keys?: Record<string, unknown>;
}

type Key = `block:${string}` | "structure" | "diagnostics" | "types" | "keys";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** The block without members of other kinds than they need, such as `"attrs": 5`: a page keeps what could not be read, and its faults tell of it. */
function readable(block: Block): Block {
  const { id, block: type, attrs, inputs } = block as Record<string, unknown>;
  const hasAttrs = typeof attrs === "string" || isObject(attrs), hasInputs = isObject(inputs);
  if (typeof id === "string" && typeof type === "string" && (hasAttrs || attrs === undefined) && (hasInputs || inputs === undefined)) return block;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return { ...block, id: text(id), block: text(type), attrs: hasAttrs ? block.attrs : undefined, inputs: hasInputs ? block.inputs : undefined };
}

/**
 * The page as the server last said it, normalised: blocks by id, wires by their input, with subscriptions by block. It is changed by
 * patches alone; positions may be ahead of the server while something is dragged (`drag`).
 */
export class PageModel {
  readonly blocks = new Map<string, Block>();
  readonly types = new Map<string, PortType>();
  diagnostics: Diagnostic[] = [];
  keys: Record<string, unknown> = {};
  readonly events = new Emitter<Key>();

  private readonly into = new Map<string, WireInfo[]>();
  private readonly outOf = new Map<string, Map<string, Set<string>>>();
  private readonly stored = new Map<string, Point>();
  private readonly auto = new Map<string, Point>();
  private readonly dragged = new Map<string, Point>();
  private readonly shapes = new Map<string, BlockShape>();
  private readonly faults = new Map<string, Diagnostic[]>();
  private readonly outputsKnown = new Map<string, Set<string>>();
  private readonly versions = new Map<string, number>();
  private readonly followers = new Set<(change: ModelChange) => void>();

  constructor(readonly schema: SchemaIndex) {}

  /** Calls `follower` with every change, before the subscriptions by key. */
  follow(follower: (change: ModelChange) => void): () => void {
    this.followers.add(follower);
    return () => this.followers.delete(follower);
  }

  /** Counts what is different about a block: its content, types at its ports, faults. */
  version(id: string): number {
    return this.versions.get(id) ?? 0;
  }

  private touch(id: string): void {
    this.versions.set(id, this.version(id) + 1);
    this.events.emit(`block:${id}`);
  }

  // ---- reading ---------------------------------------------------------------------------------------------------------

  get ids(): string[] {
    return [...this.blocks.keys()];
  }

  wiresInto(id: string): readonly WireInfo[] {
    return this.into.get(id) ?? [];
  }

  /** The inputs that read an output of the block, by the output's local name. */
  readersOf(id: string): ReadonlyMap<string, ReadonlySet<string>> {
    return this.outOf.get(id) ?? new Map();
  }

  *wires(): Iterable<WireInfo> {
    for (const list of this.into.values()) yield* list;
  }

  get wireCount(): number {
    let count = 0;
    for (const list of this.into.values()) count += list.length;
    return count;
  }

  wireAt(to: string): WireInfo | undefined {
    return this.into.get(parsePort(to).block)?.find((wire) => wire.to === to);
  }

  /** What is written at an input: a wire, a value, a list, or nothing. */
  inputAt(to: string): InputValue | undefined {
    const { block, port, index } = parsePort(to);
    const value = this.blocks.get(block)?.inputs?.[port];
    if (index === undefined) return value;
    return Array.isArray(value) ? value[index] : index === 0 ? value : undefined;
  }

  /** Where a wire into a list is to go: its first one begins a list, as pages are written by hand; others are appended by the engine. */
  endOf(to: string): string {
    const { block: id, port, index } = parsePort(to);
    const block = this.blocks.get(id);
    const schema = block && index === undefined ? this.schema.get(block.block)?.inputs.find((p) => p.port === port) : undefined;
    return schema && isList(schema) && (block?.inputs?.[port] ?? null) === null ? `${to}[0]` : to;
  }

  /** What an input has; of a list that a page gives as its only element: the list. */
  private listed(block: Block, port: string, value: InputValue): InputValue {
    const schema = Array.isArray(value) ? undefined : this.schema.get(block.block)?.inputs.find((p) => p.port === port);
    return schema && isList(schema) && value !== null ? [value] as InputValue : value;
  }

  position(id: string): Point {
    return this.dragged.get(id) ?? this.stored.get(id) ?? this.auto.get(id) ?? [0, 0];
  }

  /** Whether the page itself says where the block stands. */
  isPlaced(id: string): boolean {
    return this.stored.has(id);
  }

  /** Whether it is or was shown somewhere: a block that comes back, as by undo, goes there again. */
  hasPosition(id: string): boolean {
    return this.stored.has(id) || this.auto.has(id);
  }

  get placedCount(): number {
    return this.stored.size;
  }

  shape(id: string): BlockShape {
    let shape = this.shapes.get(id);
    if (!shape) {
      const block = this.blocks.get(id) ?? { id, block: "?" };
      shape = blockShape(block, this.schema.get(block.block), this.outputsOf(id));
      this.shapes.set(id, shape);
    }
    return shape;
  }

  /** The part of the page that blocks take; of all where none are named. Null where there are none. */
  bounds(ids: Iterable<string> = this.blocks.keys()): Rect | null {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const id of ids) {
      if (!this.blocks.has(id)) continue;
      const [x, y] = this.position(id);
      const { width, height } = this.shape(id);
      left = Math.min(left, x);
      top = Math.min(top, y);
      right = Math.max(right, x + width);
      bottom = Math.max(bottom, y + height);
    }
    return left > right ? null : { x: left, y: top, width: right - left, height: bottom - top };
  }

  faultsOf(id: string): readonly Diagnostic[] {
    return this.faults.get(id) ?? none;
  }

  get errorCount(): number {
    return this.diagnostics.filter((d) => d.severity === "error").length;
  }

  /** Names of outputs that are known to be there: typed, or wired from. */
  private outputsOf(id: string): ReadonlySet<string> {
    const names = new Set(this.outputsKnown.get(id));
    for (const name of this.readersOf(id).keys()) names.add(name);
    return names;
  }

  // ---- changing --------------------------------------------------------------------------------------------------------

  /** Takes a whole page in place of what is there. */
  load(patch: PagePatch): void {
    for (const map of [this.blocks, this.types, this.into, this.outOf, this.stored, this.auto, this.dragged, this.shapes, this.faults, this.outputsKnown]) map.clear();
    this.keys = patch.keys ?? {};
    for (const block of patch.blocks ?? []) this.put(readable(block));
    for (const [name, type] of Object.entries(patch.types ?? {})) if (type) this.putType(name, type);
    for (const [id, point] of Object.entries(patch.layout ?? {})) if (point) this.stored.set(id, point);
    this.setDiagnostics(patch.diagnostics ?? []);
    for (const id of this.blocks.keys()) this.versions.set(id, this.version(id) + 1);
    this.tell({ reset: true, added: this.ids, removed: [], changed: [], moved: [], keys: Object.keys(this.keys) });
    this.events.emitAll();
  }

  /** Takes what a change says. */
  apply(patch: PagePatch): void {
    const change: ModelChange = { added: [], removed: [], changed: [], moved: [], keys: [] };
    const touched = new Set<string>();
    for (const id of patch.removed ?? []) if (this.drop(id, touched)) change.removed.push(id);
    for (const block of (patch.blocks ?? []).map(readable)) {
      (this.blocks.has(block.id) ? change.changed : change.added).push(block.id);
      this.put(block, touched);
    }
    if (patch.layoutAll) for (const id of [...this.stored.keys()]) if (this.place(id, null)) change.moved.push(id);
    for (const [id, point] of Object.entries(patch.layout ?? {})) if (this.place(id, point)) change.moved.push(id);
    const readers = new Set<string>();
    for (const [name, type] of Object.entries(patch.types ?? {})) {
      const id = this.setType(name, type);
      // only elements of list outputs change a block's shape
      (name.endsWith("]") ? touched : readers).add(id);
      for (const to of this.readersOf(id).get(name.slice(id.length + 1)) ?? []) readers.add(parsePort(to).block);
    }
    if (patch.keys) {
      change.keys = Object.keys(patch.keys);
      this.keys = { ...this.keys, ...patch.keys };
      for (const [key, value] of Object.entries(patch.keys)) if (value === null || value === undefined) delete this.keys[key];
    }
    if (patch.order) this.reorder(patch.order);
    const known = new Set([...change.added, ...change.changed]);
    for (const id of touched) if (this.blocks.has(id)) this.reshape(id, change, known);
    const before = new Set(this.faults.keys());
    if (patch.diagnostics) this.setDiagnostics(patch.diagnostics);
    this.tell(change);
    const faulty = patch.diagnostics ? [...before, ...this.faults.keys()] : [];
    for (const id of new Set([...change.changed, ...change.added, ...touched, ...readers, ...faulty])) this.touch(id);
    if (change.added.length || change.removed.length || change.changed.length) this.events.emit("structure");
    if (patch.types) this.events.emit("types");
    if (change.keys.length) this.events.emit("keys");
    if (patch.diagnostics) this.events.emit("diagnostics");
  }

  /** What takes the patch back, were it applied now; with the types at blocks that it removes. */
  inverse(patch: PagePatch): PagePatch {
    const before = new Map<string, Block>();
    const added = new Set<string>();
    for (const id of [...(patch.removed ?? []), ...(patch.blocks ?? []).map((block) => block.id)]) {
      const block = this.blocks.get(id);
      if (block) before.set(id, block);
      else added.add(id);
    }
    const gone = new Set((patch.removed ?? []).filter((id) => this.blocks.has(id)));
    const types = gone.size ? [...this.types].filter(([name]) => gone.has(parsePort(name).block)) : [];
    const places = patch.layoutAll ? [...this.stored.keys()] : [...Object.keys(patch.layout ?? {}), ...gone].filter((id) => !added.has(id));
    const keys = Object.keys(patch.keys ?? {}).map((key) => [key, this.keys[key] ?? null]);
    return {
      blocks: [...before.values()], removed: [...added], order: gone.size || patch.order ? this.ids : undefined,
      layout: Object.fromEntries(places.map((id) => [id, this.stored.get(id) ?? null])), layoutAll: patch.layoutAll,
      types: types.length ? Object.fromEntries(types) : undefined, keys: keys.length ? (Object.fromEntries(keys) as Record<string, unknown>) : undefined,
    };
  }

  /** Shows blocks elsewhere until the server has confirmed it, or null: where they were. */
  drag(positions: Iterable<[string, Point | null]>): void {
    const moved: string[] = [];
    for (const [id, point] of positions) {
      if (point) this.dragged.set(id, point);
      else this.dragged.delete(id);
      moved.push(id);
    }
    this.tell({ added: [], removed: [], changed: [], moved, keys: [] });
  }

  /** Places for blocks that the page does not place. They are not part of the page until something is moved. */
  setAuto(layout: Record<string, Point>): void {
    for (const [id, point] of Object.entries(layout)) this.auto.set(id, point);
    this.tell({ added: [], removed: [], changed: [], moved: Object.keys(layout), keys: [] });
  }

  private tell(change: ModelChange): void {
    for (const follower of [...this.followers]) follower(change);
  }

  private place(id: string, point: Point | null): boolean {
    this.dragged.delete(id);
    if (point) this.stored.set(id, point);
    else this.stored.delete(id);
    return this.blocks.has(id);
  }

  private reorder(order: string[]): void {
    const all = new Map(this.blocks);
    this.blocks.clear();
    for (const id of order) {
      const block = all.get(id);
      if (block) this.blocks.set(id, block);
      all.delete(id);
    }
    for (const [id, block] of all) this.blocks.set(id, block);
  }

  private put(block: Block, touched?: Set<string>): void {
    this.unwire(block.id, touched);
    this.blocks.set(block.id, block);
    this.shapes.delete(block.id);
    const wires: WireInfo[] = [];
    for (const [port, value] of Object.entries(block.inputs ?? {})) collectWires(block.id, port, this.listed(block, port, value), wires);
    if (wires.length) this.into.set(block.id, wires);
    for (const wire of wires) {
      const name = wire.from.slice(wire.source.length + 1);
      const ports = this.outOf.get(wire.source) ?? new Map<string, Set<string>>();
      const readers = ports.get(name) ?? new Set<string>();
      if (readers.size === 0) touched?.add(wire.source);
      this.outOf.set(wire.source, ports.set(name, readers.add(wire.to)));
    }
    touched?.add(block.id);
  }

  private unwire(id: string, touched?: Set<string>): void {
    for (const wire of this.into.get(id) ?? []) {
      const name = wire.from.slice(wire.source.length + 1);
      const readers = this.outOf.get(wire.source)?.get(name);
      readers?.delete(wire.to);
      if (readers?.size === 0) {
        this.outOf.get(wire.source)?.delete(name);
        touched?.add(wire.source);
      }
    }
    this.into.delete(id);
  }

  private drop(id: string, touched: Set<string>): boolean {
    if (!this.blocks.has(id)) return false;
    this.unwire(id, touched);
    this.blocks.delete(id);
    // what the server says of it (faults, outputs) goes when the server says so: the block may come back at once
    for (const map of [this.stored, this.dragged, this.shapes]) map.delete(id);
    touched.delete(id);
    return true;
  }

  private putType(name: string, type: PortType): void {
    this.types.set(name, type);
    const { block } = parsePort(name);
    const local = name.slice(block.length + 1);
    if (!local.endsWith("]")) return;
    const known = this.outputsKnown.get(block) ?? new Set<string>();
    this.outputsKnown.set(block, known.add(local));
  }

  /** Returns the block whose port it is. */
  private setType(name: string, type: PortType | null): string {
    const { block } = parsePort(name);
    if (type) this.putType(name, type);
    else {
      this.types.delete(name);
      this.outputsKnown.get(block)?.delete(name.slice(block.length + 1));
    }
    return block;
  }

  /** Computes the shape of a block again; where it is another, the block counts as changed. */
  private reshape(id: string, change: ModelChange, known: ReadonlySet<string>): void {
    const before = this.shapes.get(id);
    this.shapes.delete(id);
    if (known.has(id)) return;
    const after = this.shape(id);
    if (before && before.height === after.height && before.width === after.width && before.rows.length === after.rows.length) {
      this.shapes.set(id, before);
    } else {
      change.changed.push(id);
    }
  }

  private setDiagnostics(list: Diagnostic[]): void {
    this.diagnostics = list;
    this.faults.clear();
    for (const finding of list) {
      if (!finding.block) continue;
      const own = this.faults.get(finding.block);
      if (own) own.push(finding);
      else this.faults.set(finding.block, [finding]);
    }
  }
}

const none: readonly Diagnostic[] = [];

function collectWires(id: string, port: string, value: InputValue, into: WireInfo[], index?: number): void {
  if (typeof value === "string") {
    const to = index === undefined ? `${id}.${port}` : `${id}.${port}[${index}]`;
    into.push({ to, from: value, source: parsePort(value).block, target: id });
  } else if (Array.isArray(value)) {
    value.forEach((item, k) => collectWires(id, port, item, into, k));
  }
}
