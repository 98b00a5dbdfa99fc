import type { TensorLiteral } from "@weft/client";
import { isList } from "../model/schema";
import { parsePort, shortType } from "../model/names";
import { text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";

/**
 * Sets the value of an input from what a person typed: a number, a boolean or a text, of the type that it has, or that the text shows.
 * Other keys of the value stay. False where the text is no such value, or the server refuses.
 */
export async function editLiteral(page: PageEditor, port: string, typed: string): Promise<boolean> {
  const before = page.model.inputAt(port);
  const literal = before && typeof before === "object" && !Array.isArray(before) ? before : undefined;
  const value = scalarLiteral(typed, literal);
  if (!value) {
    page.notify({ kind: "error", text: text(texts.edits.noValue, { typed, type: shortType(literal?.dtype) || "float" }) });
    return false;
  }
  return page.edit([{ op: "set", input: port, value }], text(texts.edits.set, { what: port }));
}

/** The one element of a value as it is stored, in full; `shown` where it has another form. */
export function storedScalar({ values, text: written }: TensorLiteral, shown: string): string {
  const [first] = Array.isArray(values) ? values : [values];
  return first !== undefined && first !== null ? String(first) : written ?? shown;
}

/** The literal of one element; undefined where the text does not fit its type. */
export function scalarLiteral(typed: string, before?: TensorLiteral): TensorLiteral | undefined {
  const textual = typed.trim();
  const dtype = before?.dtype ?? guess(textual);
  const element = parseElement(textual, dtype);
  if (element === undefined) return undefined;
  const { text: _text, file: _file, ...rest } = before ?? {};
  return { ...rest, dtype, shape: before?.shape ?? [], values: [element] };
}

function guess(typed: string): string {
  if (/^(true|false)$/i.test(typed)) return "DT_BOOL";
  if (/^[+-]?\d+$/.test(typed)) return "DT_FLOAT";
  return Number.isNaN(Number(typed)) && !/^[+-]?(nan|inf)$/i.test(typed) ? "DT_STRING" : "DT_FLOAT";
}

function parseElement(typed: string, dtype: string): unknown {
  if (dtype === "DT_STRING") return typed;
  if (dtype === "DT_BOOL") return /^(true|1)$/i.test(typed) ? true : /^(false|0)$/i.test(typed) ? false : undefined;
  if (/^[+-]?nan$/i.test(typed)) return /INT/.test(dtype) ? undefined : "NaN";
  if (/^[+-]?inf(inity)?$/i.test(typed)) return /INT/.test(dtype) ? undefined : typed.startsWith("-") ? "-Infinity" : "Infinity";
  if (typed === "" || Number.isNaN(Number(typed))) return undefined;
  if (/INT/.test(dtype) && !/^[+-]?\d+$/.test(typed)) return undefined;
  return Number(typed);
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
