/** A tree of many rows, of which only those in view are mounted; driven by the keys of the ARIA tree pattern. */
import { useEffect, useId, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { Icon } from "./Icon";
import { scrollToItem, useView, windowOf } from "./virtual";
import "./ui.css";

/** A visible row: the rows of collapsed parents are not given. */
export interface TreeRow {
  readonly id: string;
  /** 1 for the outermost. */
  readonly level: number;
  readonly label: string;
  /** Undefined for a leaf. */
  readonly expanded?: boolean;
  readonly selected?: boolean;
  /** Place among its siblings, counted from 1, and how many there are. */
  readonly place: number;
  readonly siblings: number;
}

export interface TreeProps<Row extends TreeRow> {
  rows: readonly Row[];
  label: string;
  /** The row that has the focus when the tree has it. */
  active: string | undefined;
  onActive(id: string): void;
  onToggle(id: string, expanded: boolean): void;
  /** Click, Enter or Space. */
  onChoose(id: string, event: MouseEvent | KeyboardEvent): void;
  /** Keys that the tree has no use for. True where it was used. */
  onKey?(event: KeyboardEvent, row: Row): boolean;
  onMenu?(row: Row, at: { x: number; y: number }): void;
  renderRow(row: Row): ReactNode;
  /** What screen readers say of a row; its label where it is left out. */
  describe?(row: Row): string;
  rowHeight?: number;
  multiselect?: boolean;
  /** Shown where there are no rows. */
  empty?: ReactNode;
}

/** Where the key leads among the rows; undefined where it does not move. */
export function treeMove<Row extends TreeRow>(rows: readonly Row[], at: number, key: string, page: number): number | undefined {
  const last = rows.length - 1;
  switch (key) {
    case "ArrowDown": return Math.min(last, at + 1);
    case "ArrowUp": return Math.max(0, at - 1);
    case "Home": return 0;
    case "End": return last;
    case "PageDown": return Math.min(last, at + page);
    case "PageUp": return Math.max(0, at - page);
    case "ArrowLeft": {
      const row = rows[at];
      if (!row || row.expanded) return undefined;
      for (let i = at - 1; i >= 0; --i) if (rows[i]!.level < row.level) return i;
      return at;
    }
    case "ArrowRight": return rows[at]?.expanded ? Math.min(last, at + 1) : undefined;
    default: return undefined;
  }
}

/** The tree. Focus stays on the tree itself; the active row is told by aria-activedescendant, so that scrolling never loses it. */
export function Tree<Row extends TreeRow>(props: TreeProps<Row>) {
  const { rows, label, active, onActive, onToggle, onChoose, onKey, onMenu, renderRow, describe, rowHeight = 28, multiselect, empty } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const view = useView(scroller);
  const base = useId();
  const at = Math.max(0, rows.findIndex((row) => row.id === active));
  const { first, end } = windowOf(rows.length, rowHeight, view.top, view.height, 8);
  useEffect(() => { if (scroller.current && active !== undefined) scrollToItem(scroller.current, at, rowHeight); }, [active, at, rowHeight]);

  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const row = rows[at];
    if (!row || event.target !== event.currentTarget) return;
    if (onKey?.(event, row)) return event.preventDefault();
    const next = treeMove(rows, at, event.key, Math.max(1, Math.floor(view.height / rowHeight) - 1));
    if (next !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) onActive(rows[next]!.id);
    else if (event.key === "ArrowRight" && row.expanded === false) onToggle(row.id, true);
    else if (event.key === "ArrowLeft" && row.expanded) onToggle(row.id, false);
    else if (event.key === "Enter" || event.key === " ") onChoose(row.id, event);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const box = document.getElementById(`${base}-${at}`)?.getBoundingClientRect();
      onMenu?.(row, { x: (box?.left ?? 0) + 24, y: box?.bottom ?? 0 });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  if (rows.length === 0) return <div className="w-tree-empty">{empty}</div>;
  return (
    <div
      ref={scroller} role="tree" aria-label={label} aria-multiselectable={multiselect} tabIndex={0} className="w-tree" onKeyDown={key}
      aria-activedescendant={at >= first && at < end ? `${base}-${at}` : undefined}
    >
      <div className="w-tree-space" role="presentation" style={{ height: rows.length * rowHeight }}>
        {rows.slice(first, end).map((row, i) => (
          <div
            key={row.id} id={`${base}-${first + i}`} role="treeitem" aria-level={row.level} aria-expanded={row.expanded}
            aria-selected={row.selected ?? false} aria-setsize={row.siblings} aria-posinset={row.place} aria-label={describe?.(row) ?? row.label}
            className="w-tree-row" data-active={first + i === at || undefined} data-selected={row.selected || undefined}
            style={{ top: (first + i) * rowHeight, height: rowHeight, paddingInlineStart: (row.level - 1) * 16 + 4 }}
            onClick={(event) => { onActive(row.id); onChoose(row.id, event); }}
            onContextMenu={(event) => { event.preventDefault(); onActive(row.id); onMenu?.(row, { x: event.clientX, y: event.clientY }); }}
          >
            <span
              className="w-tree-twisty" aria-hidden="true"
              onClick={(event) => { if (row.expanded !== undefined) { event.stopPropagation(); onToggle(row.id, !row.expanded); } }}
            >
              {row.expanded !== undefined && <Icon name={row.expanded ? "chevronDown" : "chevronRight"} size={12} />}
            </span>
            {renderRow(row)}
          </div>
        ))}
      </div>
    </div>
  );
}
