/** The inputs of a block: what is wired, values that stand on the page, and what is missing. */
import { useState, type DragEvent, type ReactNode } from "react";
import type { BlockSchema, InputValue, PortSchema, TensorLiteral } from "@weft/client";
import { castTensor, countOf, fromLiteral, LITERAL_DTYPES, literalText, readTensorFile, shapeText, shortDType, TensorEditor, toLiteral, type TensorValue } from "../tensor";
import { text } from "../texts";
import { Icon, IconButton } from "../ui";
import { LiteralLine } from "./LiteralLine";
import { formTexts } from "./texts";
import "./forms.css";

export interface InputFormProps {
  /** The block's id, for names of values. */
  block: string;
  schema: BlockSchema;
  inputs: Readonly<Record<string, InputValue>> | undefined;
  /** The server's messages by port, "values" or "values[1]". */
  faults?: Readonly<Record<string, string>>;
  /** Type and shape that the engine found for what is wired, by port. */
  found?: Readonly<Record<string, string>>;
  readOnly?: boolean;
  /** A value for "x" or "values[1]"; undefined disconnects it, or takes the value away. */
  onSet(port: string, value: TensorLiteral | undefined): void;
  /** Shows the block at the other end of a wire. */
  onGoTo(from: string): void;
  /** Opens "connect to..." for the port. */
  onConnect?(port: string): void;
}

/** Element types that a value for the port can have. */
export function dtypesOf(port: PortSchema, schema: BlockSchema): readonly string[] {
  if (port.type?.startsWith("DT_")) return [port.type];
  const attr = schema.attrs.find((each) => each.name === (port.type_attr ?? port.variable_type_attr));
  const allowed = attr?.allowed?.filter((dtype) => LITERAL_DTYPES.includes(dtype)) ?? [];
  if (allowed.length === 0) return LITERAL_DTYPES;
  // What people mean mostly comes first.
  return [...allowed].sort((a, b) => rank(a) - rank(b));
}

const rank = (dtype: string) => { const at = LITERAL_DTYPES.indexOf(dtype); return dtype === "DT_INT32" ? 1.5 : at; };

/** Each port with its wire, value or neither; ports that lists are wired to have a line for each element. */
export function InputForm(props: InputFormProps) {
  const { schema, inputs = {} } = props;
  const extra = Object.keys(inputs).filter((name) => !schema.inputs.some((port) => port.port === name));
  return (
    <div className="w-forms w-forms-inputs">
      {schema.inputs.map((port) => <PortRow key={port.port} {...props} port={port} value={inputs[port.port]} />)}
      {extra.map((name) => <PortRow key={name} {...props} port={{ port: name, doc: "" }} value={inputs[name]} />)}
    </div>
  );
}

type PortRowProps = InputFormProps & { port: PortSchema; value: InputValue | undefined };

function PortRow(props: PortRowProps) {
  const { port, value, schema, faults = {}, found = {} } = props;
  const elements = Array.isArray(value) ? value : undefined;
  const kind = port.type ? shortDType(port.type) : port.kind ?? "";
  const notes = [kind, port.list && "list", port.optional && formTexts.optional].filter(Boolean).join(", ");
  return (
    <div className="w-forms-input" role="group" aria-label={port.port}>
      <div className="w-forms-input-head">
        <b title={port.doc}>{port.port}</b>
        <small title={port.doc}>{[notes, port.doc].filter(Boolean).join(" · ")}</small>
      </div>
      {elements
        ? elements.map((element, i) => <InputLine key={i} {...props} name={`${port.port}[${i}]`} value={element} index={i} dtypes={dtypesOf(port, schema)} found={found} />)
        : <InputLine {...props} name={port.port} value={value ?? undefined} dtypes={dtypesOf(port, schema)} found={found} />}
      {Object.entries(faults).filter(([name]) => name === port.port || name.startsWith(`${port.port}[`)).map(([name, fault]) => (
        <p key={name} className="w-field-fault"><Icon name="error" size={14} />{name === port.port ? fault : `${name}: ${fault}`}</p>
      ))}
    </div>
  );
}

type InputLineProps = Omit<PortRowProps, "value"> & { name: string; value: InputValue | undefined; index?: number; dtypes: readonly string[] };

function InputLine(props: InputLineProps) {
  const { name, value, index, block, dtypes, port, readOnly, found = {}, onSet, onGoTo, onConnect } = props;
  const [editing, setEditing] = useState(false);
  const [dropping, setDropping] = useState(false);
  const isValue = port.kind === undefined && !port.reference;
  const literal = typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  const tensor = literal && fromLiteral(literal);
  const save = (next: TensorValue) => onSet(name, toLiteral(dtypes.includes(next.dtype) ? next : castTensor(next, dtypes[0] ?? "DT_FLOAT").tensor));
  const drop = async (event: DragEvent) => {
    const file = event.dataTransfer.files[0];
    event.preventDefault();
    setDropping(false);
    if (!file) return;
    // A file that cannot be read is told by the editor, which can take another.
    await readTensorFile(file, dtypes[0] ?? "DT_FLOAT").then(({ tensor: read, problem }) => (problem ? setEditing(true) : save(read)), () => setEditing(true));
  };
  const takesFiles = isValue && !readOnly && typeof value !== "string";
  return (
    <div
      className={`w-forms-line ${dropping ? "w-forms-drop" : ""}`} title={takesFiles ? formTexts.dropFile : undefined}
      onDragOver={takesFiles ? (event) => { event.preventDefault(); setDropping(true); } : undefined} onDragLeave={() => setDropping(false)}
      onDrop={takesFiles ? (event) => void drop(event) : undefined}
    >
      {index !== undefined && <span className="w-forms-index">{index}</span>}
      {typeof value === "string" && <Wire from={value} type={found[name]} onGoTo={onGoTo} />}
      {literal && (tensor && countOf(tensor.shape) === 1
        ? <LiteralLine key={name} label={`${block}.${name}`} tensor={tensor} dtypes={dtypes} readOnly={readOnly} onSet={save} />
        : <Summary literal={literal} tensor={tensor} />)}
      {value === undefined && <span className="w-forms-muted">{formTexts.noValue}</span>}
      {!readOnly && (
        <Actions
          canEdit={isValue && typeof value !== "string" && (literal === undefined || tensor !== undefined)} hasValue={literal !== undefined} name={name} isWired={typeof value === "string"}
          onEdit={() => setEditing(true)} onClear={value === undefined ? undefined : () => onSet(name, undefined)} onConnect={onConnect && (() => onConnect(name))}
        />
      )}
      {editing && <TensorEditor name={`${block}.${name}`} tensor={tensor} dtypes={dtypes} onClose={() => setEditing(false)} onSave={(next) => { save(next); setEditing(false); }} />}
    </div>
  );
}

function Wire({ from, type, onGoTo }: { from: string; type?: string; onGoTo(from: string): void }) {
  return (
    <button type="button" className="w-link" title={text(formTexts.wiredFrom, { from })} onClick={() => onGoTo(from)}>
      {from}{type && <span className="w-forms-muted"> {type}</span>}
    </button>
  );
}

function Summary({ literal, tensor }: { literal: TensorLiteral; tensor: TensorValue | undefined }) {
  const type = literal.dtype ? `${shortDType(literal.dtype)} ${shapeText(tensor?.shape ?? literal.shape ?? [])} ` : "";
  const shown: ReactNode = literal.file !== undefined ? text(formTexts.inFile, { file: literal.file }) : literalText(literal, 12);
  return <span className="w-forms-summary" title={literalText(literal, 40)}><span className="w-forms-muted">{type}</span>{shown}</span>;
}

interface ActionsProps {
  canEdit: boolean;
  hasValue: boolean;
  isWired: boolean;
  name: string;
  onEdit(): void;
  onClear?(): void;
  onConnect?(): void;
}

function Actions({ canEdit, hasValue, isWired, name, onEdit, onClear, onConnect }: ActionsProps) {
  const label = (what: string) => `${what} (${name})`;
  return (
    <>
      {canEdit && <IconButton small icon={hasValue ? "table" : "edit"} label={label(hasValue ? formTexts.editTable : formTexts.setValue)} onClick={onEdit} />}
      {onConnect && <IconButton small icon="link" label={label(formTexts.connect)} onClick={onConnect} />}
      {onClear && <IconButton small icon="close" label={label(isWired ? formTexts.disconnect : formTexts.clear)} onClick={onClear} />}
    </>
  );
}
