/** Elements as text, and text as elements. Numbers are the shortest that read back as the same value in their own type. */
import { bfloat16ToFloat, halfToFloat } from "@weft/client";
import { numberToBfloat16, numberToHalf } from "./half";
import { requireDType, type DTypeInfo, type TensorData } from "./dtype";
import { numberAt, type TensorValue } from "./tensor";

type Round = (value: number) => number;

const ROUND: Record<string, Round> = {
  DT_FLOAT: Math.fround,
  DT_COMPLEX64: Math.fround,
  DT_HALF: (value) => halfToFloat(numberToHalf(value)),
  DT_BFLOAT16: (value) => bfloat16ToFloat(numberToBfloat16(value)),
};

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "nan";
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  return Object.is(value, -0) ? "-0" : undefined;
}

/** The shortest decimal number that reads back as `value` in the type `dtype`. */
export function shortest(dtype: string, value: number): number {
  const round = ROUND[dtype];
  if (!round || !Number.isFinite(value) || Number.isInteger(value) && Math.abs(value) < 1e7) return value;
  for (let digits = 1; digits <= 9; ++digits) {
    const candidate = Number(value.toPrecision(digits));
    if (round(candidate) === value) return candidate;
  }
  return value;
}

/** A number as text: "0.1" for the float nearest to it, "nan", "inf", "-inf". */
export function formatNumber(dtype: string, value: number): string {
  return special(value) ?? String(shortest(dtype, value));
}

/** A number with at most `digits` significant digits, for labels. */
export function formatBrief(value: number, digits = 5): string {
  const name = special(value);
  if (name !== undefined) return name;
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  return String(Number(value.toPrecision(digits)));
}

/** Bytes as people count them: "1.5 MB". */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${units[unit]}`;
}

function formatComplex(dtype: string, real: number, imaginary: number): string {
  const second = formatNumber(dtype, imaginary);
  return `${formatNumber(dtype, real)}${second.startsWith("-") ? "" : "+"}${second}j`;
}

/** Element `index` as text. */
export function textAt(tensor: TensorValue, index: number): string {
  const { data, dtype } = tensor;
  if (Array.isArray(data)) return data[index] ?? "";
  const info = requireDType(dtype);
  if (info.kind === "bool") return data[index] ? "true" : "false";
  if (info.kind === "complex") return formatComplex(dtype, Number(data[2 * index]), Number(data[2 * index + 1]));
  if (info.kind === "int") return String(data[index]);
  return formatNumber(dtype, numberAt(tensor, index));
}

/** A decimal number, "nan" or "inf" as people type it, with enuSpace's `f` at the end if there. Undefined where it is none. */
export function parseReal(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  const bare = word.replace(/^[+-]/, "");
  if (bare === "inf" || bare === "infinity" || bare === "∞") return word.startsWith("-") ? -Infinity : Infinity;
  if (bare === "nan") return NaN;
  if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?f?$/.test(bare)) return undefined;
  return Number(word.replace(/f$/, ""));
}

function parseComplex(text: string): [number, number] | undefined {
  const word = text.trim().replace(/^\((.*)\)$/, "$1").replace(/\s+/g, "");
  if (!/[ji]$/i.test(word) || /^[+-]?inf(inity)?$/i.test(word)) {
    const real = parseReal(word);
    return real === undefined ? undefined : [real, 0];
  }
  const body = word.slice(0, -1);
  // The sign between the parts is the last one that is neither first nor part of an exponent.
  for (let i = body.length - 1; i > 0; --i) {
    if ((body[i] !== "+" && body[i] !== "-") || /e/i.test(body[i - 1] ?? "")) continue;
    const real = parseReal(body.slice(0, i));
    const imaginary = body.length === i + 1 ? Number(`${body[i]}1`) : parseReal(body.slice(i));
    return real === undefined || imaginary === undefined ? undefined : [real, imaginary];
  }
  const imaginary = parseReal(body === "" || body === "+" ? "1" : body === "-" ? "-1" : body);
  return imaginary === undefined ? undefined : [0, imaginary];
}

/** Writes `text` to element `index`. The answer is what is wrong with the text, or undefined. */
export function setElement(info: DTypeInfo, data: TensorData, index: number, text: string): string | undefined {
  if (Array.isArray(data)) {
    data[index] = text;
    return undefined;
  }
  switch (info.kind) {
    case "bool": return setBool(data as Uint8Array, index, text);
    case "int": return setInteger(info, data, index, text);
    case "complex": return setComplex(info, data as Float64Array, index, text);
    default: return setFloat(info, data as Float64Array, index, text);
  }
}

function setBool(data: Uint8Array, index: number, text: string): string | undefined {
  const word = text.trim().toLowerCase();
  if (word !== "true" && word !== "false" && word !== "1" && word !== "0") return `needs true or false, found '${text}'`;
  data[index] = word === "true" || word === "1" ? 1 : 0;
  return undefined;
}

function setInteger(info: DTypeInfo, data: TensorData, index: number, text: string): string | undefined {
  const word = text.trim().replace(/^\+/, "").replace(/\.0*$/, "");
  if (!/^-?\d+$/.test(word)) return `needs a whole number, found '${text}'`;
  const value = BigInt(word);
  if (value < info.min! || value > info.max!) return `needs ${info.min} to ${info.max} for ${info.short}, found ${word}`;
  (data as BigInt64Array | Int32Array)[index] = (data instanceof BigInt64Array || data instanceof BigUint64Array ? value : Number(value)) as never;
  return undefined;
}

function setFloat(info: DTypeInfo, data: Float64Array, index: number, text: string): string | undefined {
  const value = parseReal(text);
  if (value === undefined) return `needs a number, found '${text}'`;
  if (Number.isFinite(value) && ROUND[info.name] && !Number.isFinite(ROUND[info.name]!(value))) return `${text} is too large for ${info.short}`;
  const toWord = info.name === "DT_HALF" ? numberToHalf : numberToBfloat16;
  data[index] = (data as TensorData) instanceof Uint16Array ? toWord(value) : value;
  return undefined;
}

function setComplex(info: DTypeInfo, data: Float64Array, index: number, text: string): string | undefined {
  const parts = parseComplex(text);
  if (!parts) return `needs a number such as 1+2j for ${info.short}, found '${text}'`;
  data[2 * index] = parts[0];
  data[2 * index + 1] = parts[1];
  return undefined;
}

/** What is wrong with `text` as an element of that type, or undefined. */
export function checkElement(dtype: string, text: string): string | undefined {
  const info = requireDType(dtype);
  return setElement(info, info.make(1), 0, text);
}
