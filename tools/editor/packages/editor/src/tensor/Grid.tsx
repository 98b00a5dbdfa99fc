/** A table of elements of which only those in view are mounted. */
import { useEffect, useId, useRef, type ReactNode } from "react";
import { useView, windowOf } from "../ui";
import type { Cell, Range } from "./plane";

export interface GridProps {
  rows: number;
  columns: number;
  rowHeight?: number;
  columnWidth: number;
  headWidth: number;
  label: string;
  describedBy?: string;
  active: Cell;
  selection: Range;
  readOnly: boolean;
  /** Has the focus first in a dialog. */
  autoFocus?: boolean;
  rowLabel(row: number): string;
  /** Text of a cell, and whether it stands out. Undefined: there is none. */
  cellAt(row: number, column: number): { text: string; kind?: "nan" | "zero" | "text" } | undefined;
  /** Shown in place of the active cell's text while it is edited. */
  editor?: ReactNode;
  onPress(cell: Cell, extend: boolean): void;
  onOpen(cell: Cell): void;
  /** Told how many rows a page has. */
  onKey(event: React.KeyboardEvent, page: number): void;
  onCopy(event: React.ClipboardEvent): void;
  onPaste?(event: React.ClipboardEvent): void;
}

/** Browsers lay out no more than about 30 million pixels; longer tables are scrolled in proportion. */
const MOST_PIXELS = 8_000_000;

/** The active cell is told by aria-activedescendant, so that scrolling never loses the focus. */
export function Grid(props: GridProps) {
  const { rows, columns, rowHeight = 24, columnWidth, headWidth, label, active, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const view = useView(scroller);
  const base = useId();
  const pressing = useRef(false);
  const whole = rows * rowHeight;
  const height = Math.min(whole, MOST_PIXELS);
  const room = Math.max(1, view.height - rowHeight);
  // Scrolled pixels times `ratio` are pixels of the whole table.
  const ratio = height <= room ? 1 : Math.max(1, (whole - room) / (height - room));
  const seen = windowOf(rows, rowHeight, view.top * ratio, room, 2);
  const across = windowOf(columns, columnWidth, view.left, view.width - headWidth, 1);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const top = active.row * rowHeight, shown = element.scrollTop * ratio;
    const space = (element.clientHeight || 400) - rowHeight;
    if (top < shown) element.scrollTop = top / ratio;
    else if (top + rowHeight > shown + space) element.scrollTop = (top + rowHeight - space) / ratio + 1;
    const left = active.column * columnWidth, width = (element.clientWidth || 600) - headWidth;
    if (left < element.scrollLeft) element.scrollLeft = left;
    else if (left + columnWidth > element.scrollLeft + width) element.scrollLeft = left + columnWidth - width;
  }, [active.row, active.column, rowHeight, columnWidth, headWidth, ratio]);

  const list = (from: number, end: number) => Array.from({ length: end - from }, (_, i) => from + i);
  const rowNumbers = list(seen.first, seen.end), columnNumbers = list(across.first, across.end);
  return (
    <div
      ref={scroller} role="grid" tabIndex={0} className="w-tensor-grid" aria-label={label} aria-describedby={props.describedBy} aria-readonly={props.readOnly} data-autofocus={props.autoFocus || undefined}
      aria-rowcount={rows + 1} aria-colcount={columns + 1} aria-multiselectable="true" aria-activedescendant={`${base}-${active.row}-${active.column}`}
      onKeyDown={(event) => props.onKey(event, Math.max(1, Math.floor(room / rowHeight) - 1))} onCopy={props.onCopy} onPaste={props.onPaste}
      onPointerUp={() => { pressing.current = false; }} onPointerCancel={() => { pressing.current = false; }}
    >
      <div role="presentation" className="w-tensor-space" style={{ width: headWidth + columns * columnWidth, height: height + rowHeight }}>
        <div role="row" aria-rowindex={1} className="w-tensor-row w-tensor-heads" style={{ height: rowHeight }}>
          <span role="columnheader" className="w-tensor-corner" style={{ width: headWidth }}><span className="w-visually-hidden">{label}</span></span>
          {columnNumbers.map((column) => (
            <span key={column} role="columnheader" aria-colindex={column + 2} className="w-tensor-head" data-active={column === active.column || undefined}
              style={{ left: headWidth + column * columnWidth, width: columnWidth }}>{column}</span>
          ))}
        </div>
        {rowNumbers.map((row) => (
          <div key={row} role="row" aria-rowindex={row + 2} className="w-tensor-row"
            style={{ top: rowHeight + view.top + row * rowHeight - view.top * ratio, height: rowHeight }}>
            <span role="rowheader" className="w-tensor-head w-tensor-rowhead" style={{ width: headWidth }} data-active={row === active.row || undefined}>{props.rowLabel(row)}</span>
            {columnNumbers.map((column) => {
              const cell = props.cellAt(row, column);
              const isActive = row === active.row && column === active.column;
              const inside = row >= selection.top && row <= selection.bottom && column >= selection.left && column <= selection.right;
              return (
                <span
                  key={column} id={`${base}-${row}-${column}`} role="gridcell" aria-colindex={column + 2} aria-selected={inside}
                  className={`w-tensor-cell ${cell?.kind ? `w-tensor-${cell.kind}` : ""}`} data-active={isActive || undefined} data-selected={inside || undefined}
                  style={{ left: headWidth + column * columnWidth, width: columnWidth }} title={cell && cell.text.length * 7.3 > columnWidth ? cell.text : undefined}
                  onPointerDown={(event) => {
                    if (event.button !== 0 || !cell) return;
                    pressing.current = event.pointerType === "mouse";
                    props.onPress({ row, column }, event.shiftKey);
                  }}
                  onPointerEnter={() => { if (pressing.current && cell) props.onPress({ row, column }, true); }}
                  onDoubleClick={() => props.onOpen({ row, column })}
                >
                  {isActive && props.editor ? props.editor : cell?.text}
                </span>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
