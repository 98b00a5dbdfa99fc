import { renamedPort, type PageApi, type Sample, type SampleOptions, type TensorData } from "@weft/client";
import { TrendStore } from "../plots";
import { Cell } from "./emitter";

/** The values of a page that are plotted. They are followed whether the plots are in sight or not, so that nothing is missing. */
export class PlotModel {
  readonly names = new Cell<readonly string[]>([]);
  readonly store = new TrendStore();
  /** By name, which changes when the block is renamed. */
  private readonly followed = new Map<string, { name: string; end: () => void }>();
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
    for (const [name, { end }] of this.followed) {
      if (names.includes(name)) continue;
      end();
      this.followed.delete(name);
    }
    for (const name of names) {
      if (this.followed.has(name)) continue;
      const entry = { name, end: () => {} };
      entry.end = this.api.followValue(name, follow, (sample) => this.take(entry.name, sample));
      this.followed.set(name, entry);
    }
    this.names.set(names);
    this.store.setNames(names);
  }

  /** The values of a block that is renamed keep their points. */
  rename(from: string, to: string): void {
    const now = [...this.followed.values()];
    if (!now.some(({ name }) => renamedPort(name, from, to) !== name)) return;
    this.followed.clear();
    for (const entry of now) {
      const { name } = entry;
      entry.name = renamedPort(name, from, to);
      this.followed.set(entry.name, entry);
      const last = this.last.get(name);
      if (last !== undefined && entry.name !== name) this.last.set(entry.name, last);
    }
    this.store.rename((name) => renamedPort(name, from, to));
    this.names.update((names) => names.map((name) => renamedPort(name, from, to)));
  }

  /** A run began: what comes from now on is its. */
  startRun(label: string): void {
    this.started = null;
    this.last.clear();
    if (this.names.get().length) this.store.startRun(label);
  }

  dispose(): void {
    for (const { end } of this.followed.values()) end();
    this.followed.clear();
  }

  private take(name: string, sample: Sample): void {
    const data = sample.value?.data;
    if (!data || data.length === 0 || typeof data[0] === "string") return;
    const begin = (this.started ??= sample.t_ms);
    const now = (sample.t_ms - begin) / 1000;
    const runs = sample.batch?.runs ?? [sample.generation ?? sample.run];
    const before = Math.min(this.last.get(name) ?? 0, now);
    const complex = /COMPLEX/.test(sample.value?.dtype ?? "");
    const each = Math.floor(data.length / runs.length);
    // of several samples only the time of the last is known
    runs.forEach((run, k) => this.store.push(name, run, before + ((now - before) * (k + 1)) / runs.length, mean(data, k * each, each, complex)));
    this.last.set(name, now);
  }
}

/** Every run counts: a training of hundreds of runs may be over before the next frame. */
const follow: SampleOptions = { reduction: "each", interval_ms: 0, max_bytes: 1024, pending: 8192, batch: true };

/** Elements as one number: that of a scalar, the mean of others; of complex ones, which are pairs, their magnitudes. */
function mean(data: TensorData, begin: number, count: number, complex: boolean): number {
  const width = complex ? 2 : 1;
  let sum = 0;
  for (let k = begin; k < begin + count; k += width) sum += complex ? Math.hypot(Number(data[k]), Number(data[k + 1])) : Number(data[k]);
  return (sum * width) / count;
}
