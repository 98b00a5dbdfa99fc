import type { PageApi, Sample, SampleOptions, TensorData } from "@weft/client";
import { TrendStore } from "../plots";
import { Cell } from "./emitter";

/** The values of a page that are plotted. They are followed whether the plots are in sight or not, so that nothing is missing. */
export class PlotModel {
  readonly names = new Cell<readonly string[]>([]);
  readonly store = new TrendStore();
  private readonly ends = new Map<string, () => void>();
  private started: number | null = null;
  private readonly last = new Map<string, number>();

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
      if (!this.ends.has(name)) this.ends.set(name, this.api.followValue(name, follow, (sample) => this.take(name, sample)));
    }
    this.names.set(names);
    this.store.setNames(names);
  }

  /** A run began: what comes from now on is its. */
  startRun(label: string): void {
    this.started = null;
    this.last.clear();
    if (this.names.get().length) this.store.startRun(label);
  }

  dispose(): void {
    for (const end of this.ends.values()) end();
    this.ends.clear();
  }

  private take(name: string, sample: Sample): void {
    const data = sample.value?.data;
    if (!data || data.length === 0 || typeof data[0] === "string") return;
    const begin = (this.started ??= sample.t_ms);
    const now = (sample.t_ms - begin) / 1000;
    const runs = sample.batch?.runs ?? [sample.generation ?? sample.run];
    const before = Math.min(this.last.get(name) ?? 0, now);
    const each = Math.floor(data.length / runs.length);
    // of several samples only the time of the last is known
    runs.forEach((run, k) => this.store.push(name, run, before + ((now - before) * (k + 1)) / runs.length, mean(data, k * each, each)));
    this.last.set(name, now);
  }
}

/** Every run counts: a training of hundreds of runs may be over before the next frame. */
const follow: SampleOptions = { reduction: "each", interval_ms: 0, max_bytes: 1024, pending: 8192, batch: true };

/** Elements as one number: that of a scalar, the mean of others. */
function mean(data: TensorData, begin: number, count: number): number {
  let sum = 0;
  for (let k = begin; k < begin + count; k++) sum += Number(data[k]);
  return sum / count;
}
