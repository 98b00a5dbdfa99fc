import type { Sample, Tensor, TensorData } from "./types";

interface TensorHeader {
  key: string;
  dtype: string;
  shape: number[];
  offset: number;
  bytes: number;
}

type FrameHeader = Record<string, unknown> & { type: string; tensors?: TensorHeader[] };

/** A binary frame: its header, and its tensors by key. */
export interface Frame {
  header: FrameHeader;
  tensors: Record<string, Tensor>;
}

/** Reads a binary frame (protocol, section 8). Throws RangeError for one that is cut. */
export function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < 4) throw new RangeError("a binary frame is too short");
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new RangeError("the header of a binary frame is cut");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as FrameHeader;
  const tensors: Record<string, Tensor> = {};
  for (const { key, dtype, shape, offset, bytes } of header.tensors ?? []) {
    if (offset + bytes > buffer.byteLength) throw new RangeError("the elements of a binary frame are cut");
    tensors[key] = { dtype, shape, data: decodeElements(dtype, buffer, offset, bytes) };
  }
  return { header, tensors };
}

/** A frame of a subscription as a sample, or as several in one (`batch`); null where it is none. */
export function decodeSample(buffer: ArrayBuffer): Sample | null {
  const { header, tensors } = decodeFrame(buffer);
  if (header.type !== "sample" && header.type !== "samples") return null;
  const { tensors: _elements, high, count, ...rest } = header;
  const runs = tensors["run"]?.data;
  const batch = header.type === "samples" && typeof count === "number" && runs ? { count, runs: Array.from(runs as BigInt64Array, Number) } : undefined;
  return { ...(rest as unknown as Sample), batch, value: tensors["value"], high: tensors["high"], highest: typeof high === "number" ? high : undefined };
}

/** Elements as a typed array. Complex numbers are pairs; half and bfloat16 are widened to float. */
export function decodeElements(dtype: string, buffer: ArrayBuffer, offset: number, bytes: number): TensorData {
  const size = elementBytes(dtype);
  const aligned = offset % size === 0 ? buffer : buffer.slice(offset, offset + bytes);
  const at = aligned === buffer ? offset : 0;
  const n = Math.floor(bytes / size);
  switch (dtype.replace(/^DT_/, "")) {
    case "FLOAT": case "COMPLEX64": return new Float32Array(aligned, at, n);
    case "DOUBLE": case "COMPLEX128": return new Float64Array(aligned, at, n);
    case "INT8": case "QINT8": return new Int8Array(aligned, at, n);
    case "INT16": case "QINT16": return new Int16Array(aligned, at, n);
    case "INT32": case "QINT32": return new Int32Array(aligned, at, n);
    case "INT64": return new BigInt64Array(aligned, at, n);
    case "UINT16": case "QUINT16": return new Uint16Array(aligned, at, n);
    case "UINT32": return new Uint32Array(aligned, at, n);
    case "UINT64": return new BigUint64Array(aligned, at, n);
    case "HALF": return Float32Array.from(new Uint16Array(aligned, at, n), halfToFloat);
    case "BFLOAT16": return Float32Array.from(new Uint16Array(aligned, at, n), bfloat16ToFloat);
    default: return new Uint8Array(aligned, at, n);
  }
}

function elementBytes(dtype: string): number {
  const name = dtype.replace(/^DT_/, "");
  if (/DOUBLE|COMPLEX128|INT64/.test(name)) return 8;
  if (/FLOAT$|COMPLEX64|INT32/.test(name)) return 4;
  if (/HALF|BFLOAT16|INT16/.test(name)) return 2;
  return 1;
}

/** The number whose binary16 bits these are. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const word = new DataView(new ArrayBuffer(4));

/** The number whose bfloat16 bits these are. */
export function bfloat16ToFloat(bits: number): number {
  word.setUint32(0, bits << 16);
  return word.getFloat32(0);
}
