import { parsePort, shapeText, shortType } from "../model/names";
import { useCell, usePage, useStructure, useSummary, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { IconButton } from "../ui";

const t = texts.panels;

/** The values of the selected blocks' outputs; of all outputs that sessions fetch where none is selected. */
export function ValuesPanel() {
  const page = usePage();
  const selection = useCell(page.selection);
  useStructure();
  const chosen = [...selection].flatMap((id) => (id.startsWith("wire:") ? (page.model.wireAt(id.slice(5))?.from ?? []) : outputsOf(page.model, id)));
  const names = chosen.length ? chosen : fetched(page.model);
  if (!names.length) return <p className="w-hint w-pad">{t.noValues}</p>;
  return (
    <table className="w-table">
      <thead><tr><th scope="col">{t.name}</th><th scope="col">{t.shape}</th><th scope="col">{t.value}</th><th scope="col">{t.statistics}</th><th /></tr></thead>
      <tbody>{[...new Set(names)].slice(0, 200).map((name) => <Row key={name} name={name} />)}</tbody>
    </table>
  );
}

type Model = ReturnType<typeof usePage>["model"];

const outputsOf = (model: Model, id: string): string[] =>
  model.blocks.has(id) ? model.shape(id).rows.filter((row) => row.side === "out").map((row) => `${id}.${row.name}`) : [];

/** What ClientSession blocks fetch; else what nobody reads. */
function fetched(model: Model): string[] {
  const names: string[] = [];
  for (const wire of model.wires()) if (model.blocks.get(wire.target)?.block === "ClientSession" && parsePort(wire.to).port === "fetch_outputs") names.push(wire.from);
  if (names.length) return names;
  return model.ids.filter((id) => model.readersOf(id).size === 0).flatMap((id) => outputsOf(model, id));
}

function Row({ name }: { name: string }) {
  const workbench = useWorkbench();
  const value = useSummary(name);
  const show = (v: unknown): string => (v === undefined || v === null ? "" : typeof v === "number" ? String(Number(v.toPrecision(5))) : String(v));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{value ? `${shortType(value.dtype)} ${shapeText(value.shape)}` : ""}</td>
      <td className="w-mono" title={value && text(texts.canvas.ofRun, { run: value.generation })}>{value?.text ?? "—"}{value?.stale ? ` (${texts.canvas.states.stale})` : ""}</td>
      <td className="w-mono">{value?.min === undefined ? "" : `${show(value.min)} · ${show(value.mean)} · ${show(value.max)}`}{(value?.nan ?? 0) > 0 && <span className="w-badge w-badge-error">{value?.nan} NaN</span>}</td>
      <td className="w-cell-buttons">
        <IconButton small icon="table" label={`${t.inspect} ${name}`} disabled={!value} onClick={() => workbench.inspect.set(name)} />
        <IconButton small icon="chart" label={`${t.plot} ${name}`} onClick={() => workbench.plot(name)} />
      </td>
    </tr>
  );
}
