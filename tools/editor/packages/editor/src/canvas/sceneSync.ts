import type { BlockState } from "@weft/client";
import { colorValue, framesOf } from "../model/decor";
import { typeFamily } from "../model/names";
import type { PageEditor } from "../model/pageEditor";
import { Scene, type SceneBlock, type SceneWire } from "../overview";

/** Keeps the overview's picture of a page up to date. Moves and states go in one by one; what changes the structure, once in a while. */
export class SceneSync {
  readonly scene = new Scene();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private idle: number | undefined;
  private readonly ends: (() => void)[];

  constructor(private readonly page: PageEditor) {
    this.ends = [
      page.model.follow((change) => {
        const structural = change.reset || change.added.length || change.removed.length || change.changed.length || change.keys.includes("frames");
        if (structural || change.moved.length > 500) this.later(change.reset ? 0 : 120);
        else this.move(change.moved);
      }),
      page.model.events.on("diagnostics", () => this.faults()),
      page.runs.onStates((changes) => this.scene.setStates(changes)),
      page.selection.subscribe(() => this.scene.setSelection(page.selection.get())),
      page.runs.timings.subscribe(() => this.heat()),
      page.runs.heat.subscribe(() => this.heat()),
    ];
    this.rebuild();
  }

  dispose(): void {
    this.cancel();
    for (const end of this.ends) end();
  }

  private cancel(): void {
    clearTimeout(this.timer);
    if (this.idle !== undefined) cancelIdleCallback(this.idle);
    this.idle = undefined;
  }

  /** Once the edits of a moment are done; of a large page, once there is nothing else to do. */
  private later(ms: number): void {
    this.cancel();
    const large = ms > 0 && this.page.model.blocks.size > 1000 && typeof requestIdleCallback === "function";
    this.timer = setTimeout(() => {
      if (large) this.idle = requestIdleCallback(() => this.rebuild(), { timeout: 2000 });
      else this.rebuild();
    }, large ? ms * 5 : ms);
  }

  private rebuild(): void {
    const { model, runs, selection } = this.page;
    const blocks: SceneBlock[] = model.ids.map((id) => {
      const [x, y] = model.position(id);
      const { width, height } = model.shape(id);
      const faults = model.faultsOf(id);
      const fault = faults.some((f) => f.severity === "error") ? "error" as const : faults.length ? "warning" as const : undefined;
      return { id, x, y, width, height, fault, label: model.blocks.get(id)?.block, category: model.schema.get(model.blocks.get(id)?.block ?? "")?.category ?? "other" };
    });
    this.scene.setBlocks(blocks);
    this.scene.setWires(this.wires());
    this.frames();
    this.scene.setStates([...runs.states] as [string, BlockState][]);
    this.scene.setSelection(selection.get());
  }

  /** Frames follow their members. */
  private move(ids: readonly string[]): void {
    for (const id of ids) this.scene.move(id, ...this.page.model.position(id));
    if (ids.length && framesOf(this.page.model.keys).length) this.frames();
  }

  private frames(): void {
    this.scene.setFrames(framesOf(this.page.model.keys).flatMap((frame) => {
      const rect = this.page.flow.frameRect(frame);
      return rect ? [{ ...rect, title: frame.title, color: colorValue(frame.color) }] : [];
    }));
  }

  private wires(): SceneWire[] {
    const { model } = this.page;
    const wires: SceneWire[] = [];
    const plain = model.blocks.size > 1000; // at the zoom that shows so many blocks ports are less than a pixel apart
    for (const { from, to, source, target } of model.wires()) {
      if (!model.blocks.has(source)) continue;
      const family = from.endsWith(".operation") ? "operation" : typeFamily(model.types.get(from)?.dtype);
      if (plain) {
        wires.push({ from: source, to: target, type: family });
        continue;
      }
      const fromY = model.shape(source).rows.find((row) => row.side === "out" && row.name === from.slice(source.length + 1))?.y;
      const toY = model.shape(target).rows.find((row) => row.side === "in" && row.name === to.slice(target.length + 1))?.y;
      wires.push({ from: source, to: target, fromY, toY, type: family });
    }
    return wires;
  }

  private faults(): void {
    const worst = new Map<string, "error" | "warning">();
    for (const { block, severity } of this.page.model.diagnostics) {
      if (!block) continue;
      if (severity === "error") worst.set(block, "error");
      else if (severity === "warning" && !worst.has(block)) worst.set(block, "warning");
    }
    this.scene.setFaults(worst);
  }

  private heat(): void {
    const timings = this.page.runs.heat.get() ? this.page.runs.timings.get() : null;
    this.scene.setHeat(timings ? new Map(Object.entries(timings.blocks).map(([id, { share }]) => [id, share])) : undefined);
  }
}
