import type { Connection, HandleType } from "@xyflow/react";
import type { Diagnostic, Edit } from "@weft/client";
import { openInputs } from "../actions/literals";
import { parsePort } from "../model/names";
import { text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";

/** A wire that is being drawn: from which port, and which ports it fits, once the server has said so. */
export interface Draft {
  port: string;
  /** The kind of the port that it begins at. */
  side: HandleType;
  fits: ReadonlySet<string> | null;
}

/**
 * The wires that are drawn by hand on one canvas. What fits is asked of the server when drawing begins; handles that fit get an attribute, so
 * that nothing is drawn again by React (which would take a class back).
 */
export class Connector {
  draft: Draft | null = null;
  private root: HTMLElement | null = null;
  private readonly reasons = new Map<string, Diagnostic | null>();

  constructor(private readonly page: PageEditor) {}

  begin(port: string, side: HandleType, root: HTMLElement | null): void {
    const draft: Draft = { port, side, fits: null };
    this.draft = draft;
    this.root = root;
    this.reasons.clear();
    root?.setAttribute("data-wiring", side);
    this.page.api.fits(side === "source" ? { from: port } : { to: port }).then(
      (answer) => {
        if (this.draft !== draft) return;
        draft.fits = new Set(side === "source" ? answer.inputs : answer.outputs);
        this.highlight();
      },
      () => {},
    );
  }

  end(): void {
    this.draft = null;
    this.root?.removeAttribute("data-wiring");
    for (const handle of this.root?.querySelectorAll("[data-fits]") ?? []) handle.removeAttribute("data-fits");
  }

  /** Whether a port may be the other end, as far as is known yet. What the server said of this very wire counts most. */
  fits(port: string): boolean {
    const draft = this.draft;
    if (!draft?.fits) return true;
    const said = this.reasons.get(draft.side === "source" ? `${draft.port} ${port}` : `${port} ${draft.port}`);
    return said === undefined ? draft.fits.has(port) || draft.fits.has(withoutIndex(port)) : said === null;
  }

  /** Whether the server has said that a port of the wire that is drawn may be its other end. */
  knows(...ports: string[]): boolean {
    return Boolean(this.draft?.fits) && ports.every((port) => port === this.draft?.port || this.fits(port));
  }

  /** Marks the handles that fit; also after blocks came into sight. */
  highlight(): void {
    if (!this.draft?.fits || !this.root) return;
    const wanted = this.draft.side === "source" ? "target" : "source";
    for (const handle of this.root.querySelectorAll<HTMLElement>(`.w-handle.${wanted}`)) {
      handle.toggleAttribute("data-fits", this.fits(handle.dataset["port"] ?? ""));
    }
  }

  /** Why a wire would not fit; null where it does. Each answer is asked for once while a wire is drawn. */
  async reason(from: string, to: string): Promise<Diagnostic | null> {
    const key = `${from} ${to}`;
    const known = this.reasons.get(key);
    if (known !== undefined) return known;
    const reason = await this.page.api.checkWire(from, to);
    this.reasons.set(key, reason);
    return reason;
  }

  /** The first port of a block that the drawn wire fits, those that nothing is wired to first. */
  portOf(block: string): string | undefined {
    const draft = this.draft;
    if (!draft?.fits) return undefined;
    if (draft.side === "source") {
      const open = openInputs(this.page, block);
      return open.find((port) => draft.fits?.has(port)) ?? [...draft.fits].find((port) => parsePort(port).block === block);
    }
    return [...draft.fits].find((port) => parsePort(port).block === block);
  }
}

const withoutIndex = (port: string): string => port.replace(/\[\d+\]$/, "");

/** The names of both ends of a connection as React Flow has it. */
export function ends(connection: Connection | { source: string; target: string; sourceHandle?: string | null; targetHandle?: string | null }): { from: string; to: string } {
  return { from: `${connection.source}.${connection.sourceHandle ?? ""}`, to: `${connection.target}.${connection.targetHandle ?? ""}` };
}

/** Wires two ports. The reason of a refusal is shown. `sure`: the server has said that they fit, so that the wire is shown at once. */
export function connect(page: PageEditor, from: string, to: string, sure = false): Promise<boolean> {
  return page.edit([{ op: "connect", from, to: page.model.endOf(to) }], text(texts.edits.wire, { from, to }), "open_inputs", undefined, sure);
}

/** Leads a wire elsewhere. */
export function reconnect(page: PageEditor, oldTo: string, from: string, to: string, sure = false): Promise<boolean> {
  const edits: Edit[] = [{ op: "connect", from, to: page.model.endOf(to) }];
  if (oldTo !== to) edits.push({ op: "disconnect", to: oldTo });
  return page.edit(edits, text(texts.edits.wire, { from, to }), "open_inputs", undefined, sure);
}
