import type { WeftClient } from "./client";
import { WeftError } from "./http";
import type {
  Block, Breakpoint, Change, Diagnostic, Edit, EditMode, Event, NewBreakpoint, PageInfo, PageView, Point, Reduction, Run, RunMode,
  RunRequest, Sample, Statistics, Summary, TensorLiteral, Timings, Value, VariableInfo,
} from "./types";

export interface EditOptions {
  mode?: EditMode;
  label?: string;
  ifMatch?: number;
}

export interface SampleOptions {
  session?: string;
  reduction?: Reduction;
  interval_ms?: number;
  every?: number;
  bins?: number;
  max_bytes?: number;
  /** Samples that are kept until they are sent. */
  pending?: number;
  /** Those that are ready together come as one Sample with `batch`. */
  batch?: boolean;
}

interface ValueSubscription {
  name: string;
  options: SampleOptions;
  listener: (sample: Sample) => void;
  sub: number | null;
}

/** The name "ID.port" of a port after its block was renamed. */
export function renamedPort(name: string, from: string, to: string): string {
  return name.slice(0, name.lastIndexOf(".")) === from ? to + name.slice(from.length) : name;
}

/** What the follower of a page hears. */
export interface PageFollower {
  /** A numbered or unnumbered event of the page, in order, none missing. */
  event(event: Event): void;
  /** Events are missing: read the view again. */
  gap(): void;
  /** The server was started anew: the page is not open there any more. */
  restarted(): void;
}

/**
 * A page that the server has open: calls, and events in order. Changes of the document go one after the other, and calls that look at it wait
 * for those that were asked for before: they find what the caller knows. Events with a number come once each; where some are missing, they are asked
 * for again, and where they are no longer kept, the follower hears `gap`.
 */
export class PageApi {
  private seq: number | null = null;
  private follower: PageFollower | null = null;
  private replaying = false;
  private held: Event[] = [];
  private runTopic: { interval_ms: number; blocks: boolean; timings: boolean } | null = null;
  private summaries: { names: string[]; interval_ms: number } | null = null;
  private readonly values = new Set<ValueSubscription>();
  /** The changes of the document that are on their way. */
  private changes: Promise<void> | null = null;

  constructor(private readonly client: WeftClient, readonly id: string) {}

  /** What the server calls this client, as in `by` of changes; null while there is no connection. */
  get clientId(): string | null {
    return this.client.http.clientId;
  }

  private get http() {
    return this.client.http;
  }

  private path(rest = ""): string {
    return `/pages/${encodeURIComponent(this.id)}${rest}`;
  }

  /** A call that looks at the document. */
  private after<T>(call: () => Promise<T>): Promise<T> {
    return this.changes ? this.changes.then(call) : call();
  }

  /** A call that changes the document. */
  private change<T>(call: () => Promise<T>): Promise<T> {
    const done = this.after(call);
    const ended = done.then(() => {}, () => {}).then(() => {
      if (this.changes === ended) this.changes = null;
    });
    this.changes = ended;
    return done;
  }

  // ---- the document ----------------------------------------------------------------------------------------------------

  info(): Promise<PageInfo> {
    return this.http.get(this.path());
  }

  view(): Promise<PageView> {
    return this.after(() => this.http.get(this.path("/view")));
  }

  text(): Promise<string> {
    return this.after(() => this.http.request("GET", this.path("/text"), { accept: "text" }));
  }

  /** Makes edits: all or none, one step of undo. Rejects with WeftError: 422 refused, 409 stale. */
  edit(edits: Edit[], { mode, label, ifMatch }: EditOptions = {}): Promise<Change> {
    return this.change(() => this.http.request("PATCH", this.path(), { json: { edits, mode, label }, ifMatch }));
  }

  replace(text: string, ifMatch: number): Promise<Change> {
    return this.change(() => this.http.request("PUT", this.path("/text"), { json: text, ifMatch }));
  }

  undo(): Promise<Change> {
    return this.change(() => this.http.post(this.path("/undo")));
  }

  redo(): Promise<Change> {
    return this.change(() => this.http.post(this.path("/redo")));
  }

  save(options: { path?: string; overwrite?: boolean; force?: boolean } = {}): Promise<PageInfo> {
    return this.after(() => this.http.post(this.path("/save"), options));
  }

  reload(): Promise<Change> {
    return this.change(() => this.http.post(this.path("/reload")));
  }

  close(discard = false): Promise<void> {
    return this.after(() => this.http.request("DELETE", this.path(), { query: { discard: discard ? 1 : undefined } }));
  }

  async block(id: string): Promise<Block> {
    return (await this.after(() => this.http.get<{ block: Block }>(this.path("/block"), { id }))).block;
  }

  async whyNot(block: string): Promise<Diagnostic[]> {
    return (await this.after(() => this.http.get<{ reasons: Diagnostic[] }>(this.path("/why_not"), { block }))).reasons;
  }

  plan(session?: string): Promise<unknown> {
    return this.after(() => this.http.get(this.path("/plan"), { session }));
  }

  async layout(how: "page" | "auto"): Promise<Record<string, Point>> {
    return (await this.after(() => this.http.get<{ layout: Record<string, Point> }>(this.path("/layout"), { how }))).layout;
  }

  /** The picture of `weft show`, as SVG. */
  picture(): Promise<Blob> {
    return this.after(() => this.http.request("GET", this.path("/picture"), { accept: "blob" }));
  }

  async checkWire(from: string, to: string, signal?: AbortSignal): Promise<Diagnostic | null> {
    const answer = await this.after(() => this.http.get<{ fits: boolean; reason?: Diagnostic }>(this.path("/check_wire"), { from, to }, signal));
    return answer.fits ? null : (answer.reason ?? { code: "invalid_argument", severity: "error", message: "" });
  }

  fits(end: { from: string } | { to: string }, blocks = false): Promise<{ inputs?: string[]; outputs?: string[]; blocks?: { block: string; ports: string[] }[] }> {
    return this.after(() => this.http.get(this.path("/fits"), { ...end, blocks: blocks ? 1 : undefined }));
  }

  // ---- values and variables --------------------------------------------------------------------------------------------

  async summariesOf(names?: string[], statistics = false): Promise<Record<string, Summary>> {
    return (await this.http.post<{ values: Record<string, Summary> }>(this.path("/values"), { names, statistics })).values;
  }

  value(name: string, options: { slice?: string; limit?: number; session?: string } = {}): Promise<Value> {
    return this.http.get(this.path("/value"), { name, ...options });
  }

  /** The value as a binary frame (decodeFrame) or as a .npy file. */
  valueBytes(name: string, format: "binary" | "npy", slice?: string): Promise<ArrayBuffer> {
    return this.http.request("GET", this.path("/value"), { query: { name, format, slice }, accept: "bytes" });
  }

  statistics(name: string, options: { bins?: number; slice?: string } = {}): Promise<Statistics> {
    return this.http.get(this.path("/statistics"), { name, ...options });
  }

  async variables(): Promise<VariableInfo[]> {
    return (await this.http.get<{ variables: VariableInfo[] }>(this.path("/variables"))).variables;
  }

  variable(name: string, options: { slice?: string; limit?: number } = {}): Promise<Value> {
    return this.http.get(this.path("/variable"), { name, ...options });
  }

  setVariable(name: string, value: TensorLiteral | ArrayBuffer): Promise<void> {
    return this.putTensor("/variable", name, value);
  }

  setFeed(name: string, value: TensorLiteral | ArrayBuffer): Promise<void> {
    return this.putTensor("/feed", name, value);
  }

  clearFeed(name: string): Promise<void> {
    return this.http.request("DELETE", this.path("/feed"), { query: { name } });
  }

  async feeds(): Promise<{ name: string; dtype: string; shape: number[] }[]> {
    return (await this.http.get<{ feeds: { name: string; dtype: string; shape: number[] }[] }>(this.path("/feeds"))).feeds;
  }

  saveState(path: string, overwrite = false): Promise<{ path: string; variables: number; bytes: number }> {
    return this.http.post(this.path("/state/save"), { path, overwrite });
  }

  restoreState(path: string, partial = false): Promise<{ path: string; variables: number; bytes: number }> {
    return this.http.post(this.path("/state/restore"), { path, partial });
  }

  private putTensor(what: string, name: string, value: TensorLiteral | ArrayBuffer): Promise<void> {
    const body = value instanceof ArrayBuffer ? { bytes: value, contentType: "application/x-npy" } : { json: value };
    return this.http.request("PUT", this.path(what), { query: { name }, ...body });
  }

  // ---- runs ------------------------------------------------------------------------------------------------------------

  run(request: RunRequest): Promise<Run> {
    return this.after(() => this.http.post("/runs", { page: this.id, ...request }));
  }

  /** Acts on a run: pause, resume, stop, cancel, step. */
  act(run: string, action: "pause" | "resume" | "stop" | "cancel" | "step", body: Record<string, unknown> = {}): Promise<Run> {
    return this.http.post(`/runs/${encodeURIComponent(run)}/${action}`, body);
  }

  override(run: string, name: string, value: TensorLiteral, session?: string): Promise<Run> {
    return this.http.post(`/runs/${encodeURIComponent(run)}/override`, { name, value, session });
  }

  mode(mode: RunMode, interval_ms = 0): Promise<{ mode: RunMode; run: Run | null }> {
    return this.after(() => this.http.post(this.path("/mode"), { mode, interval_ms }));
  }

  timings(): Promise<Timings> {
    return this.http.get(this.path("/timings"));
  }

  addBreakpoint(breakpoint: NewBreakpoint): Promise<Breakpoint> {
    return this.http.post(this.path("/breakpoints"), breakpoint);
  }

  enableBreakpoint(id: string, enabled: boolean): Promise<Breakpoint> {
    return this.http.request("PATCH", this.path(`/breakpoints/${id}`), { json: { enabled } });
  }

  removeBreakpoint(id: string): Promise<void> {
    return this.http.request("DELETE", this.path(`/breakpoints/${id}`));
  }

  // ---- events ----------------------------------------------------------------------------------------------------------

  /** Follows the page from the event after `seq` (that of the view which was read). */
  follow(seq: number, follower: PageFollower): void {
    this.follower = follower;
    this.seq = seq;
    this.subscribe();
  }

  /** Ends following and all subscriptions of the page. */
  unfollow(): void {
    this.follower = null;
    this.seq = null;
    this.runTopic = null;
    this.summaries = null;
    this.values.clear();
    this.client.socket.call("unsubscribe", { page: this.id }).catch(() => {});
  }

  /** Asks for ticks of runs; null: no more. */
  followRuns(options: { interval_ms: number; blocks: boolean; timings: boolean } | null): void {
    this.runTopic = options;
    if (options) this.client.socket.call("subscribe", { topic: "run", page: this.id, ...options }).catch(() => {});
    else this.client.socket.call("unsubscribe", { topic: "run", page: this.id }).catch(() => {});
  }

  /** Asks for summaries of these values as they change (event `values`); none: no more. */
  followSummaries(names: string[], interval_ms = 250): void {
    this.summaries = names.length ? { names, interval_ms } : null;
    if (names.length) this.client.socket.call("subscribe", { topic: "summaries", page: this.id, names, interval_ms }).catch(() => {});
    else this.client.socket.call("unsubscribe", { topic: "summaries", page: this.id }).catch(() => {});
  }

  /** The server's subscriptions follow a block that is renamed, and so do those asked for again. */
  private deliver(event: Event): void {
    if (event.type === "page.changed") for (const [from, to] of event.change.renamed) this.rename(from, to);
    this.follower?.event(event);
  }

  private rename(from: string, to: string): void {
    for (const subscription of this.values) subscription.name = renamedPort(subscription.name, from, to);
    if (this.summaries) this.summaries = { ...this.summaries, names: this.summaries.names.map((name) => renamedPort(name, from, to)) };
  }

  /** Calls `listener` with samples of a value, across runs and reconnections; the answer ends that. */
  followValue(name: string, options: SampleOptions, listener: (sample: Sample) => void): () => void {
    const subscription: ValueSubscription = { name, options, listener, sub: null };
    this.values.add(subscription);
    this.subscribeValue(subscription);
    return () => {
      this.values.delete(subscription);
      if (subscription.sub !== null) this.client.socket.call("unsubscribe", { sub: subscription.sub }).catch(() => {});
    };
  }

  /** For the client: an event of this page came. */
  received(event: Event): void {
    if (!this.follower) return;
    if (event.seq === undefined || this.seq === null) {
      this.deliver(event);
    } else if (this.replaying) {
      this.held.push(event);
    } else if (event.seq === this.seq + 1) {
      this.seq = event.seq;
      this.deliver(event);
    } else if (event.seq > this.seq + 1) {
      this.held.push(event);
      this.subscribe();
    }
  }

  /** For the client: the connection is there again. */
  reconnected(restarted: boolean): void {
    if (restarted) {
      this.follower?.restarted();
      return;
    }
    if (this.follower) this.subscribe();
    if (this.runTopic) this.followRuns(this.runTopic);
    if (this.summaries) this.followSummaries(this.summaries.names, this.summaries.interval_ms);
    for (const subscription of this.values) this.subscribeValue(subscription);
  }

  /** For the client: a sample of one of the page's subscriptions. */
  sampled(sample: Sample): void {
    for (const subscription of this.values) if (subscription.sub === sample.sub) subscription.listener(sample);
  }

  valueLost(_sub: number): void {
    // the subscription waits for the value's return on the server; nothing is to be done here
  }

  private subscribe(): void {
    if (this.seq === null || this.replaying) return;
    this.replaying = true;
    this.client.socket.call<{ gap?: boolean }>("subscribe", { topic: "page", page: this.id, from_seq: this.seq + 1 })
      .then((answer) => this.caughtUp(Boolean(answer.gap)))
      .catch((error: unknown) => {
        this.replaying = false;
        if (error instanceof WeftError && !error.offline) this.follower?.gap();
      });
  }

  /** Replayed events may come before the answer or after it: both are taken in the order of their numbers. */
  private caughtUp(gap: boolean): void {
    this.replaying = false;
    const held = this.held.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
    this.held = [];
    if (gap) {
      this.seq = null;
      this.follower?.gap();
      return;
    }
    for (const event of held) if ((event.seq ?? 0) > (this.seq ?? 0)) this.take(event);
  }

  private take(event: Event): void {
    if (event.seq === (this.seq ?? 0) + 1) {
      this.seq = event.seq;
      this.deliver(event);
    } else {
      this.received(event);
    }
  }

  private subscribeValue(subscription: ValueSubscription): void {
    subscription.sub = null;
    this.client.socket.call<{ sub: number }>("subscribe", { topic: "value", page: this.id, name: subscription.name, ...subscription.options })
      .then(({ sub }) => {
        if (this.values.has(subscription)) subscription.sub = sub;
        else this.client.socket.call("unsubscribe", { sub }).catch(() => {});
      })
      .catch(() => {});
  }
}
