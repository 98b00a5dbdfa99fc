import { texts } from "../texts";
import type { DType, PortType } from "@weft/client";

/** A port of a block on a page: "sum.inputs[1]" is block "sum", port "inputs", index 1. */
export interface PortName {
  block: string;
  port: string;
  index?: number;
}

/** Takes "ID.port" or "ID.port[k]" apart. Ids of imported pages may hold dots: the last one counts. */
export function parsePort(name: string): PortName {
  const dot = name.lastIndexOf(".");
  const block = dot < 0 ? name : name.slice(0, dot);
  const rest = dot < 0 ? "" : name.slice(dot + 1);
  const match = /^(.*?)\[(\d+)\]$/.exec(rest);
  return match ? { block, port: match[1] ?? "", index: Number(match[2]) } : { block, port: rest };
}

/** The port's name within its block: "inputs[1]". */
export function localPort(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** "DT_FLOAT" as people write it: "float". References ("DT_FLOAT_REF") are as what they refer to. */
export function shortType(dtype: DType | undefined): string {
  if (!dtype) return "";
  return dtype.replace(/^DT_/, "").replace(/_REF$/, "").toLowerCase();
}

/** A shape as on enuSpace pages and in NumPy: "[2, ?]". */
export function shapeText(shape: readonly number[] | undefined): string {
  if (!shape) return "";
  return `[${shape.map((size) => (size < 0 ? "?" : size)).join(", ")}]`;
}

/** "float [2, 3]"; empty where nothing is known. */
export function typeText(type: PortType | undefined): string {
  if (!type) return "";
  const known = [shortType(type.dtype), shapeText(type.shape)].filter(Boolean).join(" ");
  return type.variable && known ? `${known} variable` : known;
}

/** The family of a type, which decides the colour of wires and ports. */
export function typeFamily(dtype: DType | undefined): string {
  const name = shortType(dtype);
  if (!name) return "unknown";
  if (name === "float" || name === "double" || name === "bool" || name === "string") return name;
  if (name === "half" || name === "bfloat16") return "half";
  if (name.startsWith("uint")) return "uint";
  if (name.startsWith("int")) return "int";
  if (name.startsWith("complex")) return "complex";
  if (name.startsWith("q")) return "quantized";
  if (name === "resource" || name === "variant") return "handle";
  return "unknown";
}

/** The CSS colour of a type. */
export const typeColor = (dtype: DType | undefined): string => `var(--w-type-${typeFamily(dtype)})`;

const categories = new Set(["math", "array_ops", "nn", "training", "state", "core", "control_flow_ops", "random"]);

/** The CSS colour of a category of blocks. */
export function categoryColor(category: string | undefined): string {
  if (category && categories.has(category)) return `var(--w-cat-${category})`;
  if (category === "io_ops" || category === "logging_ops") return "var(--w-cat-io)";
  return "var(--w-cat-other)";
}

/** "control_flow_ops" as a heading: "Control flow". */
export function categoryTitle(category: string): string {
  const known = (texts.categories as Record<string, string>)[category];
  if (known) return known;
  const words = category.replace(/_ops?$/, "").replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number in few characters, for badges; `inf`, `nan` as the engine writes them. */
export function shortNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** The text, or as much of its beginning as `most` letters hold. */
export const cutText = (value: string, most: number): string => (value.length <= most ? value : `${value.slice(0, most - 1)}…`);
