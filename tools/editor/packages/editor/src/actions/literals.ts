import type { TensorLiteral } from "@weft/client";
import { dtypesOf, writtenValue } from "../forms";
import { isLiteral } from "../model/geometry";
import { isList } from "../model/schema";
import { parsePort, shortType } from "../model/names";
import { checkElement, dtypeInfo, fromLiteral, setElement, textAt, toLiteral } from "../tensor";
import { text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";

/**
 * Sets the value of an input from what a person typed: a number, a boolean or a text, of the type that it has, or that the text shows.
 * Other keys of the value stay. False where the text is no such value, or the server refuses.
 */
export async function editLiteral(page: PageEditor, port: string, typed: string): Promise<boolean> {
  const before = page.model.inputAt(port);
  const literal = isLiteral(before) ? before : undefined;
  const scalar = literal && scalarOf(literal, literalType(page, port));
  const value = literal && !scalar ? undefined : scalarLiteral(typed, scalar && { ...literal, dtype: scalar.dtype });
  if (!value) {
    page.notify({ kind: "error", text: text(texts.edits.noValue, { typed, type: shortType(scalar?.dtype) || "float" }) });
    return false;
  }
  return page.edit([{ op: "set", input: port, value }], text(texts.edits.set, { what: port }));
}

/** The type of a value that does not say it itself: the port's only one, or that of the block's attributes. */
export function literalType(page: PageEditor, name: string): string | undefined {
  const { block: id, port } = parsePort(name);
  const block = page.model.blocks.get(id);
  const schema = block && page.model.schema.get(block.block);
  const dtypes = dtypesOf(schema?.inputs.find((p) => p.port === port), schema);
  if (dtypes.length === 1) return dtypes[0];
  const written = writtenValue(block?.attrs, { name: "dtype", type: "type", doc: "" });
  return written && dtypeInfo(written.startsWith("DT_") ? written : `DT_${written.toUpperCase()}`)?.name;
}

const longestNumber = 100;

/** A value of one element as it is typed, in full, and its type; undefined for values that are tables, in files, or bytes. */
export function scalarOf(literal: TensorLiteral, dtype?: string): { text: string; dtype: string } | undefined {
  const [first, second] = [literal.values].flat();
  const table = (literal.shape?.length ?? 0) > 0 || second !== undefined || (literal.text?.length ?? 0) > longestNumber && !literal.text?.startsWith('"');
  if (table) return undefined; // told without reading its elements: blocks ask each time they are drawn
  const tensor = fromLiteral(literal, dtype ?? (first === undefined ? undefined : guess(String(first))));
  return tensor?.shape.length === 0 ? { text: textAt(tensor, 0), dtype: tensor.dtype } : undefined;
}

/** The literal of one element; undefined where the text does not fit its type. */
export function scalarLiteral(typed: string, before?: TensorLiteral): TensorLiteral | undefined {
  const textual = typed.trim();
  const info = dtypeInfo(before?.dtype ?? guess(textual));
  const data = info?.make(1);
  if (!info || !data || info.kind === "resource" || setElement(info, data, 0, textual) !== undefined) return undefined;
  const { text: _text, file: _file, values: _values, ...rest } = before ?? {};
  return { ...rest, ...toLiteral({ dtype: info.name, shape: [], data }) };
}

function guess(typed: string): string {
  if (/^(true|false)$/i.test(typed)) return "DT_BOOL";
  return checkElement("DT_FLOAT", typed) === undefined ? "DT_FLOAT" : "DT_STRING";
}

/** The inputs of a block that nothing is wired to, as "ID.port"; of lists the place of the next element. */
export function openInputs(page: PageEditor, id: string): string[] {
  const block = page.model.blocks.get(id);
  const schema = block && page.model.schema.get(block.block);
  return (schema?.inputs ?? []).filter((p) => isList(p) || !page.model.wireAt(`${id}.${p.port}`)).map((p) => `${id}.${p.port}`);
}

/** Whether two names are of the same port, elements of lists aside. */
export const sameInput = (a: string, b: string): boolean => {
  const left = parsePort(a);
  const right = parsePort(b);
  return left.block === right.block && left.port === right.port;
};
