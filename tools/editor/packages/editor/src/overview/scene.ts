/** What the overview draws: thousands of blocks and wires in typed arrays, with an index to find the block at a point. */

export const STATES = ["idle", "waiting", "running", "done", "skipped", "failed", "paused", "stale"] as const;
export type SceneState = (typeof STATES)[number];

/** A block as the overview knows it; coordinates are the page's. */
export interface SceneBlock {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** As the schema has it; chooses the colour. */
  readonly category: string;
  /** Shown below the id where there is room, such as the block type. */
  readonly label?: string;
  readonly fault?: "error" | "warning";
}

/** A wire between two blocks. `fromY` and `toY` are distances of the ports from the blocks' upper edges; the middle where left out. */
export interface SceneWire {
  readonly from: string;
  readonly to: string;
  readonly fromY?: number;
  readonly toY?: number;
  /** Name of its colour: "float" takes --w-type-float. */
  readonly type: string;
}

/** A coloured area behind blocks. */
export interface SceneFrame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title?: string;
  readonly color?: string;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const CELL = 512;

/** Places of names in a list, made as they are asked for. */
class Names {
  readonly list: string[] = [];
  private readonly index = new Map<string, number>();
  of(name: string): number {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.list.push(name) - 1;
      this.index.set(name, at);
    }
    return at;
  }
}

/** Blocks, wires, frames, and what is known of a run. Tells its listeners whether what stands still or only states changed. */
export class Scene {
  ids: string[] = [];
  labels: string[] = [];
  /** x, y, width, height of each block. */
  boxes = new Float32Array(0);
  category = new Uint8Array(0);
  /** 0 none, 1 warning, 2 error. */
  fault = new Uint8Array(0);
  state = new Uint8Array(0);
  selected = new Uint8Array(0);
  /** 0 to 1, negative where not known. Undefined: no heat map. */
  heat: Float32Array | undefined;
  /** Blocks of each wire: from, to. */
  ends = new Uint32Array(0);
  /** y of both ports from their blocks' upper edges. */
  ports = new Float32Array(0);
  wireType = new Uint8Array(0);
  frames: readonly SceneFrame[] = [];
  readonly categories = new Names();
  readonly types = new Names();
  /** Counts changes of what stands still, and of states. */
  layoutVersion = 0;
  stateVersion = 0;

  private index = new Map<string, number>();
  private heatById: ReadonlyMap<string, number> | undefined;
  private grid: Grid | undefined;
  private readonly listeners = new Set<() => void>();

  get count(): number {
    return this.ids.length;
  }

  /** Replaces all blocks. States, heat and selection of those that stay are kept. Wires are dropped: set them next. */
  setBlocks(blocks: readonly SceneBlock[]): void {
    const { index: old, state, selected } = this;
    const count = blocks.length;
    this.index = new Map(blocks.map((block, i) => [block.id, i]));
    this.ids = blocks.map((block) => block.id);
    this.labels = blocks.map((block) => block.label ?? "");
    this.boxes = new Float32Array(count * 4);
    this.category = new Uint8Array(count);
    this.fault = new Uint8Array(count);
    this.state = new Uint8Array(count);
    this.selected = new Uint8Array(count);
    blocks.forEach((block, i) => {
      this.boxes.set([block.x, block.y, block.width, block.height], i * 4);
      this.category[i] = this.categories.of(block.category);
      this.fault[i] = block.fault === "error" ? 2 : block.fault === "warning" ? 1 : 0;
      const before = old.get(block.id);
      if (before === undefined) return;
      this.state[i] = state[before]!;
      this.selected[i] = selected[before]!;
    });
    this.heat = this.heatOf(this.heatById);
    this.ends = new Uint32Array(0);
    this.wireType = new Uint8Array(0);
    this.laidOut();
  }

  /** Replaces all wires; those to blocks that are not there are left out. */
  setWires(wires: readonly SceneWire[]): void {
    const known = wires.filter((wire) => this.index.has(wire.from) && this.index.has(wire.to));
    this.ends = new Uint32Array(known.length * 2);
    this.ports = new Float32Array(known.length * 2);
    this.wireType = new Uint8Array(known.length);
    known.forEach((wire, i) => {
      const from = this.index.get(wire.from)!, to = this.index.get(wire.to)!;
      this.ends.set([from, to], i * 2);
      this.ports.set([wire.fromY ?? this.boxes[from * 4 + 3]! / 2, wire.toY ?? this.boxes[to * 4 + 3]! / 2], i * 2);
      this.wireType[i] = this.types.of(wire.type);
    });
    this.laidOut();
  }

  setFrames(frames: readonly SceneFrame[]): void {
    this.frames = frames;
    this.laidOut();
  }

  /** Moves one block, as while it is dragged. */
  move(id: string, x: number, y: number): void {
    const at = this.index.get(id);
    if (at === undefined) return;
    this.boxes[at * 4] = x;
    this.boxes[at * 4 + 1] = y;
    this.laidOut();
  }

  setStates(states: Iterable<readonly [id: string, state: SceneState]>): void {
    for (const [id, state] of states) {
      const at = this.index.get(id);
      if (at !== undefined) this.state[at] = STATES.indexOf(state);
    }
    this.stated();
  }

  /** Marks the blocks with faults; all others lose their mark. */
  setFaults(faults: Iterable<readonly [id: string, fault: "error" | "warning"]>): void {
    this.fault.fill(0);
    for (const [id, fault] of faults) {
      const at = this.index.get(id);
      if (at !== undefined) this.fault[at] = Math.max(this.fault[at]!, fault === "error" ? 2 : 1);
    }
    this.stated();
  }

  /** Shares of the time from 0 to 1 for the heat map; undefined ends it. */
  setHeat(heat: ReadonlyMap<string, number> | undefined): void {
    this.heatById = heat;
    this.heat = this.heatOf(heat);
    this.stated();
  }

  setSelection(ids: Iterable<string>): void {
    this.selected.fill(0);
    for (const id of ids) {
      const at = this.index.get(id);
      if (at !== undefined) this.selected[at] = 1;
    }
    this.stated();
  }

  /** The block at a point of the page; of several the last. `slack` widens blocks for fingers. */
  hit(x: number, y: number, slack = 0): string | undefined {
    this.grid ??= new Grid(this.boxes);
    const at = this.grid.find(this.boxes, x, y, slack);
    return at < 0 ? undefined : this.ids[at];
  }

  /** Blocks that touch the box, as for a rubber band. */
  within(box: Box): string[] {
    return this.ids.filter((_, i) => {
      const [x, y, width, height] = this.boxes.subarray(i * 4, i * 4 + 4) as unknown as [number, number, number, number];
      return x < box.x + box.width && x + width > box.x && y < box.y + box.height && y + height > box.y;
    });
  }

  boxOf(id: string): Box | undefined {
    const at = this.index.get(id);
    if (at === undefined) return undefined;
    const b = this.boxes;
    return { x: b[at * 4]!, y: b[at * 4 + 1]!, width: b[at * 4 + 2]!, height: b[at * 4 + 3]! };
  }

  /** The box round all blocks and frames; undefined where there are none. */
  bounds(): Box | undefined {
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    const add = (x: number, y: number, width: number, height: number) => {
      left = Math.min(left, x), top = Math.min(top, y), right = Math.max(right, x + width), bottom = Math.max(bottom, y + height);
    };
    for (let i = 0; i < this.boxes.length; i += 4) add(this.boxes[i]!, this.boxes[i + 1]!, this.boxes[i + 2]!, this.boxes[i + 3]!);
    for (const frame of this.frames) add(frame.x, frame.y, frame.width, frame.height);
    return left > right ? undefined : { x: left, y: top, width: right - left, height: bottom - top };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private heatOf(heat: ReadonlyMap<string, number> | undefined): Float32Array | undefined {
    return heat && Float32Array.from(this.ids, (id) => heat.get(id) ?? -1);
  }

  private laidOut(): void {
    this.grid = undefined;
    this.layoutVersion += 1;
    this.stated();
  }

  private stated(): void {
    this.stateVersion += 1;
    this.listeners.forEach((listener) => listener());
  }
}

/** Cells of the page with the blocks that touch each, in one array. */
class Grid {
  private readonly cells = new Map<number, number[]>();

  constructor(boxes: Float32Array) {
    for (let i = 0; i * 4 < boxes.length; ++i) {
      const x = boxes[i * 4]!, y = boxes[i * 4 + 1]!;
      const right = Math.floor((x + boxes[i * 4 + 2]!) / CELL), bottom = Math.floor((y + boxes[i * 4 + 3]!) / CELL);
      for (let cx = Math.floor(x / CELL); cx <= right; ++cx) {
        for (let cy = Math.floor(y / CELL); cy <= bottom; ++cy) {
          const list = this.cells.get(Grid.key(cx, cy));
          if (list) list.push(i);
          else this.cells.set(Grid.key(cx, cy), [i]);
        }
      }
    }
  }

  find(boxes: Float32Array, x: number, y: number, slack: number): number {
    let best = -1;
    const right = Math.floor((x + slack) / CELL), bottom = Math.floor((y + slack) / CELL);
    for (let cx = Math.floor((x - slack) / CELL); cx <= right; ++cx) {
      for (let cy = Math.floor((y - slack) / CELL); cy <= bottom; ++cy) {
        for (const i of this.cells.get(Grid.key(cx, cy)) ?? []) {
          const dx = x - boxes[i * 4]!, dy = y - boxes[i * 4 + 1]!;
          if (dx >= -slack && dy >= -slack && dx <= boxes[i * 4 + 2]! + slack && dy <= boxes[i * 4 + 3]! + slack) best = Math.max(best, i);
        }
      }
    }
    return best;
  }

  private static key(cx: number, cy: number): number {
    return (cx + 0x8000) * 0x10000 + cy + 0x8000;
  }
}
