import type { PageModel, WireInfo } from "../model/page";
import type { Rect } from "../model/geometry";

/** About as wide as a block is at most, and as tall as most are. */
const width = 320;
const height = 200;

/** Which blocks and wires of a page lie in a part of it. A change of a few blocks looks at those and their wires alone. */
export class Sight {
  readonly blocks = new Set<string>();
  /** By the input that a wire leads to. */
  readonly wires = new Map<string, WireInfo>();
  private window: Rect | null = null;

  constructor(private readonly model: PageModel) {}

  /** Looks at the whole page. */
  scan(window: Rect | null): void {
    this.window = window;
    this.blocks.clear();
    this.wires.clear();
    if (!window) return;
    for (const id of this.model.blocks.keys()) if (this.touches(id, window)) this.blocks.add(id);
    for (const wire of this.model.wires()) if (this.sees(wire, window)) this.wires.set(wire.to, wire);
  }

  /** Looks at blocks that were added, changed, moved or removed, and at their wires. */
  update(ids: ReadonlySet<string>): void {
    const window = this.window;
    if (!window) return;
    if (ids.size > 500) return this.scan(window);
    for (const id of ids) {
      if (this.model.blocks.has(id) && this.touches(id, window)) this.blocks.add(id);
      else this.blocks.delete(id);
    }
    for (const [to, wire] of this.wires) if (ids.has(wire.source) || ids.has(wire.target)) this.wires.delete(to);
    for (const id of ids) for (const wire of this.wiresOf(id)) if (this.sees(wire, window)) this.wires.set(wire.to, wire);
  }

  private *wiresOf(id: string): Iterable<WireInfo> {
    if (!this.model.blocks.has(id)) return;
    yield* this.model.wiresInto(id);
    for (const readers of this.model.readersOf(id).values()) {
      for (const to of readers) {
        const wire = this.model.wireAt(to);
        if (wire) yield wire;
      }
    }
  }

  private touches(id: string, window: Rect): boolean {
    const [x, y] = this.model.position(id);
    if (x > window.x + window.width || y > window.y + window.height) return false;
    return x + width > window.x && y + this.model.shape(id).height > window.y;
  }

  private sees(wire: WireInfo, window: Rect): boolean {
    if (!this.model.blocks.has(wire.source) || !this.model.blocks.has(wire.target)) return false;
    if (this.blocks.has(wire.source) || this.blocks.has(wire.target)) return true;
    const [ax, ay] = this.model.position(wire.source);
    const [bx, by] = this.model.position(wire.target);
    return Math.min(ax, bx) < window.x + window.width && Math.max(ax, bx) + width > window.x &&
      Math.min(ay, by) < window.y + window.height && Math.max(ay, by) + height > window.y;
  }
}
