/** Values of attributes: how a default is written, and what is wrong with a text, so that it is told before the server is asked. */
import type { AttrSchema } from "@weft/client";
import { dtypeInfo, formatNumber, parseReal } from "../tensor";
import { text } from "../texts";
import { Nesting, quote, splitList, unquote } from "./settings";
import { formTexts } from "./texts";

/** A JSON value of the schema or of an attribute object, as attribute text has it. */
export function valueText(type: string, value: unknown): string {
  if (value === null || value === undefined) return type.includes("shape") ? "?" : "";
  if (Array.isArray(value)) {
    if (type === "shape") return value.length === 0 ? "[]" : value.map((size) => `[${size === null || Number(size) < 0 ? "?" : String(size)}]`).join("");
    const element = type.replace(/^list\((.*)\)$/, "$1");
    return `{${value.map((each) => valueText(element, each)).join(",")}}`;
  }
  if (typeof value === "number") return type.includes("float") ? formatNumber("DT_FLOAT", Math.fround(value)) : String(value);
  return typeof value === "string" && type.includes("string") ? quote(value) : String(value);
}

/** Whether the value written is the same as the default. */
export function isDefault(attr: AttrSchema, written: string): boolean {
  if (!("default" in attr)) return false;
  return normal(attr.type, written) === normal(attr.type, valueText(attr.type, attr.default));
}

function normal(type: string, written: string): string {
  if (type === "bool") return String(/^(true|1)$/i.test(written));
  if (type === "string") return unquote(written) ?? written;
  if (type === "float") return String(Math.fround(parseReal(written) ?? NaN));
  return written.replace(/[{}\s]/g, "").replace(/;/g, ",");
}

const INT = /^[+-]?\d+$/;

function checkScalar(attr: AttrSchema, type: string, written: string): string | undefined {
  switch (type) {
    case "int":
      if (!INT.test(written)) return text(formTexts.needsInt, { text: written });
      return attr.type === "int" && attr.minimum !== undefined && Number(written) < attr.minimum
        ? text(formTexts.needsMinimum, { minimum: attr.minimum, text: written }) : undefined;
    case "float": return parseReal(written) === undefined ? text(formTexts.needsFloat, { text: written }) : undefined;
    case "bool": return /^(true|false|1|0)$/i.test(written) ? undefined : text(formTexts.needsOneOf, { names: "true, false", text: written });
    case "type": return checkType(attr, written);
    case "string": return checkString(attr, written);
    default: return checkShape(written);
  }
}

function checkType(attr: AttrSchema, written: string): string | undefined {
  const known = attr.allowed ? attr.allowed.includes(written) : dtypeInfo(written) !== undefined;
  return known ? undefined : text(formTexts.needsOneOf, { names: attr.allowed?.join(", ") ?? "DT_FLOAT, DT_INT32 …", text: written });
}

function checkString(attr: AttrSchema, written: string): string | undefined {
  const plain = unquote(written);
  if (plain === undefined) return formTexts.needsBalance;
  return attr.allowed && !attr.allowed.includes(plain) ? text(formTexts.needsOneOf, { names: attr.allowed.join(", "), text: plain }) : undefined;
}

function checkShape(written: string): string | undefined {
  if (!balanced(written)) return formTexts.needsBalance;
  const size = "(\\?|-?\\d+)";
  const known = written === "?" || new RegExp(`^(\\[\\s*${size}\\s*\\]\\s*)+$|^\\[\\s*\\]$`).test(written) || new RegExp(`^[{[]?\\s*(${size}(\\s*[,;]\\s*${size})*)?\\s*[}\\]]?$`).test(written);
  return known ? undefined : text(formTexts.needsShape, { text: written });
}

/** What is wrong with the written value, as far as the schema tells; the engine has the last word. Empty text is the default. */
export function checkValue(attr: AttrSchema, written: string): string | undefined {
  const value = written.trim();
  if (value === "") return undefined;
  const list = /^list\((.*)\)$/.exec(attr.type);
  if (!list) return checkScalar(attr, attr.type, value);
  const elements = attr.type === "list(shape)" ? (balanced(value) ? [] : undefined) : splitList(value);
  if (!elements) return formTexts.needsBalance;
  if (attr.minimum !== undefined && attr.type !== "list(shape)" && elements.length < attr.minimum) {
    return text(formTexts.needsElements, { minimum: attr.minimum, count: elements.length });
  }
  for (const element of elements) {
    const fault = checkScalar(attr, list[1]!, element);
    if (fault) return fault;
  }
  return undefined;
}

function balanced(value: string): boolean {
  const nesting = new Nesting();
  return [...value].every((char) => nesting.take(char)) && nesting.top;
}
