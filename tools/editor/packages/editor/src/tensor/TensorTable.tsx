/** A tensor as a table: a plane at a time, to be read, copied, and edited where a change is wanted. */
import { useEffect, useId, useMemo, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { text } from "../texts";
import { requireDType } from "./dtype";
import { checkElement, textAt } from "./format";
import { pasteCells, readCells, writeCells } from "./cells";
import { Grid } from "./Grid";
import { cellsText, parseCells } from "./paste";
import { clampLead, leadAxes, leadOf, moveCell, placeText, planeOf, rangeOf, type Cell, type Plane } from "./plane";
import { SliceBar } from "./SliceBar";
import { countOf, numberAt, type TensorValue } from "./tensor";
import { tensorTexts } from "./texts";
import "./tensor.css";

export interface TensorTableProps {
  tensor: TensorValue;
  /** Of the value, for screen readers. */
  name: string;
  /** Where given, cells can be edited; it gets the changed tensor. */
  onEdit?(tensor: TensorValue): void;
  /** Pasting makes the tensor larger where it must. */
  growable?: boolean;
  /** An element to go to; a new object goes there again. */
  goTo?: { index: number };
  /** Has the focus first in a dialog. */
  autoFocus?: boolean;
  /** Told what happened, such as what was copied. A hidden live region does it where left out. */
  announce?(message: string): void;
}

/** Width of columns by the longest of some elements. */
function columnWidth(tensor: TensorValue, plane: Plane): number {
  const count = countOf(tensor.shape);
  const step = Math.max(1, Math.floor(count / 300));
  let longest = String(plane.columns).length;
  for (let i = 0; i < count; i += step) longest = Math.max(longest, textAt(tensor, i).length);
  return Math.min(220, Math.max(52, Math.ceil(longest * 7.3) + 18));
}

const ORIGIN: Cell = { row: 0, column: 0 };

/** Slices above, the grid, and below it the place and full text of the active cell. */
export function TensorTable({ tensor, name, onEdit, growable = false, goTo, autoFocus, announce }: TensorTableProps) {
  const { shape } = tensor;
  const [lead, setLead] = useState<number[]>([]);
  const [active, setActive] = useState<Cell>(ORIGIN);
  const [anchor, setAnchor] = useState<Cell>(ORIGIN);
  const [draft, setDraft] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const say = announce ?? setSaid;
  const holder = useRef<HTMLDivElement>(null);
  const helpId = useId();
  const here = clampLead(shape, lead);
  const plane = useMemo(() => planeOf(shape, here), [shape.join(), here.join()]); // eslint-disable-line react-hooks/exhaustive-deps
  const width = useMemo(() => columnWidth(tensor, plane), [tensor.dtype, shape.join()]); // eslint-disable-line react-hooks/exhaustive-deps
  const cell = { row: Math.min(active.row, Math.max(0, plane.rows - 1)), column: Math.min(active.column, Math.max(0, plane.columns - 1)) };
  const selection = rangeOf(cell, { row: Math.min(anchor.row, plane.rows - 1), column: Math.min(anchor.column, plane.columns - 1) });

  const go = (to: Cell, extend = false) => {
    setActive(to);
    if (!extend) setAnchor(to);
  };
  useEffect(() => {
    if (!goTo) return;
    const to = leadOf(shape, goTo.index);
    setLead(to);
    const found = planeOf(shape, to).cellOf(goTo.index);
    if (found) go(found);
  }, [goTo]); // eslint-disable-line react-hooks/exhaustive-deps

  const focusGrid = () => holder.current?.querySelector<HTMLElement>('[role="grid"]')?.focus();
  const index = plane.rows > 0 ? plane.indexAt(cell.row, cell.column) : -1;
  const fault = draft === null ? undefined : checkElement(tensor.dtype, draft);
  const leave = () => {
    if (draft !== null && fault === undefined && onEdit) onEdit(writeCells(tensor, plane, cell, [[draft]]).tensor);
    setDraft(null);
  };
  const commit = (to?: Cell) => {
    leave();
    if (to) go(to);
    focusGrid();
  };
  const copy = (event: ClipboardEvent) => {
    if (draft !== null) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", cellsText(readCells(tensor, plane, selection)));
    say(text(tensorTexts.copied, { rows: selection.bottom - selection.top + 1, columns: selection.right - selection.left + 1 }));
  };
  const write = (cells: string[][], at: Cell) => {
    const result = pasteCells(tensor, here, at, cells, selection, growable);
    onEdit?.(result.tensor);
    const parts = [text(tensorTexts.pasted, { count: result.written })];
    if (result.wrong) parts.push(text(tensorTexts.wrongCells, { count: result.wrong, first: result.firstProblem ?? "" }));
    if (result.outside) parts.push(text(tensorTexts.tooManyCells, { count: result.outside }));
    say(parts.join(". "));
  };
  const key = (event: KeyboardEvent, page: number) => {
    if (draft !== null) return;
    const to = moveCell(cell, event, plane, page);
    const editable = onEdit !== undefined && index >= 0;
    if (to) go(to, event.shiftKey);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      setAnchor(ORIGIN);
      setActive({ row: plane.rows - 1, column: plane.columns - 1 });
    } else if (editable && (event.key === "Enter" || event.key === "F2")) setDraft(textAt(tensor, index));
    else if (editable && (event.key === "Delete" || event.key === "Backspace")) write([[textAt({ ...tensor, data: requireDType(tensor.dtype).make(1) }, 0)]], { row: selection.top, column: selection.left });
    else if (editable && event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) setDraft(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isText = requireDType(tensor.dtype).kind === "string";
  const show = (row: number, column: number) => {
    const at = plane.indexAt(row, column);
    if (at < 0) return undefined;
    const shown = textAt(tensor, at);
    if (isText) return { text: shown, kind: "text" as const };
    return { text: shown, kind: /nan|inf/.test(shown) ? ("nan" as const) : numberAt(tensor, at) === 0 ? ("zero" as const) : undefined };
  };

  if (countOf(shape) === 0) return <p className="w-tensor-none">{tensorTexts.noElements}</p>;
  return (
    <div className="w-tensor-table" ref={holder}>
      {leadAxes(shape).length > 0 && <SliceBar shape={shape} axes={leadAxes(shape)} place={here} onPlace={setLead} />}
      <Grid
        rows={plane.rows} columns={plane.columns} columnWidth={width} headWidth={Math.max(36, String(plane.rowLabel(plane.rows - 1)).length * 7.3 + 18)}
        label={text(tensorTexts.gridLabel, { name })} describedBy={helpId} active={cell} selection={selection} readOnly={!onEdit} autoFocus={autoFocus} rowLabel={plane.rowLabel}
        cellAt={show} onPress={(to, extend) => { if (draft !== null) commit(); go(to, extend); }} onOpen={(to) => { if (onEdit) { go(to); setDraft(textAt(tensor, plane.indexAt(to.row, to.column))); } }}
        onKey={key} onCopy={copy}
        onPaste={onEdit && ((event) => {
          if (draft !== null) return;
          event.preventDefault();
          write(parseCells(event.clipboardData.getData("text/plain")), { row: selection.top, column: selection.left });
        })}
        editor={draft !== null && (
          <CellEditor
            value={draft} fault={fault} label={placeText(shape, here, index, cell)} onChange={setDraft} onLeave={leave} onCancel={() => { setDraft(null); focusGrid(); }}
            onCommit={(direction) => commit(moveCell(cell, { key: direction, ctrlKey: false, metaKey: false }, plane, 1))}
          />
        )}
      />
      <p className="w-tensor-status">
        <code>{index >= 0 && placeText(shape, here, index, cell)}</code>
        {draft !== null && fault ? <span className="w-tensor-fault">{fault}</span> : <output>{index >= 0 && textAt(tensor, index)}</output>}
        <span id={helpId} className="w-tensor-help">{onEdit ? tensorTexts.gridEditHelp : tensorTexts.gridHelp}</span>
      </p>
      <div className="w-visually-hidden" role="status">{said}</div>
    </div>
  );
}

interface CellEditorProps {
  value: string;
  fault: string | undefined;
  label: string;
  onChange(value: string): void;
  /** The key that says where to go next. */
  onCommit(direction: string): void;
  /** The focus went elsewhere, as to a button that takes the whole table. */
  onLeave(): void;
  onCancel(): void;
}

function CellEditor({ value, fault, label, onChange, onCommit, onLeave, onCancel }: CellEditorProps) {
  const ended = useRef(false);
  return (
    <input
      className="w-tensor-editor" value={value} autoFocus aria-label={label} aria-invalid={fault ? true : undefined} spellCheck={false}
      onFocus={(event) => event.target.setSelectionRange(value.length, value.length)} onChange={(event) => onChange(event.target.value)}
      onPointerDown={(event) => event.stopPropagation()} onBlur={() => { if (!ended.current && !fault) onLeave(); }}
      onKeyDown={(event) => {
        event.stopPropagation();
        ended.current = event.key === "Escape" || (!fault && (event.key === "Enter" || event.key === "Tab"));
        if (event.key === "Escape") onCancel();
        else if (event.key === "Enter" && !fault) onCommit(event.shiftKey ? "ArrowUp" : "ArrowDown");
        else if (event.key === "Tab" && !fault) onCommit(event.shiftKey ? "ArrowLeft" : "ArrowRight");
        else if (event.key !== "Enter" && event.key !== "Tab") return;
        event.preventDefault();
      }}
    />
  );
}
