import type { Diagnostic } from "@weft/client";
import { quickFix } from "../actions/fixes";
import { useCell, usePage, useStructure, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Button, Icon } from "../ui";

const t = texts.panels;

/** All that is wrong with the page: a click goes there, and what can be mended by a name is mended by a click. */
export function FaultsPanel() {
  const page = usePage();
  useStructure();
  const loaded = useCell(page.loaded);
  const list = [...page.model.diagnostics].sort((a, b) => rank(a) - rank(b));
  if (!list.length) return <p className="w-hint w-pad">{loaded ? t.noFaults : texts.app.loading}</p>;
  return <ul className="w-rows">{list.map((finding, k) => <Fault key={k} finding={finding} />)}</ul>;
}

const rank = (d: Diagnostic): number => ["error", "warning", "note"].indexOf(d.severity);

function Fault({ finding }: { finding: Diagnostic }) {
  const workbench = useWorkbench();
  const page = usePage();
  const fix = quickFix(page, finding);
  const go = (): void => {
    if (!finding.block || !page.model.blocks.has(finding.block)) return;
    page.select([finding.block]);
    workbench.reveal([finding.block]);
  };
  return (
    <li className={`w-row w-fault-${finding.severity}`}>
      <button type="button" className="w-row-main" onClick={go} title={finding.block ? text(t.goTo, { block: finding.block }) : undefined}>
        <Icon name={finding.severity === "error" ? "error" : finding.severity === "warning" ? "warning" : "info"} size={14} />
        <span className="w-visually-hidden">{finding.severity}: </span>
        <span className="w-row-text">
          {finding.message}
          {finding.hint && <span className="w-row-hint">{finding.hint}</span>}
          {(finding.needed || finding.found) && <span className="w-row-hint">{[finding.needed && `needed ${finding.needed}`, finding.found && `found ${finding.found}`].filter(Boolean).join(", ")}</span>}
        </span>
        <span className="w-row-place">{finding.block ? `${finding.block}${finding.port ? `.${finding.port}` : ""}` : finding.pointer}</span>
      </button>
      {fix && <Button small onClick={() => void page.edit(fix.edits, fix.label)}>{fix.label}</Button>}
    </li>
  );
}
