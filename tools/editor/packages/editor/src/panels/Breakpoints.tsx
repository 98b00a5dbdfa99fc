import type { Breakpoint } from "@weft/client";
import { useCell, usePage, useWorkbench } from "../model/react";
import { plural, texts } from "../texts";
import { Button, IconButton } from "../ui";

const t = texts.panels;

/** All breakpoints of the page, of all clients. */
export function BreakpointsPanel() {
  const workbench = useWorkbench();
  const page = usePage();
  const list = useCell(page.breakpoints);
  const anyNaN = list.some((b) => b.kind === "not_finite" && !b.block);
  return (
    <div>
      <div className="w-panel-bar">
        <Button small icon="plus" onClick={() => workbench.ask("breakpoint")}>{t.addBreakpoint}</Button>
        {!anyNaN && <Button small look="quiet" onClick={() => void page.addBreakpoint({ kind: "not_finite" })}>{t.breakNaN}</Button>}
      </div>
      {list.length === 0 && <p className="w-hint w-pad">{t.noBreakpoints}</p>}
      <ul className="w-rows">{list.map((breakpoint) => <Row key={breakpoint.id} breakpoint={breakpoint} />)}</ul>
    </div>
  );
}

function Row({ breakpoint }: { breakpoint: Breakpoint }) {
  const workbench = useWorkbench();
  const page = usePage();
  const words = breakpointText(breakpoint);
  return (
    <li className="w-row">
      <input
        type="checkbox" checked={breakpoint.enabled} aria-label={`${t.enabled}: ${words}`}
        onChange={(event) => void page.api.enableBreakpoint(breakpoint.id, event.target.checked).catch(page.report)}
      />
      <button
        type="button" className="w-row-main" disabled={!breakpoint.block}
        onClick={() => {
          if (!breakpoint.block) return;
          page.select([breakpoint.block]);
          workbench.reveal([breakpoint.block]);
        }}
      >
        <span className="w-row-text">{words}</span>
        <span className="w-row-place">{plural(breakpoint.hits, t.hit, t.hits)}</span>
      </button>
      <IconButton small icon="trash" label={`${texts.common.remove}: ${words}`} onClick={() => void page.api.removeBreakpoint(breakpoint.id).catch(page.report)} />
    </li>
  );
}

function breakpointText({ kind, block, port, condition, once, from_hit }: Breakpoint): string {
  const kinds = texts.dialogs.kinds;
  const what = kind === "condition" ? `${condition}` : `${kinds[kind]}: ${block ? `${block}${port ? `.${port}` : ""}` : texts.dialogs.anyBlock}`;
  return [what, from_hit > 1 && `${texts.dialogs.fromHit} ${from_hit}`, once && texts.dialogs.once].filter(Boolean).join(" · ");
}
