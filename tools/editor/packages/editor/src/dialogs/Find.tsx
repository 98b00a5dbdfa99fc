import { useEffect, useState } from "react";
import { connect } from "../canvas/connect";
import { typeText } from "../model/names";
import { usePage, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Field } from "../ui";
import { ChoiceDialog, type Choice } from "./List";

const t = texts.dialogs;

/** Finds a block by id, type or note, and goes there. */
export function FindDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const find = (query: string): Choice[] => {
    const wanted = query.trim().toLowerCase();
    const rank = (id: string): number => (id.toLowerCase() === wanted ? 0 : id.toLowerCase().startsWith(wanted) ? 1 : 2);
    return [...page.model.blocks.values()]
      .filter((b) => `${b.id} ${b.block} ${typeof b["note"] === "string" ? b["note"] : ""}`.toLowerCase().includes(wanted))
      .sort((a, b) => rank(a.id) - rank(b.id))
      .map((b) => ({ key: b.id, label: b.id, detail: b.block }));
  };
  return (
    <ChoiceDialog
      title={t.findTitle} placeholder={t.findHint} find={find} onClose={() => workbench.dialog.set(null)}
      onChoose={(id) => {
        workbench.dialog.set(null);
        page.select([id]);
        workbench.reveal([id]);
        workbench.announce(id);
      }}
    />
  );
}

/** Wires a block or port by the keyboard: a port of the block, then what fits it. */
export function ConnectDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const subject = workbench.dialogSubject ?? page.selectedBlocks()[0]?.id ?? "";
  const block = page.model.blocks.has(subject) ? subject : subject.slice(0, subject.lastIndexOf("."));
  const rows = page.model.blocks.has(block) ? page.model.shape(block).rows : [];
  const ports = [...rows.filter((r) => r.side === "out"), ...rows.filter((r) => r.side === "in")].map((r) => ({ name: `${block}.${r.name}`, side: r.side }));
  if (ports.length && !ports.some((p) => p.name === `${block}.operation`)) ports.push({ name: `${block}.operation`, side: "out" });
  const first = ports.find((p) => p.name === subject) ?? ports[0];
  const [port, setPort] = useState(first);
  const [fits, setFits] = useState<string[] | null>(null);
  useEffect(() => {
    setFits(null);
    if (!port) return;
    page.api.fits(port.side === "out" ? { from: port.name } : { to: port.name }).then((answer) => setFits((port.side === "out" ? answer.inputs : answer.outputs) ?? []), page.report);
  }, [page, port]);
  const find = (query: string): Choice[] => (fits ?? [])
    .filter((name) => name.toLowerCase().includes(query.trim().toLowerCase()))
    .sort((a, b) => Number(Boolean(page.model.wireAt(a))) - Number(Boolean(page.model.wireAt(b))))
    .map((name) => ({ key: name, label: name, detail: page.model.wireAt(name) ? text(texts.panels.wired, { port: page.model.wireAt(name)?.from ?? "" }) : typeText(page.model.types.get(name)) }));
  const choose = async (other: string): Promise<void> => {
    if (!port) return;
    workbench.dialog.set(null);
    const [from, to] = port.side === "out" ? [port.name, other] : [other, port.name];
    if (await connect(page, from, to, true)) workbench.announce(`${from} → ${to}`);
  };
  return (
    <ChoiceDialog
      title={text(t.connectTitle, { block })} placeholder={t.connectTo} find={find} onChoose={(name) => void choose(name)} onClose={() => workbench.dialog.set(null)}
      empty={fits === null ? texts.palette.checking : t.noFits}
    >
      <Field label={text(t.connectFrom, { block })}>
        {(ids) => (
          <select {...ids} className="w-select" value={port?.name} onChange={(event) => setPort(ports.find((p) => p.name === event.target.value))}>
            {ports.map((p) => <option key={p.name} value={p.name}>{p.side === "out" ? "→ " : "← "}{p.name}</option>)}
          </select>
        )}
      </Field>
    </ChoiceDialog>
  );
}
