/** Two axes of a tensor as rows and columns. */
import { countOf, flatIndex } from "./tensor";

/** Vectors are laid out in rows of ten. */
const VECTOR_COLUMNS = 10;

export interface Plane {
  readonly rows: number;
  readonly columns: number;
  /** Row-major index of a cell in the whole tensor; -1 beyond the end of a vector. */
  indexAt(row: number, column: number): number;
  /** The cell of an index; undefined where it is in another plane. */
  cellOf(index: number): { row: number; column: number } | undefined;
  rowLabel(row: number): string;
}

/** Axes that are neither rows nor columns of the table: all but the last two. */
export function leadAxes(shape: readonly number[]): number[] {
  return shape.length <= 2 ? [] : shape.slice(0, -2).map((_, axis) => axis);
}

/** Indices on the leading axes, brought into the shape. */
export function clampLead(shape: readonly number[], lead: readonly number[]): number[] {
  return leadAxes(shape).map((axis) => Math.max(0, Math.min((shape[axis] ?? 1) - 1, Math.trunc(lead[axis] ?? 0) || 0)));
}

/** The plane of the last two axes at the leading indices. */
export function planeOf(shape: readonly number[], lead: readonly number[]): Plane {
  if (shape.length <= 1) return vectorPlane(shape.length === 0 ? 1 : shape[0]!);
  const rows = shape.at(-2)!, columns = shape.at(-1)!;
  const begin = flatIndex(shape.slice(0, -2), clampLead(shape, lead)) * rows * columns;
  return {
    rows, columns,
    indexAt: (row, column) => begin + row * columns + column,
    cellOf: (index) => (index < begin || index >= begin + rows * columns ? undefined
      : { row: Math.floor((index - begin) / columns), column: (index - begin) % columns }),
    rowLabel: String,
  };
}

function vectorPlane(count: number): Plane {
  const columns = Math.min(count, VECTOR_COLUMNS);
  return {
    rows: columns === 0 ? 0 : Math.ceil(count / columns), columns,
    indexAt: (row, column) => (row * columns + column < count ? row * columns + column : -1),
    cellOf: (index) => ({ row: Math.floor(index / columns), column: index % columns }),
    rowLabel: (row) => String(row * columns),
  };
}

/** Leading indices of the plane that an element is in. */
export function leadOf(shape: readonly number[], index: number): number[] {
  if (shape.length <= 2) return [];
  const lead: number[] = [];
  let rest = Math.floor(index / (shape.at(-1)! * shape.at(-2)!));
  for (let axis = shape.length - 3; axis >= 0; --axis) {
    lead[axis] = rest % shape[axis]!;
    rest = Math.floor(rest / shape[axis]!);
  }
  return lead;
}

/** Cells from one corner to another. */
export interface Range {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The range between two cells. */
export function rangeOf(a: Cell, b: Cell): Range {
  return { top: Math.min(a.row, b.row), left: Math.min(a.column, b.column), bottom: Math.max(a.row, b.row), right: Math.max(a.column, b.column) };
}

export interface GridKey {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** Where a key moves the active cell to; undefined where it does not. */
export function moveCell(at: Cell, event: GridKey, plane: { rows: number; columns: number }, page: number): Cell | undefined {
  const far = event.ctrlKey || event.metaKey;
  const lastRow = plane.rows - 1, lastColumn = plane.columns - 1;
  const to = (row: number, column: number): Cell => ({ row: Math.max(0, Math.min(lastRow, row)), column: Math.max(0, Math.min(lastColumn, column)) });
  switch (event.key) {
    case "ArrowDown": return to(far ? lastRow : at.row + 1, at.column);
    case "ArrowUp": return to(far ? 0 : at.row - 1, at.column);
    case "ArrowRight": return to(at.row, far ? lastColumn : at.column + 1);
    case "ArrowLeft": return to(at.row, far ? 0 : at.column - 1);
    case "Home": return to(far ? 0 : at.row, 0);
    case "End": return to(far ? lastRow : at.row, lastColumn);
    case "PageDown": return to(at.row + page, at.column);
    case "PageUp": return to(at.row - page, at.column);
    default: return undefined;
  }
}

/** "[1,2,3]" of an element: leading indices, row and column. */
export function placeText(shape: readonly number[], lead: readonly number[], index: number, cell: Cell): string {
  if (shape.length === 0) return "[]";
  if (shape.length === 1) return `[${index}]`;
  return `[${[...clampLead(shape, lead), cell.row, cell.column].join(",")}]`;
}

/** How many planes a tensor has. */
export function planeCount(shape: readonly number[]): number {
  return shape.length <= 2 ? 1 : countOf(shape.slice(0, -2));
}
