import { useCallback, useEffect, useState } from "react";
import type { VariableInfo } from "@weft/client";
import { shapeText, shortType } from "../model/names";
import { useCell, useCellPart, usePage, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Button, IconButton } from "../ui";

const t = texts.panels;

/** The page's variables as the last run that succeeded left them; they can be set, saved and restored. */
export function VariablesPanel() {
  const workbench = useWorkbench();
  const page = usePage();
  const [list, setList] = useState<VariableInfo[] | null>(null);
  const changed = useCell(page.variablesChanged);
  const runState = useCellPart(page.runs.run, (run) => `${run?.id} ${run?.state}`);
  const revision = useCellPart(page.info, (info) => info.revision);
  const read = useCallback(() => void page.api.variables().then(setList, page.report), [page]);
  useEffect(read, [read, changed, runState, revision]);
  return (
    <div>
      <div className="w-panel-bar">
        <Button small icon="reset" look="quiet" onClick={read}>{t.refresh}</Button>
        <Button small icon="save" look="quiet" onClick={() => workbench.ask("saveState")}>{t.saveState}</Button>
        <Button small icon="open" look="quiet" onClick={() => workbench.ask("restoreState")}>{t.restoreState}</Button>
      </div>
      <Feeds />
      {list?.length === 0 && <p className="w-hint w-pad">{t.noVariables}</p>}
      {list && list.length > 0 && (
        <table className="w-table">
          <thead><tr><th scope="col">{t.name}</th><th scope="col">{t.shape}</th><th scope="col">{t.value}</th><th /></tr></thead>
          <tbody>
            {list.map((variable) => (
              <tr key={variable.name}>
                <th scope="row"><button type="button" className="w-link" onClick={() => { page.select([variable.name]); workbench.reveal([variable.name]); }}>{variable.name}</button></th>
                <td>{shortType(variable.dtype)} {shapeText(variable.shape)}</td>
                <td className="w-mono">{variable.has_value ? variable.text : "—"}</td>
                <td><IconButton small icon="edit" label={`${t.set} ${variable.name}`} onClick={() => workbench.ask("setVariable", variable.name)} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** Outputs that get a value from outside in every run. */
function Feeds() {
  const page = usePage();
  const changed = useCell(page.feeds);
  const [list, setList] = useState<{ name: string; dtype: string; shape: number[] }[]>([]);
  useEffect(() => void page.api.feeds().then(setList, () => {}), [page, changed]);
  if (!list.length) return null;
  return (
    <ul className="w-rows" aria-label={t.feeds}>
      {list.map(({ name, dtype, shape }) => (
        <li key={name} className="w-row">
          <span className="w-row-text w-pad">{t.feeds}: <strong>{name}</strong> {shortType(dtype)} {shapeText(shape)}</span>
          <IconButton small icon="close" label={text(t.stopFeeding, { name })} onClick={() => void page.api.clearFeed(name).catch(page.report)} />
        </li>
      ))}
    </ul>
  );
}
