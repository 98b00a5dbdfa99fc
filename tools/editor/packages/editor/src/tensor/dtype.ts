/** Element types: names, sizes, numpy's spelling, and the arrays that hold them in the browser. */

import type { TensorData } from "@weft/client";

/** Arrays that hold a tensor's elements. Half and bfloat16 are raw 16 bit words here, a complex number is two neighbours. */
export type { TensorData };

export type DTypeKind = "float" | "int" | "bool" | "complex" | "string" | "resource";

/** What is known of an element type. */
export interface DTypeInfo {
  /** As pages write it, such as "DT_FLOAT". */
  readonly name: string;
  /** As people say it, such as "float". */
  readonly short: string;
  readonly kind: DTypeKind;
  /** Bytes of an element; 0 for strings and resources. */
  readonly bytes: number;
  /** numpy's type code without the byte order, "" where numpy has none. */
  readonly npy: string;
  /** Smallest and largest integer. */
  readonly min?: bigint;
  readonly max?: bigint;
  /** Decimal digits that tell any two values apart. */
  readonly digits?: number;
  /** A new array for `count` elements. */
  make(count: number): TensorData;
  /** The array that shows `count` elements of a buffer, at an aligned offset. */
  view?(buffer: ArrayBuffer, offset: number, count: number): TensorData;
}

interface ArrayKind {
  new (count: number): TensorData;
  new (buffer: ArrayBuffer, offset: number, count: number): TensorData;
}

function numeric(name: string, short: string, kind: DTypeKind, bytes: number, npy: string, array: unknown, more: Partial<DTypeInfo> = {}): DTypeInfo {
  const Kind = array as ArrayKind;
  const width = kind === "complex" ? 2 : 1;
  return {
    name, short, kind, bytes, npy,
    make: (count) => new Kind(count * width),
    view: (buffer, offset, count) => new Kind(buffer, offset, count * width),
    ...more,
  };
}

function integer(name: string, bits: number, signed: boolean, npy: string, array: unknown): DTypeInfo {
  const span = 1n << BigInt(bits);
  const range = signed ? { min: -(span >> 1n), max: (span >> 1n) - 1n } : { min: 0n, max: span - 1n };
  return numeric(name, name.slice(3).toLowerCase(), "int", bits / 8, npy, array, range);
}

const plain = (name: string, short: string, kind: DTypeKind, npy: string): DTypeInfo => ({
  name, short, kind, bytes: 0, npy, make: (count) => new Array<string>(count).fill(""),
});

const LIST: readonly DTypeInfo[] = [
  numeric("DT_FLOAT", "float", "float", 4, "f4", Float32Array, { digits: 9 }),
  numeric("DT_DOUBLE", "double", "float", 8, "f8", Float64Array, { digits: 17 }),
  numeric("DT_HALF", "half", "float", 2, "f2", Uint16Array, { digits: 5 }),
  numeric("DT_BFLOAT16", "bfloat16", "float", 2, "V2", Uint16Array, { digits: 4 }),
  integer("DT_INT8", 8, true, "i1", Int8Array),
  integer("DT_INT16", 16, true, "i2", Int16Array),
  integer("DT_INT32", 32, true, "i4", Int32Array),
  integer("DT_INT64", 64, true, "i8", BigInt64Array),
  integer("DT_UINT8", 8, false, "u1", Uint8Array),
  integer("DT_UINT16", 16, false, "u2", Uint16Array),
  integer("DT_UINT32", 32, false, "u4", Uint32Array),
  integer("DT_UINT64", 64, false, "u8", BigUint64Array),
  integer("DT_QINT8", 8, true, "", Int8Array),
  integer("DT_QINT16", 16, true, "", Int16Array),
  integer("DT_QINT32", 32, true, "", Int32Array),
  integer("DT_QUINT8", 8, false, "", Uint8Array),
  integer("DT_QUINT16", 16, false, "", Uint16Array),
  numeric("DT_BOOL", "bool", "bool", 1, "b1", Uint8Array),
  numeric("DT_COMPLEX64", "complex64", "complex", 8, "c8", Float32Array, { digits: 9 }),
  numeric("DT_COMPLEX128", "complex128", "complex", 16, "c16", Float64Array, { digits: 17 }),
  plain("DT_STRING", "string", "string", "U"),
  plain("DT_RESOURCE", "resource", "resource", ""),
];

const BY_NAME = new Map(LIST.map((info) => [info.name, info]));

/** Names of the types that a literal can have, in the order of menus. */
export const LITERAL_DTYPES: readonly string[] = LIST.filter((info) => info.kind !== "resource").map((info) => info.name);

/** What is known of the type `name`; undefined for one that is not known. */
export function dtypeInfo(name: string): DTypeInfo | undefined {
  return BY_NAME.get(name);
}

/** The type `name`, or an error that says that there is none. */
export function requireDType(name: string): DTypeInfo {
  const info = BY_NAME.get(name);
  if (!info) throw new Error(`there is no element type '${name}'`);
  return info;
}

/** "float" for "DT_FLOAT"; a name that is not known is lowered and shortened likewise. */
export function shortDType(name: string): string {
  return BY_NAME.get(name)?.short ?? name.replace(/^DT_/, "").toLowerCase();
}
