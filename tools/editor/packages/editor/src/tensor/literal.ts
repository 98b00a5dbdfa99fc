/** Tensors as values on a page: the JSON that page files hold. */
import { dtypeInfo, requireDType } from "./dtype";
import { setElement, shortest, textAt } from "./format";
import { countOf, numberAt, type TensorValue } from "./tensor";
import { parseText, typeOfText, unquoted } from "./textLiteral";

/** A literal of a page, as far as it is looked at here. */
export interface LiteralLike {
  dtype?: string;
  shape?: number[];
  values?: unknown;
  text?: string;
  file?: string;
}

type JsonReal = number | string;

function real(dtype: string, value: number): JsonReal {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return shortest(dtype, value);
}

function jsonElement(tensor: TensorValue, index: number): unknown {
  const { data, dtype } = tensor;
  if (Array.isArray(data)) return data[index];
  switch (requireDType(dtype).kind) {
    case "bool": return Boolean(data[index]);
    case "int": return Number(data[index]);
    case "complex": return [real(dtype, Number(data[2 * index])), real(dtype, Number(data[2 * index + 1]))];
    default: return real(dtype, numberAt(tensor, index));
  }
}

/**
 * The tensor as a literal. Integers that JSON's numbers would round in a browser go as text in enuSpace's spelling, which the engine
 * reads exactly.
 */
export function toLiteral(tensor: TensorValue): { dtype: string; shape: number[]; values?: unknown[]; text?: string } {
  const count = countOf(tensor.shape);
  const head = { dtype: tensor.dtype, shape: [...tensor.shape] };
  if (tensor.data instanceof BigInt64Array || tensor.data instanceof BigUint64Array) {
    const limit = BigInt(Number.MAX_SAFE_INTEGER);
    const texts = Array.from(tensor.data as BigInt64Array).map(String);
    if (texts.some((text) => BigInt(text) > limit || BigInt(text) < -limit)) return { ...head, text: texts.join(";") };
  }
  return { ...head, values: Array.from({ length: count }, (_, i) => jsonElement(tensor, i)) };
}

/** Undefined for what no cell can show: bytes in base64 stay the page's. */
function elementText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const second = String(value[1]);
    return `${value[0]}${second.startsWith("-") ? "" : "+"}${second}j`;
  }
  return typeof value === "object" ? undefined : String(value);
}

/**
 * The tensor of a literal that holds its values, also as text in enuSpace's spelling. `dtype` is the type where the literal does not say it;
 * else its text tells. Undefined for a literal whose values are in a file, and for one that is faulty.
 */
export function fromLiteral(literal: LiteralLike, dtype?: string): TensorValue | undefined {
  if (literal.values !== undefined) return filled(literal.dtype ?? dtype, literal.shape, [literal.values].flat().map(elementText));
  const parsed = literal.text === undefined ? undefined : parseText(literal.text);
  if (!parsed || (parsed.elements.length === 0 && !parsed.shape)) return undefined;
  return filled(literal.dtype ?? dtype ?? typeOfText(parsed.elements), literal.shape ?? parsed.shape, parsed.elements.map(unquoted));
}

function filled(dtype: string | undefined, given: number[] | undefined, elements: readonly (string | undefined)[]): TensorValue | undefined {
  const info = dtypeInfo(dtype ?? "");
  if (!info || info.kind === "resource") return undefined;
  const shape = given ?? (elements.length === 1 ? [] : [elements.length]);
  if (elements.length !== countOf(shape)) return undefined;
  const data = info.make(elements.length);
  for (let i = 0; i < elements.length; ++i) {
    const element = elements[i];
    if (element === undefined || setElement(info, data, i, element) !== undefined) return undefined;
  }
  return { dtype: info.name, shape, data };
}

/** The literal in a line, cut after `limit` elements: "float [2,2] {{1,2},{3,4}}". */
export function literalText(literal: LiteralLike, limit = 8): string {
  if (literal.file !== undefined) return `${literal.file}`;
  if (literal.text !== undefined) return literal.text.length > limit * 6 ? `${literal.text.slice(0, limit * 6)}…` : literal.text;
  const tensor = fromLiteral(literal);
  return tensor ? tensorText(tensor, limit) : JSON.stringify(literal.values ?? null).slice(0, limit * 6);
}

/** The elements in braces, cut after `limit`. */
export function tensorText(tensor: TensorValue, limit = 8): string {
  let left = limit;
  const write = (axis: number, begin: number): string => {
    if (axis === tensor.shape.length) return left-- > 0 ? quoted(tensor, begin) : "…";
    const size = tensor.shape[axis] ?? 0;
    const step = countOf(tensor.shape.slice(axis + 1));
    const parts: string[] = [];
    for (let i = 0; i < size; ++i) {
      parts.push(left > 0 ? write(axis + 1, begin + i * step) : "…");
      if (left <= 0 && i + 1 < size) {
        if (parts.at(-1) !== "…" && !parts.at(-1)!.endsWith("…}")) parts.push("…");
        break;
      }
    }
    return `{${parts.join(",")}}`;
  };
  return write(0, 0);
}

function quoted(tensor: TensorValue, index: number): string {
  return Array.isArray(tensor.data) ? JSON.stringify(tensor.data[index]) : textAt(tensor, index);
}
