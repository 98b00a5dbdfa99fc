import type { Block, Breakpoint, Change, Checked, Diagnostic, Edit, EditMode, Event, NewBreakpoint, PageApi, PageInfo, PageView, Point, Run } from "@weft/client";
import { WeftError } from "@weft/client";
import { FlowModel, type Selection } from "../canvas/flow";
import { Ahead, type Ticket } from "./ahead";
import { Cell } from "./emitter";
import { equal } from "./equal";
import { PageModel } from "./page";
import { PlotModel } from "./plots";
import { RunModel } from "./runs";
import { text, texts } from "../texts";
import type { SchemaIndex } from "./schema";

/** What the editor says to its user outside of dialogs. */
export interface Notice {
  kind: "info" | "ok" | "warning" | "error";
  text: string;
  detail?: string;
  /** Until it is dismissed, as errors do. */
  stays?: boolean;
}

/** A line of the log. */
export interface LogLine {
  at: number;
  kind: "info" | "error" | "print";
  text: string;
  block?: string;
}

export interface Viewport {
  x: number;
  y: number;
  zoom: number;
}

/**
 * A page that is open in the editor: its document, selection, runs and breakpoints, and the edits that can be made. What is shown is what the
 * server has confirmed, but for positions during a drag and edits that are on their way (`Ahead`).
 */
export class PageEditor {
  readonly model: PageModel;
  readonly runs: RunModel;
  readonly plots: PlotModel;
  /** Plots that stand on the page; they hear of runs, too. */
  readonly pagePlots = new Set<PlotModel>();
  readonly selection = new Cell<Selection>(new Set());
  readonly flow: FlowModel;
  readonly info: Cell<PageInfo>;
  readonly breakpoints = new Cell<Breakpoint[]>([]);
  readonly clients = new Cell<{ id: string; name: string }[]>([]);
  readonly log = new Cell<LogLine[]>([]);
  readonly loaded = new Cell<boolean>(false);
  /** How many changes of the document the server has not answered yet. */
  readonly waiting = new Cell<number>(0);
  /** Why the page could not be read; null where it was, or is being read. */
  readonly failure = new Cell<string | null>(null);
  readonly feeds = new Cell<ReadonlySet<string>>(new Set());
  /** Counts changes of variables from outside of runs. */
  readonly variablesChanged = new Cell<number>(0);
  /** The note or frame whose text is about to be written, as the selection calls it. */
  readonly writing = new Cell<string | null>(null);
  viewport: Viewport | null = null;
  /** Counts what was selected, apart from what follows from blocks that went or were renamed. */
  selections = 0;
  /** Counts moves of the canvas that the user made or asked for. */
  looks = 0;
  notify: (notice: Notice) => void = () => {};
  private revision = -1;
  private readonly ahead: Ahead;
  private loading: Promise<void> | null = null;
  private readonly identities = new Map<string, string>();
  private renamed = 0;

  constructor(readonly api: PageApi, info: PageInfo, schema: SchemaIndex) {
    this.info = new Cell(info);
    this.model = new PageModel(schema);
    this.runs = new RunModel(api);
    this.plots = new PlotModel(api);
    this.flow = new FlowModel(this.model, this.selection);
    this.ahead = new Ahead(this.model, (added) => this.settle(added));
  }

  get id(): string {
    return this.api.id;
  }

  /** Reads the page, and follows it from there. */
  load(): Promise<void> {
    this.failure.set(null);
    this.loading ??= this.read().catch((error: unknown) => {
      this.failure.set(error instanceof Error ? error.message : String(error));
      throw error;
    }).finally(() => (this.loading = null));
    return this.loading;
  }

  private async read(): Promise<void> {
    const view = await this.api.view();
    this.take(view);
    if (!view.auto_layout) await this.placeRest();
    this.loaded.set(true);
    this.api.follow(view.seq, {
      event: (event) => this.receive(event),
      gap: () => void this.load().catch(this.report),
      restarted: () => this.loaded.set(false),
    });
    this.runs.follow();
  }

  private take(view: PageView): void {
    this.revision = view.revision;
    this.ahead.clear();
    this.model.load({ blocks: view.blocks, layout: view.layout, types: view.types, diagnostics: view.diagnostics, keys: view.keys });
    if (view.auto_layout) this.model.setAuto(view.auto_layout);
    this.info.set(view.page);
    this.breakpoints.set(view.breakpoints);
    this.runs.setRun(view.page.run);
    this.keepSelection();
  }

  /** Blocks that the page does not place go below those that it does. */
  private async placeRest(): Promise<void> {
    const open = this.model.ids.filter((id) => !this.model.isPlaced(id));
    if (!open.length) return;
    const auto = await this.api.layout("auto").catch(() => ({}) as Record<string, Point>);
    const placed = this.model.bounds(this.model.ids.filter((id) => this.model.isPlaced(id)));
    const bottom = placed ? placed.y + placed.height + 60 : 0;
    this.model.setAuto(Object.fromEntries(open.map((id, k) => {
      const [x, y] = auto[id] ?? [40 + 200 * (k % 6), 120 * Math.floor(k / 6)];
      return [id, [x, y + bottom] as Point];
    })));
  }

  dispose(): void {
    this.api.unfollow();
    this.runs.dispose();
    this.plots.dispose();
    this.flow.dispose();
  }

  // ---- what the server says --------------------------------------------------------------------------------------------

  private receive(event: Event): void {
    switch (event.type) {
      case "page.changed":
        if (event.change.before === this.revision) this.change(event.change);
        else if (event.change.revision > this.revision) void this.load().catch(this.report);
        break;
      case "page.checked":
        this.checked(event.checked);
        break;
      case "page.saved":
        this.info.set(event.document);
        break;
      case "page.disk":
        this.info.update((info) => ({ ...info, on_disk: event.on_disk }));
        break;
      case "breakpoints":
        this.breakpoints.set(event.breakpoints);
        break;
      case "clients":
        this.clients.set(event.clients);
        break;
      case "variables":
        this.variablesChanged.update((n) => n + 1);
        break;
      case "feeds":
        this.feeds.set(new Set(event.names));
        break;
      case "run.print":
        this.write({ kind: "print", text: event.text, block: event.block });
        break;
      case "run.error":
        this.write({ kind: "error", text: event.error.message, block: event.error.block });
        this.runs.receive(event);
        break;
      default:
        if (event.type === "run.started") for (const plot of [this.plots, ...this.pagePlots]) plot.startRun(event.run.id.replace(/^p\d+/, ""));
        this.runs.receive(event);
        if (event.type === "run.ended") this.write({ kind: event.run.outcome === "failed" ? "error" : "info", text: runLine(event.run) });
    }
  }

  /** Takes a change, from the answer to a call or from an event, whichever comes first. */
  private change(change: Change): void {
    if (change.view) {
      void this.load().catch(this.report);
      return;
    }
    this.revision = change.revision;
    for (const [from, to] of change.renamed) this.follows(from, to);
    this.ahead.receive(change, change.by === this.api.clientId && this.ahead.awaits(change.cause));
    this.info.update((info) => ({
      ...info, revision: change.revision, dirty: change.dirty, undo: change.undo, redo: change.redo,
      undo_label: change.undo_label, redo_label: change.redo_label, blocks: this.model.blocks.size, sessions: this.sessions(info.sessions),
      name: typeof change.page_keys?.["page"] === "string" ? change.page_keys["page"] : info.name,
    }));
    this.settle(change.added);
    if (change.checked) this.checked(change.checked);
  }

  /** The page's sessions now; the same array where they are as `before`. */
  private sessions(before: string[]): string[] {
    const now = [...this.model.blocks.values()].filter(({ block }) => block === session || this.model.schema.get(block)?.block === session).map(({ id }) => id);
    return equal(now, before) ? before : now;
  }

  /** What follows from blocks that came or went. */
  private settle(added: string[]): void {
    this.placeNew(added);
    this.keepSelection();
  }

  /** Names a block for as long as it is on the page, whatever it is called. */
  identity(id: string): string {
    return this.identities.get(id) ?? id;
  }

  /** A renamed block stays selected, and where it is seen. */
  private follows(from: string, to: string): void {
    this.identities.set(to, this.identity(from));
    this.identities.set(from, `${from} ${++this.renamed}`); // of another block that may be called so
    if (!this.model.isPlaced(from)) this.model.setAuto({ [to]: this.model.position(from) });
    for (const plot of [this.plots, ...this.pagePlots]) plot.rename(from, to);
    const selected = this.selection.get();
    if (selected.has(from)) this.selection.set(new Set([...selected].map((id) => (id === from ? to : id))));
  }

  /** Blocks that came without a place, as from another program, go below what is there. */
  private placeNew(added: string[]): void {
    const open = added.filter((id) => !this.model.hasPosition(id));
    const bounds = open.length ? this.model.bounds(this.model.ids.filter((id) => !open.includes(id))) : null;
    const top = bounds ? bounds.y + bounds.height + 60 : 40;
    if (open.length) this.model.setAuto(Object.fromEntries(open.map((id, k) => [id, [(bounds?.x ?? 40) + 208 * (k % 6), top + 128 * Math.floor(k / 6)] as Point])));
  }

  private checked(checked: Checked): void {
    if (checked.revision < this.revision) return;
    const types: Record<string, PageView["types"][string] | null> = { ...checked.types };
    for (const name of checked.types_removed ?? []) types[name] = null;
    const same = equal(checked.diagnostics, this.model.diagnostics);
    this.model.apply({ types: Object.keys(types).length ? types : undefined, diagnostics: same ? undefined : checked.diagnostics });
    this.info.update((info) => ({ ...info, errors: checked.errors, warnings: checked.warnings }));
  }

  private keepSelection(): void {
    const now = this.selection.get();
    const left = [...now].filter((id) => this.has(id));
    if (left.length !== now.size) this.selection.set(new Set(left));
  }

  // ---- editing ---------------------------------------------------------------------------------------------------------

  /**
   * Makes edits as one step of undo; they are shown at once where their effect is known. False where the server refuses: then they are taken
   * back, and the reason has been shown (or is handed to `refused`). `sure`: the server has said that it takes them.
   */
  edit(edits: Edit[], label: string, mode: EditMode = "apply", refused?: (reason: Diagnostic) => void, sure = mode === "apply"): Promise<boolean> {
    if (!edits.length) return Promise.resolve(true);
    return this.send(this.ahead.edit(edits, !sure), this.api.edit(edits, { label, mode }), refused);
  }

  /** How many steps there are to undo and redo, those on their way included. */
  get steppable(): { undo: number; redo: number } {
    const { undo, redo } = this.info.get();
    return this.ahead.steppable(undo, redo);
  }

  async undo(): Promise<void> {
    await this.send(this.ahead.undo(), this.api.undo());
  }

  async redo(): Promise<void> {
    await this.send(this.ahead.redo(), this.api.redo());
  }

  private send(ticket: Ticket, answer: Promise<Change>, refused?: (reason: Diagnostic) => void): Promise<boolean> {
    this.waiting.update((n) => n + 1);
    return answer.then(
      (change) => {
        this.answered(change);
        // its change came by this or by an event; where others' changes before it are still to come, so is its own
        if (change.revision <= this.revision) this.ahead.settle(ticket);
        return true;
      },
      async (error: unknown) => {
        this.ahead.settle(ticket);
        if (ticket.cause === "edit" && error instanceof WeftError && error.status === 409) await this.load().catch(this.report);
        if (refused && error instanceof WeftError && !error.offline) refused(error.diagnostic);
        else this.report(error);
        return false;
      },
    ).finally(() => this.waiting.update((n) => n - 1));
  }

  /** The answer to a call: where events of others come before it, they bring it, too. */
  private answered(change: Change): void {
    if (change.before === this.revision) this.change(change);
  }

  /** What the page is called: the name that it has itself, or that of its file. */
  get title(): string {
    const { path, name } = this.info.get();
    const own = this.model.keys["page"];
    return path ? (path.split("/").at(-1) ?? path).replace(/(\.page)?\.(json|svg)$/i, "") : typeof own === "string" && own ? own : name;
  }

  /** Blocks that are selected, in page order. */
  selectedBlocks(): Block[] {
    const selected = this.selection.get();
    return this.model.ids.filter((id) => selected.has(id)).flatMap((id) => this.model.blocks.get(id) ?? []);
  }

  /** Whether the page has what a selection calls so. */
  has(id: string): boolean {
    return id.startsWith("wire:") ? Boolean(this.model.wireAt(id.slice(5))) : /^(frame|note|plot):/.test(id) || this.model.blocks.has(id);
  }

  /** Begins to write a note or the title of a frame, where it is seen. */
  startWriting(id: string): void {
    if (!this.flow.far) this.writing.set(id);
  }

  select(ids: Iterable<string>): void {
    this.selections++;
    const next = new Set(ids);
    const now = this.selection.get();
    if (next.size !== now.size || [...next].some((id) => !now.has(id))) this.selection.set(next);
  }

  /** Places of blocks become the page's. A page that placed none gets all of them, so that the others stay where they are seen. */
  moveEdits(positions: Record<string, Point>): Edit[] {
    const rounded = Object.fromEntries(Object.entries(positions).map(([id, [x, y]]) => [id, [Math.round(x), Math.round(y)] as Point]));
    const unplaced = this.model.ids.filter((id) => !this.model.isPlaced(id) && !rounded[id]);
    for (const id of unplaced) {
      const [x, y] = this.model.position(id);
      rounded[id] = [Math.round(x), Math.round(y)];
    }
    if (unplaced.length > 50 && this.model.placedCount === 0) return [{ op: "set", key: "layout", value: rounded }];
    return Object.entries(rounded).map(([block, layout]) => ({ op: "move", block, layout }));
  }

  // ---- breakpoints -----------------------------------------------------------------------------------------------------

  async toggleBreakpoint(block: string): Promise<void> {
    const own = this.breakpoints.get().filter((b) => b.block === block && b.kind === "before");
    if (own.length) await Promise.all(own.map((b) => this.api.removeBreakpoint(b.id))).catch(this.report);
    else await this.addBreakpoint({ kind: "before", block });
  }

  async addBreakpoint(breakpoint: NewBreakpoint): Promise<boolean> {
    try {
      await this.api.addBreakpoint(breakpoint);
      return true;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  // ---- telling ---------------------------------------------------------------------------------------------------------

  /** Shows a failure to the user. */
  readonly report = (error: unknown): void => {
    if (error instanceof DOMException && error.name === "AbortError") return;
    const diagnostic = error instanceof WeftError ? error.diagnostic : undefined;
    const text = diagnostic?.message ?? (error instanceof Error ? error.message : String(error));
    this.notify({ kind: "error", text, detail: diagnostic?.hint });
    this.write({ kind: "error", text, block: diagnostic?.block });
  };

  write(line: Omit<LogLine, "at">): void {
    this.log.update((lines) => [...lines.slice(-499), { ...line, at: Date.now() }]);
  }
}

/** The type of blocks that run others. */
const session = "ClientSession";

function runLine(run: Run): string {
  const runs = run.sessions.map((s) => `${s.id}: ${s.runs}`).join(", ");
  if (run.outcome === "failed") return run.error?.message ?? texts.toolbar.failed;
  return text(texts.toolbar.ended, { run: run.id, outcome: run.outcome ?? "ok", runs, ms: Math.round(run.elapsed_ms) });
}
