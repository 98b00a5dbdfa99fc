import type { Block, BlockSchema, InputValue, TensorLiteral } from "@weft/client";
import { attributeSummary } from "./attributes";
import { isList } from "./schema";
import { shortNumber } from "./names";

/** A part of the page, in its own coordinates. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A port as a block shows it: one row, on one side. */
export interface PortRow {
  /** Within the block: "x", "inputs[1]"; of a list also "inputs" for one more. */
  name: string;
  /** What is written: "x", "[1]", "+ inputs". */
  label: string;
  side: "in" | "out";
  /** Middle of the row, in pixels from the block's top. */
  y: number;
  /** A value that is written on the page, in short. */
  literal?: string;
  optional?: boolean;
  doc?: string;
  /** The place of a list's next element. */
  more?: boolean;
}

/** Where everything of a block is. Computed from the document alone, so that wires can be drawn to blocks that are not mounted. */
export interface BlockShape {
  width: number;
  height: number;
  rows: PortRow[];
  attrs: string;
}

export const headerHeight = 38;
export const rowHeight = 22;
const footerHeight = 20;
const padding = 6;

/** What the block has at its inputs: names of ports and elements of lists, with what they have. */
function inputRows(block: Block, schema: BlockSchema | undefined): Omit<PortRow, "y">[] {
  const rows: Omit<PortRow, "y">[] = [];
  const inputs = block.inputs ?? {};
  const known = new Set<string>();
  for (const port of schema?.inputs ?? []) {
    // enuSpace's pages spell some ports otherwise: such a row has the name that is written
    const spelled = port.port in inputs ? undefined : Object.entries(schema?.palette_spelling ?? {}).find(([name, meant]) => meant === port.port && name in inputs)?.[0];
    const written = spelled ?? port.port;
    known.add(written);
    const value = inputs[written];
    if (isList(port)) {
      const items = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
      items.forEach((item, k) => rows.push(inRow(`${written}[${k}]`, k === 0 ? `${port.port} [0]` : `[${k}]`, item, port.doc)));
      rows.push({ name: written, label: items.length ? "+" : `+ ${port.port}`, side: "in", more: true, optional: port.optional, doc: port.doc });
    } else {
      rows.push({ ...inRow(written, written, value, port.doc), optional: port.optional });
    }
  }
  for (const [name, value] of Object.entries(inputs)) {
    if (known.has(name)) continue;
    if (Array.isArray(value)) value.forEach((item, k) => rows.push(inRow(`${name}[${k}]`, `${name} [${k}]`, item)));
    else rows.push(inRow(name, name, value));
  }
  return rows;
}

function inRow(name: string, label: string, value: InputValue | undefined, doc?: string): Omit<PortRow, "y"> {
  const written = value !== undefined && typeof value !== "string" && !Array.isArray(value);
  const literal = !written ? undefined : isLiteral(value) ? literalText(value) : shortened(JSON.stringify(value));
  return { name, label, side: "in", literal, doc };
}

/** Whether it is a value with the parts that values have: a page keeps what it could not read, and that may be anything. */
export function isLiteral(value: unknown): value is TensorLiteral {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { dtype, shape, text, file } = value as Record<string, unknown>;
  const isText = (part: unknown): boolean => part === undefined || typeof part === "string";
  return isText(dtype) && isText(text) && isText(file) && (shape === undefined || (Array.isArray(shape) && shape.every((size) => typeof size === "number" && size >= 0)));
}

const shortened = (line: string): string => (line.length > 14 ? `${line.slice(0, 13)}…` : line);

/** A value of the page in a few characters. */
export function literalText(value: TensorLiteral): string {
  if (typeof value.file === "string") return `@${value.file}`;
  if (typeof value.text === "string") return shortened(value.text);
  const values = Array.isArray(value.values) ? value.values : value.values === undefined ? [] : [value.values];
  const shape = value.shape ?? (Array.isArray(value.values) ? [values.length] : []);
  const first = values.slice(0, 3).map(/COMPLEX/.test(value.dtype ?? "") ? complexText : elementText);
  if (shape.length === 0) return first[0] ?? "";
  if (values.length <= 3 && shape.length === 1) return `[${first.join(", ")}]`;
  return `${first.slice(0, 2).join(", ")}, … [${shape.join("×")}]`;
}

function elementText(value: unknown): string {
  if (typeof value === "number") return shortNumber(value);
  if (Array.isArray(value)) return `[${value.slice(0, 2).map(elementText).join(", ")}${value.length > 2 ? ", …" : ""}]`;
  if (typeof value === "object" && value !== null && "base64" in value) return `base64:${String(value.base64).slice(0, 6)}…`;
  return String(value);
}

function complexText(value: unknown): string {
  if (!Array.isArray(value) || value.length !== 2) return elementText(value);
  const [real, imaginary] = value.map(elementText);
  return `${real}${imaginary?.startsWith("-") ? "" : "+"}${imaginary}j`;
}

/** Outputs: lists as far as their elements are known (by type or by wires from them), and one row for a list of unknown length. */
function outputRows(schema: BlockSchema | undefined, elements: ReadonlySet<string>): Omit<PortRow, "y">[] {
  const rows: Omit<PortRow, "y">[] = [];
  const left = new Set(elements);
  for (const port of schema?.outputs ?? []) {
    const own = [...left].filter((name) => name === port.port || name.startsWith(`${port.port}[`));
    own.forEach((name) => left.delete(name));
    const indexed = own.filter((name) => name.endsWith("]")).sort((a, b) => indexOf(a) - indexOf(b));
    if (isList(port) && indexed.length) {
      indexed.forEach((name, k) => rows.push({ name, label: k === 0 ? `${port.port} ${name.slice(port.port.length)}` : name.slice(port.port.length), side: "out", doc: port.doc }));
    } else {
      rows.push({ name: port.port, label: port.port, side: "out", doc: port.doc });
    }
  }
  left.forEach((name) => rows.push({ name, label: name, side: "out" }));
  return rows;
}

const indexOf = (name: string): number => Number(/\[(\d+)\]/.exec(name)?.[1] ?? 0);

/**
 * The shape of a block.
 * `outputs` are the names of outputs that wires leave from or that types are known of ("grad_outputs[0]").
 */
export function blockShape(block: Block, schema: BlockSchema | undefined, outputs: ReadonlySet<string>): BlockShape {
  const ins = inputRows(block, schema);
  const outs = outputRows(schema, outputs);
  const attrs = attributeSummary(block.attrs);
  const lines = Math.max(ins.length, outs.length);
  const top = headerHeight + padding;
  const rows: PortRow[] = [
    ...ins.map((row, k) => ({ ...row, y: top + k * rowHeight + rowHeight / 2 })),
    ...outs.map((row, k) => ({ ...row, y: top + k * rowHeight + rowHeight / 2 })),
  ];
  const widthOf = (row: Omit<PortRow, "y"> | undefined): number =>
    row ? 16 + textWidth(row.label, 12) + (row.literal ? 8 + textWidth(row.literal, 11) : 0) : 0;
  let width = Math.max(textWidth(block.id, 13, true), textWidth(block.block, 11)) + 56;
  for (let k = 0; k < lines; k++) width = Math.max(width, widthOf(ins[k]) + widthOf(outs[k]) + 16);
  width = Math.max(width, Math.min(220, attrs ? textWidth(attrs, 11) + 20 : 0));
  return {
    width: Math.ceil(Math.min(320, Math.max(136, width)) / 8) * 8,
    height: top + lines * rowHeight + padding + (attrs ? footerHeight : 0),
    rows,
    attrs,
  };
}

/** About how wide a text is in the editor's font, without asking the browser: it must be the same wherever it is computed. */
export function textWidth(text: string, size: number, bold = false): number {
  let units = 0;
  for (const letter of text) {
    if (/[iljtfr.,:;'|!()[\] ]/.test(letter)) units += 0.34;
    else if (/[mwMW@…×]/.test(letter)) units += 0.88;
    else if (/[A-Z_0-9]/.test(letter)) units += 0.64;
    else units += 0.56;
  }
  return units * size * (bold ? 1.07 : 1);
}
