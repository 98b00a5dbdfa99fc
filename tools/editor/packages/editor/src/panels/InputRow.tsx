import { useState, type DragEvent } from "react";
import type { BlockSchema, PortSchema, TensorLiteral } from "@weft/client";
import { editLiteral, literalType, scalarOf } from "../actions/literals";
import { dtypesOf } from "../forms";
import { isLiteral, type PortRow } from "../model/geometry";
import { typeText } from "../model/names";
import { usePage, useWorkbench } from "../model/react";
import { castTensor, fromLiteral, readTensorFile, TensorEditor, toLiteral, type TensorValue } from "../tensor";
import { text, texts } from "../texts";
import { IconButton } from "../ui";

const t = texts.panels;

/** An input of the selected block: what is wired to it, or its value, which can be edited. */
export function InputRow({ id, row, port, schema }: { id: string; row: PortRow; port?: PortSchema; schema?: BlockSchema }) {
  const page = usePage();
  const workbench = useWorkbench();
  const [editing, setEditing] = useState<{ file?: File } | null>(null);
  const [dropping, setDropping] = useState(false);
  const name = `${id}.${row.name}`;
  const dtypes = dtypesOf(port, schema);
  const wire = page.model.wireAt(name);
  const written = page.model.inputAt(name);
  const literal = isLiteral(written) ? written : undefined;
  const given = literalType(page, name);
  const scalar = literal && scalarOf(literal, given);
  if (row.more && !row.label.startsWith("+ ")) {
    return <li className="w-port-row w-port-row-more"><IconButton small icon="plus" label={`${t.connect} ${name}`} onClick={() => workbench.ask("connect", name)} /><span className="w-hint">{row.name}</span></li>;
  }
  const fitted = (tensor: TensorValue) => (dtypes.includes(tensor.dtype) ? { tensor, wrong: 0 } : castTensor(tensor, dtypes[0] ?? tensor.dtype));
  const save = (tensor: TensorValue): void => {
    const value = toLiteral(fitted(tensor).tensor) as TensorLiteral;
    void page.edit([row.more ? { op: "connect", value, to: name } : { op: "set", input: name, value }], text(texts.edits.set, { what: name }));
  };
  const drop = (event: DragEvent): void => {
    const file = event.dataTransfer.files[0];
    setDropping(false);
    if (!file) return;
    event.preventDefault();
    // What cannot be read whole is shown by the editor, with the reason.
    const show = (): void => setEditing({ file });
    void readTensorFile(file, dtypes[0] ?? "DT_FLOAT").then(({ tensor, problem }) => (problem || fitted(tensor).wrong > 0 ? show() : save(tensor)), show);
  };
  const takesFiles = !wire && !port?.kind;
  return (
    <li
      className={`w-port-row ${dropping ? "w-forms-drop" : ""}`} title={row.doc ?? port?.doc} onDragLeave={() => setDropping(false)}
      onDragOver={(event) => { if (takesFiles && event.dataTransfer.types.includes("Files")) { event.preventDefault(); setDropping(true); } }} onDrop={takesFiles ? drop : undefined}
    >
      <div className="w-port-row-head">
        <span className="w-port-name">{row.name}</span>
        <span className="w-port-type">{wire ? typeText(page.model.types.get(wire.from)) : literal ? typeText(literal) : row.optional ? t.optional : ""}</span>
        {(wire || row.literal !== undefined) && <IconButton small icon="close" label={`${t.disconnect} ${name}`} onClick={() => void page.edit([{ op: "disconnect", to: name }], text(texts.edits.disconnect, { what: name }))} />}
        {!wire && <IconButton small icon="link" label={`${t.connect} ${name}`} onClick={() => workbench.ask("connect", name)} />}
        {!wire && !port?.kind && <IconButton small icon="table" label={`${literal ? t.editValue : t.setValue}: ${name}`} onClick={() => setEditing({})} />}
      </div>
      {wire && (
        <button type="button" className="w-link w-port-from" onClick={() => { page.select([wire.source]); workbench.reveal([wire.source]); }}>{text(t.wired, { port: wire.from })}</button>
      )}
      {scalar && <ScalarField name={name} stored={scalar.text} dtype={scalar.dtype} />}
      {literal && !scalar && <button type="button" className="w-port-value-line" onClick={() => setEditing({})}>{row.literal}</button>}
      {!literal && row.literal !== undefined && <span className="w-port-missing">{row.literal}</span>}
      {!wire && !literal && row.literal === undefined && !row.optional && !row.more && <span className="w-port-missing">{t.notWired}</span>}
      {editing && (
        <TensorEditor
          name={name} tensor={readLiteral(literal, given)} dtypes={dtypes} file={editing.file} onClose={() => setEditing(null)}
          onSave={(tensor) => {
            setEditing(null);
            save(tensor);
          }}
        />
      )}
    </li>
  );
}

function readLiteral(literal: TensorLiteral | undefined, dtype: string | undefined) {
  if (!literal) return undefined;
  try {
    return fromLiteral(literal, dtype);
  } catch {
    return undefined;
  }
}

function ScalarField({ name, stored, dtype }: { name: string; stored: string; dtype: string }) {
  const page = usePage();
  const [draft, setDraft] = useState<string | null>(null);
  const done = (): void => {
    if (draft !== null && draft !== stored) void editLiteral(page, name, draft);
    setDraft(null);
  };
  if (dtype === "DT_BOOL") {
    return <label className="w-check"><input type="checkbox" checked={stored === "true"} onChange={(event) => void editLiteral(page, name, String(event.target.checked))} />{name}</label>;
  }
  return (
    <input
      className="w-input w-input-mono" aria-label={text(texts.canvas.valueOf, { port: name })} value={draft ?? stored} onChange={(event) => setDraft(event.target.value)}
      onBlur={done} onKeyDown={(event) => {
        if (event.key === "Enter") done();
        if (event.key === "Escape") setDraft(null);
      }}
    />
  );
}
