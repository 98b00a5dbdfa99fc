/** A dialog that makes or changes a value: type, shape, table, paste, and files that are dropped. */
import { useEffect, useState, type DragEvent } from "react";
import { text } from "../texts";
import { Button, Dialog } from "../ui";
import { castTensor, reshapeTensor, tensorOfCells } from "./cells";
import { LITERAL_DTYPES, shortDType } from "./dtype";
import { parseNpy } from "./npy";
import { parseCells } from "./paste";
import { countOf, shapeText, zeros, type TensorValue } from "./tensor";
import { TensorTable } from "./TensorTable";
import { tensorTexts } from "./texts";
import "./tensor.css";

/** More elements than this belong in a file beside the page. */
const MOST_ELEMENTS = 1_000_000;

export interface TensorEditorProps {
  /** Of the value: "x.value". */
  name: string;
  /** Undefined begins with a scalar. */
  tensor: TensorValue | undefined;
  /** Types that may be chosen; all where left out. */
  dtypes?: readonly string[];
  /** Why the value cannot be set now; it may pass. */
  blocked?: string;
  /** Is read at once. */
  file?: File;
  onSave(tensor: TensorValue): void;
  onClose(): void;
}

/** The tensor in a file that was dropped or chosen: .npy, or cells as text. */
export async function readTensorFile(file: File, dtype: string): Promise<{ tensor: TensorValue; problem?: string }> {
  if (/\.npy$/i.test(file.name)) return { tensor: parseNpy(await file.arrayBuffer()) };
  const { tensor, wrong, firstProblem } = tensorOfCells(dtype, parseCells(await file.text()));
  return { tensor, problem: wrong > 0 ? text(tensorTexts.castTo, { count: wrong, type: shortDType(dtype), first: firstProblem ?? "" }) : undefined };
}

/** Edits a copy; what was entered is handed over by "Set value" alone. */
export function TensorEditor({ name, tensor, dtypes = LITERAL_DTYPES, blocked, file: given, onSave, onClose }: TensorEditorProps) {
  const [value, setValue] = useState<TensorValue>(() => tensor ?? zeros(dtypes[0] ?? "DT_FLOAT", []));
  const [message, setMessage] = useState<{ text: string; bad?: boolean }>({ text: tensorTexts.dropHelp });
  const [dropping, setDropping] = useState(false);
  const cast = (dtype: string, from = value) => {
    const result = castTensor(from, dtype);
    setValue(result.tensor);
    if (result.wrong > 0) setMessage({ bad: true, text: text(tensorTexts.castTo, { count: result.wrong, type: shortDType(dtype), first: result.firstProblem ?? "" }) });
  };
  const take = async (file: File) => {
    try {
      const { tensor: read, problem } = await readTensorFile(file, value.dtype);
      setMessage(problem ? { text: problem, bad: true } : { text: text(tensorTexts.read, { file: file.name, type: shortDType(read.dtype), shape: shapeText(read.shape) }) });
      if (dtypes.includes(read.dtype)) setValue(read);
      else cast(dtypes[0] ?? "DT_FLOAT", read);
    } catch (error) {
      setMessage({ bad: true, text: text(tensorTexts.wrongFile, { file: file.name, problem: error instanceof Error ? error.message : String(error) }) });
    }
  };
  useEffect(() => { if (given) void take(given); }, [given]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    const file = event.dataTransfer.files[0];
    if (file) void take(file);
  };
  return (
    <Dialog
      title={text(tensorTexts.editTitle, { name })} width="l" onClose={onClose} closeOnBackdrop={false}
      footer={<><Button onClick={onClose}>{tensorTexts.cancel}</Button><Button look="primary" disabled={blocked !== undefined} onClick={() => onSave(value)}>{tensorTexts.save}</Button></>}
    >
      <div
        className={`w-tensor-edit ${dropping ? "w-tensor-dropping" : ""}`}
        onDragOver={(event) => { event.preventDefault(); setDropping(true); }} onDragLeave={() => setDropping(false)} onDrop={drop}
      >
        <div className="w-tensor-edit-bar">
          <label>{tensorTexts.type}
            <select className="w-select" value={value.dtype} onChange={(event) => cast(event.target.value)}>
              {[...new Set([...dtypes, value.dtype])].map((dtype) => <option key={dtype} value={dtype}>{shortDType(dtype)}</option>)}
            </select>
          </label>
          <ShapeField key={value.shape.join()} shape={value.shape} onShape={(shape) => setValue(reshapeTensor(value, shape))} />
          <label className="w-link">
            <input type="file" accept=".npy,.csv,.tsv,.txt,.json" className="w-visually-hidden" onChange={(event) => { const file = event.target.files?.[0]; if (file) void take(file); }} />
            {tensorTexts.choose}
          </label>
        </div>
        <TensorTable tensor={value} name={name} autoFocus growable onEdit={setValue} announce={(said) => setMessage({ text: said, bad: said.includes("not fit") })} />
        <p className="w-tensor-message" role="status" data-bad={message.bad || blocked !== undefined || undefined}>{blocked ?? message.text}</p>
      </div>
    </Dialog>
  );
}

/** The shape as text: "2, 3"; empty for a scalar. */
export function parseShape(written: string): number[] | undefined {
  const bare = written.trim().replace(/^[[({]+|[\])}]+$/g, "").trim();
  if (bare === "" || bare === "scalar") return [];
  if (!/^\d+(\s*([,;x×\s]|\]\s*\[)\s*\d+)*$/.test(bare)) return undefined;
  const sizes = bare.split(/\D+/).map(Number);
  return countOf(sizes) <= MOST_ELEMENTS ? sizes : undefined;
}

function ShapeField({ shape, onShape }: { shape: readonly number[]; onShape(shape: number[]): void }) {
  const [written, setWritten] = useState(shape.join(", "));
  const parsed = parseShape(written);
  const commit = () => { if (parsed && parsed.join() !== shape.join()) onShape(parsed); };
  return (
    <label>{tensorTexts.shape}
      <input
        className="w-input w-input-mono" value={written} placeholder="scalar" aria-invalid={parsed ? undefined : true} spellCheck={false}
        title={parsed ? undefined : text(tensorTexts.wrongShape, { most: MOST_ELEMENTS })}
        onChange={(event) => setWritten(event.target.value)} onBlur={commit} onKeyDown={(event) => { if (event.key === "Enter") { event.preventDefault(); commit(); } }}
      />
    </label>
  );
}
