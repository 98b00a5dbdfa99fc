/** Points of trends in typed arrays, kept outside of React: samples come faster than the screen is drawn. */

/** What the horizontal axis counts: steps since the run began, steps since the page was opened, or seconds since the run began. */
export type TrendAxis = "step" | "run" | "time";

/** Points of one series in a ring: the oldest go when it is full. Memory grows with the points. */
export class Ring {
  private runs: Float64Array;
  private times: Float64Array;
  private values: Float64Array;
  private begin = 0;
  private size = 0;
  /** Number of the first step. */
  private origin = 0;

  constructor(readonly capacity: number) {
    const room = Math.min(capacity, 1024);
    this.runs = new Float64Array(room);
    this.times = new Float64Array(room);
    this.values = new Float64Array(room);
  }

  get length(): number {
    return this.size;
  }

  push(run: number, seconds: number, value: number): void {
    if (this.size === 0) this.origin = run;
    const room = this.runs.length;
    if (this.size === room && room < this.capacity) this.grow(Math.min(this.capacity, room * 2));
    const at = (this.begin + this.size) % this.runs.length;
    this.runs[at] = run;
    this.times[at] = seconds;
    this.values[at] = value;
    if (this.size < this.runs.length) ++this.size;
    else this.begin = (this.begin + 1) % this.runs.length;
  }

  /** Called only while nothing was dropped yet, so that the points begin at 0. */
  private grow(room: number): void {
    const larger = (points: Float64Array): Float64Array => {
      const more = new Float64Array(room);
      more.set(points);
      return more;
    };
    this.runs = larger(this.runs);
    this.times = larger(this.times);
    this.values = larger(this.values);
  }

  clear(): void {
    this.begin = this.size = 0;
  }

  x(i: number, axis: TrendAxis): number {
    const at = (this.begin + i) % this.runs.length;
    if (axis === "time") return this.times[at]!;
    return axis === "run" ? this.runs[at]! : this.runs[at]! - this.origin + 1;
  }

  y(i: number): number {
    return this.values[(this.begin + i) % this.values.length]!;
  }

  /** The first point at or right of `x`. Points come in the order of their axis. */
  search(x: number, axis: TrendAxis): number {
    let low = 0, high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.x(middle, axis) < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A value over one run of the page. */
export interface TrendSeries {
  readonly id: string;
  /** "loss.output". */
  readonly name: string;
  /** "run 3", to tell runs apart. */
  readonly run: string;
  /** Place of its name among all, which chooses the colour. */
  readonly colour: number;
  /** How many runs ago: 0 is the latest. */
  readonly age: number;
  readonly hidden: boolean;
  readonly points: Ring;
}

const MOST_RUNS = 6;

/** Series of a plot by name and run. Listeners hear of points at most once a frame, of everything else at once. */
export class TrendStore {
  private list: readonly TrendSeries[] = [];
  private names: string[] = [];
  private runs: string[] = ["" ];
  private readonly listeners = new Set<() => void>();
  private frame: unknown;
  /** Counts changes of points. */
  version = 0;

  constructor(private readonly capacity = 100_000) {}

  readonly series = (): readonly TrendSeries[] => this.list;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Values that come from now on belong to this run; those of earlier runs stay for comparison, the oldest go. */
  startRun(label: string): void {
    if (this.runs[0] === label) return;
    if (this.list.every((series) => series.run !== this.runs[0])) this.runs.shift(); // nothing came of it
    this.runs.unshift(label);
    this.runs.length = Math.min(this.runs.length, MOST_RUNS);
    this.setList(this.list.filter((series) => this.runs.includes(series.run)).map((series) => ({ ...series, age: this.runs.indexOf(series.run) })));
  }

  /** Adds names to the plot, before there are values. */
  setNames(names: readonly string[]): void {
    if (names.join("\n") === this.names.join("\n")) return;
    this.names = [...names];
    this.setList(this.list.filter((series) => names.includes(series.name)).map((series) => ({ ...series, colour: names.indexOf(series.name) })));
  }

  rename(renamed: (name: string) => string): void {
    this.names = this.names.map(renamed);
    this.setList(this.list.map((series) => ({ ...series, name: renamed(series.name), id: `${renamed(series.name)}\n${series.run}` })));
  }

  /** The value `name` had in step number `run` of its session, `seconds` after the start. */
  push(name: string, run: number, seconds: number, value: number): void {
    const label = this.runs[0]!;
    let series = this.list.find((each) => each.name === name && each.run === label);
    if (!series) {
      if (!this.names.includes(name)) this.names.push(name);
      series = { id: `${name}\n${label}`, name, run: label, colour: this.names.indexOf(name), age: 0, hidden: false, points: new Ring(this.capacity) };
      this.setList([...this.list, series].sort((a, b) => a.colour - b.colour || a.age - b.age));
    }
    const { points } = series;
    // A page that was run from its start again counts from 1 again.
    if (points.length > 0 && run < points.x(points.length - 1, "run")) points.clear();
    points.push(run, seconds, value);
    this.touch();
  }

  setHidden(id: string, hidden: boolean): void {
    this.setList(this.list.map((series) => (series.id === id ? { ...series, hidden } : series)));
  }

  /** Drops all points, and earlier runs. */
  clear(): void {
    this.setList([]);
  }

  private setList(list: readonly TrendSeries[]): void {
    this.list = list;
    this.version += 1;
    this.tell();
  }

  private touch(): void {
    this.version += 1;
    if (this.frame !== undefined) return;
    this.frame = requestAnimationFrame(() => { this.frame = undefined; this.tell(); });
  }

  private tell(): void {
    this.listeners.forEach((listener) => listener());
  }
}
