import type { BlockState, Event, PageApi, Run, RunRequest, Summary, Timings, ValueSummary } from "@weft/client";
import { Cell, Emitter } from "./emitter";

type Key = `block:${string}` | `value:${string}`;

/**
 * Runs of a page as the server tells them: the run, the state of each block, and the values that someone looks at. It is apart from the
 * document: a badge that changes wakes one block.
 */
export class RunModel {
  readonly run = new Cell<Run | null>(null);
  /** A run was asked for, and the server has not said that it began. */
  readonly starting = new Cell<boolean>(false);
  readonly fraction = new Cell<number | null>(null);
  readonly rate = new Cell<number>(0);
  readonly timings = new Cell<Timings | null>(null);
  readonly heat = new Cell<boolean>(false);
  readonly events = new Emitter<Key>();
  /** Counts changes of states, for what draws all of them at once. */
  readonly tick = new Cell<number>(0);
  readonly states = new Map<string, BlockState>();
  private readonly followers = new Set<(changes: [string, BlockState][]) => void>();
  private fresh: [string, BlockState][] = [];
  private readonly values = new Map<string, ValueSummary>();
  private wanted: string[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly api: PageApi) {}

  /** Calls `follower` with the states that changed, together for all of a message. */
  onStates(follower: (changes: [string, BlockState][]) => void): () => void {
    this.followers.add(follower);
    return () => this.followers.delete(follower);
  }

  state(id: string): BlockState {
    return this.states.get(id) ?? "idle";
  }

  /** The value in short; undefined where there is none. */
  value(name: string): ValueSummary | undefined {
    return this.values.get(name);
  }

  get active(): boolean {
    const run = this.run.get();
    return this.starting.get() || (run !== null && run.state !== "ended");
  }

  /** Where it is paused, if it is. */
  get pausedAt(): string | undefined {
    return this.run.get()?.sessions.find((s) => s.pause)?.pause?.block;
  }

  /** Calls `listener` when the value is another, and sees to it that the server tells. */
  watch(name: string, listener: () => void): () => void {
    const end = this.events.on(`value:${name}`, listener);
    this.schedule();
    return () => {
      end();
      this.schedule();
    };
  }

  async start(request: RunRequest): Promise<void> {
    this.starting.set(true);
    try {
      this.answered(await this.api.run(request));
    } finally {
      this.starting.set(false);
    }
  }

  /** The answer to a call: events may have told more of this run already. */
  answered(run: Run | null): void {
    if (run && this.run.get()?.id !== run.id) this.setRun(run);
  }

  async act(action: "pause" | "resume" | "stop" | "cancel" | "step", body: Record<string, unknown> = {}): Promise<void> {
    const run = this.run.get();
    if (run) await this.api.act(run.id, action, body);
  }

  setHeat(on: boolean): void {
    this.heat.set(on);
    this.follow();
    if (on) this.api.timings().then(this.timings.set, () => {});
  }

  /** Asks for progress; called when the page is shown and after each reconnection that lost the subscriptions. */
  follow(): void {
    this.api.followRuns({ interval_ms: 100, blocks: true, timings: this.heat.get() });
  }

  receive(event: Event): void {
    switch (event.type) {
      case "run.started":
        this.begin(event.run);
        break;
      case "run.state":
      case "run.ended":
        this.setRun(event.run);
        if (event.type === "run.ended") this.finish(event.run);
        else void this.refresh();
        break;
      case "run.tick":
        this.ticked(event);
        break;
      case "values":
        this.take(event.values);
        break;
      case "values.reset":
        this.forget();
        break;
      case "run.error":
        if (event.error.block) this.mark(event.error.block, "failed");
        break;
      default:
    }
  }

  /** Reads the values in sight again. */
  async refresh(): Promise<void> {
    if (!this.wanted.length) return;
    try {
      this.take(await this.api.summariesOf(this.wanted));
    } catch {
      // not connected, or no run yet: what is shown stays
    }
  }

  setRun(run: Run | null): void {
    const before = this.pausedAt;
    this.run.set(run);
    const now = this.pausedAt;
    if (before !== now) {
      if (before && this.states.get(before) === "paused") this.mark(before, "idle");
      if (now) this.mark(now, "paused");
    }
    if (run?.error?.block) this.mark(run.error.block, "failed");
  }

  private begin(run: Run): void {
    for (const id of [...this.states.keys()]) this.mark(id, "idle");
    this.fraction.set(null);
    this.setRun(run);
    this.starting.set(false);
  }

  private finish(run: Run): void {
    this.fraction.set(null);
    this.rate.set(0);
    for (const [id, state] of this.states) if (state === "running" || state === "paused") this.mark(id, run.outcome === "ok" ? "done" : "idle");
    if (run.error?.block) this.mark(run.error.block, "failed");
    void this.refresh();
    if (this.heat.get()) this.api.timings().then(this.timings.set, () => {});
  }

  private ticked(event: Event & { type: "run.tick" }): void {
    this.setRun(event.run);
    this.fraction.set(event.fraction);
    this.rate.set(event.runs_per_second);
    if (event.timings) this.timings.set(event.timings);
    const paused = this.pausedAt;
    for (const [id, { progress }] of Object.entries(event.blocks ?? {})) if (id !== paused) this.mark(id, progressState[progress] ?? "idle");
  }

  mark(id: string, state: BlockState): void {
    if (this.states.get(id) === state) return;
    if (state === "idle") this.states.delete(id);
    else this.states.set(id, state);
    this.events.emit(`block:${id}`);
    if (this.fresh.push([id, state]) === 1) queueMicrotask(() => this.tell());
  }

  private tell(): void {
    const changes = this.fresh;
    this.fresh = [];
    for (const follower of [...this.followers]) follower(changes);
    this.tick.update((n) => n + 1);
  }

  private take(values: Record<string, Summary>): void {
    for (const [name, value] of Object.entries(values)) {
      if ("error" in value) this.values.delete(name);
      else this.values.set(name, value);
      this.events.emit(`value:${name}`);
    }
  }

  private forget(): void {
    const names = [...this.values.keys()];
    this.values.clear();
    for (const name of names) this.events.emit(`value:${name}`);
  }

  /** Tells the server what is in sight, once for all that comes and goes in a moment. */
  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const names = this.events.keys().filter((key) => key.startsWith("value:")).map((key) => key.slice(6)).sort();
      if (names.length === this.wanted.length && names.every((name, k) => name === this.wanted[k])) return;
      const before = new Set(this.wanted);
      this.wanted = names;
      this.api.followSummaries(names.slice(0, 2000));
      const fresh = names.filter((name) => !before.has(name));
      if (fresh.length) this.api.summariesOf(fresh).then((values) => this.take(values), () => {});
    }, 80);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

const progressState: Record<string, BlockState> = {
  began: "running", ended: "done", skipped: "skipped", failed: "failed", cancelled: "idle",
};
