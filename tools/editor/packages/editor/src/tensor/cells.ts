/** Cells of a plane as text, and text into cells. */
import { requireDType } from "./dtype";
import { setElement, textAt } from "./format";
import type { Cells } from "./paste";
import { planeOf, type Cell, type Plane, type Range } from "./plane";
import { copyTensor, countOf, zeros, type TensorValue } from "./tensor";

/** The range's elements as texts. */
export function readCells(tensor: TensorValue, plane: Plane, range: Range): Cells {
  const cells: Cells = [];
  for (let row = range.top; row <= range.bottom; ++row) {
    const line: string[] = [];
    for (let column = range.left; column <= range.right; ++column) {
      const index = plane.indexAt(row, column);
      line.push(index < 0 ? "" : textAt(tensor, index));
    }
    cells.push(line);
  }
  return cells;
}

/** What became of cells that were written. */
export interface Written {
  readonly tensor: TensorValue;
  readonly written: number;
  /** Cells that do not fit the type; they keep their value. */
  readonly wrong: number;
  readonly firstProblem: string | undefined;
  /** Cells beyond the table. */
  readonly outside: number;
}

/** The tensor with the cells written from `at` on. One cell fills the whole range, if one is given. */
export function writeCells(tensor: TensorValue, plane: Plane, at: Cell, cells: Cells, fill?: Range): Written {
  const info = requireDType(tensor.dtype);
  const changed = copyTensor(tensor);
  const single = cells.length === 1 && cells[0]!.length === 1;
  const range = single && fill ? fill : { top: at.row, left: at.column, bottom: at.row + cells.length - 1, right: at.column + Math.max(...cells.map((row) => row.length)) - 1 };
  let written = 0, wrong = 0, outside = 0, firstProblem: string | undefined;
  for (let row = range.top; row <= range.bottom; ++row) {
    for (let column = range.left; column <= range.right; ++column) {
      const text = single ? cells[0]![0]! : cells[row - range.top]![column - range.left];
      if (text === undefined) continue;
      const index = row < plane.rows && column < plane.columns ? plane.indexAt(row, column) : -1;
      if (index < 0) {
        ++outside;
        continue;
      }
      const problem = setElement(info, changed.data, index, text);
      if (problem === undefined) ++written;
      else if (wrong++ === 0) firstProblem = problem;
    }
  }
  return { tensor: changed, written, wrong, firstProblem, outside };
}

/** Cells of one row or one column, in their order. */
function lineOf(cells: Cells): string[] | undefined {
  if (cells.length === 1) return cells[0];
  return cells.every((row) => row.length === 1) ? cells.map((row) => row[0]!) : undefined;
}

/**
 * What pasting does: as writeCells, but a row or column goes into a vector element by element, and with `grow` the tensor becomes as large as
 * the cells need.
 */
export function pasteCells(tensor: TensorValue, lead: readonly number[], at: Cell, cells: Cells, fill: Range, grow: boolean): Written {
  const plane = planeOf(tensor.shape, lead);
  const line = lineOf(cells);
  if (tensor.shape.length <= 1 && line && line.length > 1) return pasteLine(tensor, Math.max(0, plane.indexAt(at.row, at.column)), line, grow);
  const shape = grow ? grownShape(tensor.shape, at, cells) : tensor.shape;
  const target = shape.join() === tensor.shape.join() ? tensor : reshapeTensor(tensor, shape);
  return writeCells(target, planeOf(shape, lead), at, cells, fill);
}

function grownShape(shape: readonly number[], at: Cell, cells: Cells): readonly number[] {
  const rows = at.row + cells.length, columns = at.column + Math.max(...cells.map((row) => row.length));
  if (shape.length <= 1) return cells.length > 1 ? [cells.length, columns - at.column] : shape;
  return [...shape.slice(0, -2), Math.max(shape.at(-2)!, rows), Math.max(shape.at(-1)!, columns)];
}

function pasteLine(tensor: TensorValue, from: number, line: readonly string[], grow: boolean): Written {
  const count = countOf(tensor.shape);
  const target = grow && from + line.length > count ? reshapeTensor(tensor, [from + line.length]) : copyTensor(tensor);
  const info = requireDType(tensor.dtype);
  const room = Math.min(line.length, countOf(target.shape) - from);
  let wrong = 0, firstProblem: string | undefined;
  for (let i = 0; i < room; ++i) {
    const problem = setElement(info, target.data, from + i, line[i]!);
    if (problem !== undefined && wrong++ === 0) firstProblem = problem;
  }
  return { tensor: target, written: room - wrong, wrong, firstProblem, outside: line.length - room };
}

/** A tensor of the cells: a scalar of one, a vector of a row or column, else a matrix. Short rows are filled with zeros. */
export function tensorOfCells(dtype: string, cells: Cells): { tensor: TensorValue; wrong: number; firstProblem: string | undefined } {
  const rows = cells.filter((row) => row.length > 1 || row[0]?.trim() !== "");
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const shape = rows.length === 1 || columns === 1 ? (rows.length * columns === 1 ? [] : [rows.length * columns]) : [rows.length, columns];
  const tensor = zeros(dtype, shape);
  const info = requireDType(dtype);
  let wrong = 0, firstProblem: string | undefined;
  rows.forEach((row, r) => row.forEach((text, c) => {
    const problem = setElement(info, tensor.data, r * columns + c, text);
    if (problem !== undefined && wrong++ === 0) firstProblem = problem;
  }));
  return { tensor, wrong, firstProblem };
}

/** The same elements in another type; those that do not fit become zero. */
export function castTensor(tensor: TensorValue, dtype: string): { tensor: TensorValue; wrong: number; firstProblem: string | undefined } {
  const info = requireDType(dtype);
  const cast = zeros(dtype, tensor.shape);
  let wrong = 0, firstProblem: string | undefined;
  for (let i = 0, count = countOf(tensor.shape); i < count; ++i) {
    const problem = setElement(info, cast.data, i, textAt(tensor, i)) ?? undefined;
    if (problem !== undefined && wrong++ === 0) firstProblem = problem;
  }
  return { tensor: cast, wrong, firstProblem };
}

/** The tensor in another shape: elements stay where both shapes have them, others are zero. */
export function reshapeTensor(tensor: TensorValue, shape: readonly number[]): TensorValue {
  const count = countOf(shape);
  const same = count === countOf(tensor.shape);
  const info = requireDType(tensor.dtype);
  const width = info.kind === "complex" ? 2 : 1;
  if (same) return { ...tensor, shape };
  const result = zeros(tensor.dtype, shape);
  const rank = shape.length;
  // The axes are aligned at their ends, as broadcasting has it.
  const old = Array.from({ length: rank }, (_, axis) => tensor.shape[tensor.shape.length - rank + axis] ?? 1);
  for (let i = 0; i < count; ++i) {
    let rest = i, from = 0, stride = 1, inside = true;
    for (let axis = rank - 1; axis >= 0; --axis) {
      const place = rest % shape[axis]!;
      rest = Math.floor(rest / shape[axis]!);
      if (place >= old[axis]!) inside = false;
      from += place * stride;
      stride *= old[axis]!;
    }
    if (!inside || from >= countOf(tensor.shape)) continue;
    for (let part = 0; part < width; ++part) result.data[i * width + part] = tensor.data[from * width + part] as never;
  }
  return result;
}
