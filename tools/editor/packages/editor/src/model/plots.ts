import type { PageApi, Sample } from "@weft/client";
import { TrendStore } from "../plots";
import { Cell } from "./emitter";

/** The values of a page that are plotted. They are followed whether the plots are in sight or not, so that nothing is missing. */
export class PlotModel {
  readonly names = new Cell<readonly string[]>([]);
  readonly store = new TrendStore();
  private readonly ends = new Map<string, () => void>();
  private started: number | null = null;

  constructor(private readonly api: PageApi) {}

  add(name: string): void {
    this.set([...this.names.get().filter((other) => other !== name), name]);
  }

  remove(name: string): void {
    this.set(this.names.get().filter((other) => other !== name));
  }

  set(names: readonly string[]): void {
    for (const [name, end] of this.ends) {
      if (names.includes(name)) continue;
      end();
      this.ends.delete(name);
    }
    for (const name of names) {
      if (!this.ends.has(name)) this.ends.set(name, this.api.followValue(name, { reduction: "each", interval_ms: 0, max_bytes: 4096 }, (sample) => this.take(name, sample)));
    }
    this.names.set(names);
    this.store.setNames(names);
  }

  /** A run began: what comes from now on is its. */
  startRun(label: string): void {
    this.started = null;
    if (this.names.get().length) this.store.startRun(label);
  }

  dispose(): void {
    for (const end of this.ends.values()) end();
    this.ends.clear();
  }

  private take(name: string, sample: Sample): void {
    const value = meanOf(sample);
    if (value === undefined) return;
    this.started ??= sample.t_ms;
    this.store.push(name, sample.generation ?? sample.run, (sample.t_ms - this.started) / 1000, value);
  }
}

/** A sample as one number: that of a scalar, the mean of others. */
function meanOf(sample: Sample): number | undefined {
  const data = sample.value?.data;
  if (!data || data.length === 0 || typeof data[0] === "string") return undefined;
  let sum = 0;
  for (let k = 0; k < data.length; k++) sum += Number(data[k]);
  return sum / data.length;
}
