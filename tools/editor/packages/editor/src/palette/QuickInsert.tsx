import { useEffect, useMemo, useRef, useState } from "react";
import { addBlock } from "../actions/edit";
import { focusNode } from "../actions/focus";
import { categoryColor } from "../model/names";
import type { PageEditor } from "../model/pageEditor";
import { useCell, useWorkbench } from "../model/react";
import type { QuickInsert as Quick } from "../model/workbench";
import type { PaletteHit } from "../model/schema";
import { text, texts } from "../texts";
import "./palette.css";

const t = texts.palette;

/** Opens where the canvas was double clicked, or at the end of a loose wire: then it offers only what fits. */
export function QuickInsert() {
  const workbench = useWorkbench();
  const quick = useCell(workbench.quick);
  return quick ? <Box key={`${quick.at.x} ${quick.at.y}`} quick={quick} onClose={() => workbench.quick.set(null)} /> : null;
}

function Box({ quick, onClose }: { quick: Quick; onClose: () => void }) {
  const workbench = useWorkbench();
  const schema = useCell(workbench.schema);
  const page = useCell(workbench.active);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const fitting = useFitting(quick);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const hits = useMemo(() => {
    if (!schema || fitting === "asking") return [];
    const found = schema.search(query, 400);
    return (fitting ? found.filter((hit) => fitting.has(hit.schema.block)) : found).slice(0, 60);
  }, [schema, query, fitting]);
  useEffect(() => setAt(0), [query]);
  useEffect(() => {
    document.getElementById(`w-quick-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const take = async (hit: PaletteHit | undefined): Promise<void> => {
    if (!hit || !page) return;
    const ports = fitting && fitting !== "asking" ? fitting.get(hit.schema.block) : undefined;
    onClose();
    const reveal = workbench.revealLater();
    const show = (added: string): void => {
      if (!inSight(page, added)) reveal([added]);
      focusNode(added);
    };
    const id = await addBlock(page, hit.schema.block, [quick.place.x, quick.place.y], { wire: quick.wire, port: ports?.[0], show });
    if (id) workbench.announce(text(t.add, { block: id, summary: hit.schema.summary }));
  };
  const left = Math.max(8, Math.min(quick.at.x, window.innerWidth - 340));
  const top = Math.max(8, Math.min(quick.at.y, window.innerHeight - 360));
  return (
    <div
      className="w-quick" role="dialog" aria-label={quick.wire ? text(t.quickWire, { port: quick.wire.port }) : t.quick} style={{ left, top }}
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && onClose()}
    >
      <input
        ref={input} className="w-input" role="combobox" aria-expanded aria-controls="w-quick-list" aria-activedescendant={hits[at] ? `w-quick-${at}` : undefined}
        aria-label={t.search} placeholder={quick.wire ? text(t.fitting, { port: quick.wire.port }) : t.quickHint} value={query} onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "ArrowDown") setAt((now) => Math.min(now + 1, hits.length - 1));
          else if (event.key === "ArrowUp") setAt((now) => Math.max(now - 1, 0));
          else if (event.key === "Enter") void take(hits[at]);
          else if (event.key === "Escape" || event.key === "Tab") onClose();
          else return;
          event.preventDefault();
        }}
      />
      <div id="w-quick-list" role="listbox" aria-label={t.name} className="w-quick-list">
        {hits.map((hit, k) => (
          <div
            key={hit.schema.block} id={`w-quick-${k}`} role="option" aria-selected={k === at} className="w-quick-item"
            onPointerDown={(event) => event.preventDefault()} onPointerEnter={() => setAt(k)} onClick={() => void take(hit)}
          >
            <span className="w-palette-dot" style={{ background: categoryColor(hit.schema.category) }} />
            <span className="w-palette-name">{hit.schema.block}</span>
            <span className="w-palette-summary">{hit.by && hit.by !== "summary" ? text(t.alias, { alias: hit.by }) : hit.schema.summary}</span>
          </div>
        ))}
        {fitting === "asking" && <p className="w-hint w-pad">{t.checking}</p>}
        {fitting !== "asking" && hits.length === 0 && <p className="w-hint w-pad">{text(t.none, { query })}</p>}
      </div>
    </div>
  );
}

/** Whether all of a block is seen in the canvas. */
function inSight(page: PageEditor, id: string): boolean {
  const box = document.querySelector(".w-canvas")?.getBoundingClientRect();
  const view = page.viewport;
  const bounds = page.model.bounds([id]);
  if (!box || !view || !bounds) return true;
  const [left, top] = [bounds.x * view.zoom + view.x, bounds.y * view.zoom + view.y];
  return left >= 0 && top >= 0 && left + bounds.width * view.zoom <= box.width && top + bounds.height * view.zoom <= box.height;
}

/** The block types that fit the loose wire, with the ports that take it; null where there is no wire. */
function useFitting(quick: Quick): Map<string, string[]> | "asking" | null {
  const page = useCell(useWorkbench().active);
  const [fitting, setFitting] = useState<Map<string, string[]> | "asking" | null>(quick.wire ? "asking" : null);
  useEffect(() => {
    if (!quick.wire || !page) return;
    const end = quick.wire.side === "source" ? { from: quick.wire.port } : { to: quick.wire.port };
    page.api.fits(end, true).then((answer) => setFitting(new Map((answer.blocks ?? []).map(({ block, ports }) => [block, ports]))), () => setFitting(null));
  }, [quick, page]);
  return fitting;
}
