import type { Change, Edit } from "@weft/client";
import { forecast } from "./forecast";
import { equal } from "./equal";
import type { PageModel, PagePatch } from "./page";

/** What was asked of the server and is not answered yet; what it will do is shown already, where that is known. */
interface Waiting {
  cause: "edit" | "undo" | "redo";
  edits: readonly Edit[];
  /** Its effect is not shown before the answer. */
  blind: boolean;
  patch: PagePatch | null;
  inverse: PagePatch | null;
  /** Where new blocks went. */
  places: ReadonlyMap<string, number>;
  /** The steps before it. */
  steps: Steps;
}

/** Names what was asked for, until it is answered. */
export type Ticket = Readonly<Pick<Waiting, "cause">>;

/** What takes each step back or makes it again, as far as it is known; null: the server knows. */
interface Steps {
  past: readonly (PagePatch | null)[];
  future: readonly (PagePatch | null)[];
}

const noSteps: Steps = { past: [], future: [] };
const mostSteps = 50;

/**
 * Shows edits before the server has confirmed them: moves, values, wires, blocks, and the steps that undo and redo go. What the server says
 * is compared with what is shown. Where it is the same, nothing is drawn again; where it is not, or others edited in between, what was ahead
 * is taken back, the server's change is made, and the rest follows anew. So the page is always what the server has, and then what was asked.
 */
export class Ahead {
  private waiting: Waiting[] = [];
  private steps = noSteps;

  /** `shown` hears of blocks that came, after each forecast. */
  constructor(private readonly model: PageModel, private readonly shown: (added: string[]) => void) {}

  /** `blind`: the server may well refuse it. */
  edit(edits: readonly Edit[], blind: boolean): Ticket {
    return this.begin("edit", edits, blind);
  }

  undo(): Ticket {
    return this.begin("undo", [], false);
  }

  redo(): Ticket {
    return this.begin("redo", [], false);
  }

  /** How many steps can be taken back and made again once everything is answered, from what the server has now. */
  steppable(undo: number, redo: number): { undo: number; redo: number } {
    for (const { cause } of this.waiting) [undo, redo] = cause === "edit" ? [undo + 1, 0] : cause === "undo" ? [undo - 1, redo + 1] : [undo + 1, redo - 1];
    return { undo, redo };
  }

  /** Whether a change may be the answer to what was asked first. */
  awaits(cause: Change["cause"]): boolean {
    return this.waiting[0]?.cause === cause;
  }

  /** The server changed the page; `own`: as the first that waits asked for. */
  receive(change: Change, own: boolean): void {
    const first = own ? this.waiting[0] : undefined;
    if (change.revision === change.before) {
      if (first) this.settle(first); // it made nothing different, which is no step
      return;
    }
    if (first?.patch && confirms(change, first.patch, first.places)) {
      this.waiting.shift();
      return;
    }
    const rest = this.rewind();
    if (own) rest.shift();
    const patch = patchOf(this.model, change);
    this.steps = after(this.steps, change.cause, change.renamed.length ? null : this.model.inverse(patch));
    this.model.apply(patch);
    rest.forEach((waiting) => this.show(waiting));
  }

  /** It was answered, or refused: what of it is still ahead of the server is taken back. */
  settle(ticket: Ticket): void {
    if (!this.waiting.includes(ticket as Waiting)) return;
    for (const waiting of this.rewind()) if (waiting !== ticket) this.show(waiting);
  }

  /** The page was read anew. */
  clear(): void {
    this.waiting = [];
    this.steps = noSteps;
  }

  private begin(cause: Waiting["cause"], edits: readonly Edit[], blind: boolean): Ticket {
    const waiting: Waiting = { cause, edits, blind, patch: null, inverse: null, places: none, steps: this.steps };
    this.show(waiting);
    return waiting;
  }

  private show(waiting: Waiting): void {
    const { model, steps } = this;
    const { cause } = waiting;
    this.waiting.push(waiting);
    waiting.steps = steps;
    waiting.patch = cause === "edit" ? (waiting.blind ? null : forecast(model, waiting.edits)) : (steps[cause === "undo" ? "past" : "future"].at(-1) ?? null);
    waiting.inverse = waiting.patch && model.inverse(waiting.patch);
    this.steps = after(steps, cause, waiting.inverse);
    if (!waiting.patch) return;
    const added = (waiting.patch.blocks ?? []).map(({ id }) => id).filter((id) => !model.blocks.has(id));
    model.apply(waiting.patch);
    waiting.places = placesOf(model, added);
    this.shown(added);
  }

  /** Takes back all that is ahead, and gives it. */
  private rewind(): Waiting[] {
    const all = this.waiting;
    this.waiting = [];
    if (all[0]) this.steps = all[0].steps;
    for (const { inverse } of [...all].reverse()) if (inverse) this.model.apply({ ...inverse, types: undefined });
    return all;
  }
}

const none: ReadonlyMap<string, number> = new Map();

function placesOf(model: PageModel, added: readonly string[]): ReadonlyMap<string, number> {
  if (!added.length) return none;
  const wanted = new Set(added);
  return new Map(model.ids.flatMap((id, k) => (wanted.has(id) ? [[id, k] as const] : [])));
}

function after({ past, future }: Steps, cause: Change["cause"], inverse: PagePatch | null): Steps {
  const onto = (list: Steps["past"]): Steps["past"] => [...list.slice(1 - mostSteps), inverse];
  if (cause === "undo") return { past: past.slice(0, -1), future: onto(future) };
  if (cause === "redo") return { past: onto(past), future: future.slice(0, -1) };
  return { past: onto(past), future: [] };
}

/** The server's change as a patch of the model. A renamed block keeps its place, unless the change says otherwise. */
function patchOf(model: PageModel, change: Change): PagePatch {
  const removed = [...change.removed, ...change.renamed.map(([from]) => from)];
  let layout = change.layout;
  for (const [from, to] of change.renamed) if (layout?.[to] === undefined && model.isPlaced(from)) layout = { ...layout, [to]: model.position(from) };
  return {
    removed, blocks: (change.blocks ?? []).map(({ block }) => block), order: orderAfter(model, change, removed),
    layout, layoutAll: change.layout_all, keys: change.page_keys,
  };
}

function orderAfter(model: PageModel, change: Change, removed: string[]): string[] | undefined {
  const entries = change.blocks ?? [];
  if (!entries.some(({ block }) => !model.blocks.has(block.id))) return undefined;
  const gone = new Set([...removed, ...entries.map(({ block }) => block.id)]);
  const order = model.ids.filter((id) => !gone.has(id));
  for (const { place, block } of entries) order.splice(place, 0, block.id);
  return order;
}

/** Whether the server did what was shown. */
function confirms(change: Change, patch: PagePatch, places: ReadonlyMap<string, number>): boolean {
  if (change.renamed.length || !sameIds(change.removed, patch.removed ?? [])) return false;
  const blocks = new Map((patch.blocks ?? []).map((block) => [block.id, block]));
  const entries = change.blocks ?? [];
  const placed = (layout: PagePatch["layout"]) => Object.fromEntries(Object.entries(layout ?? {}).filter(([, place]) => place));
  return entries.length === blocks.size && entries.every(({ place, block }) => equal(block, blocks.get(block.id)) && (places.get(block.id) ?? place) === place) &&
    Boolean(change.layout_all) === Boolean(patch.layoutAll) && equal(placed(change.layout), placed(patch.layout)) && equal(change.page_keys ?? {}, patch.keys ?? {});
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  return left.size === b.length && b.every((id) => left.has(id));
}
