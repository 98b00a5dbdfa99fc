/** A tensor in the browser, and access to its elements. */
import { bfloat16ToFloat, halfToFloat } from "@weft/client";
import { numberToBfloat16, numberToHalf } from "./half";
import { requireDType, type TensorData } from "./dtype";

/**
 * A value: element type, shape and elements in row-major order. Treat it as immutable. Half and bfloat16 come as words (Uint16Array) or
 * widened (Float32Array); the functions here take both.
 */
export interface TensorValue {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/** Number of elements of a shape. */
export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** "[2,3]", or "scalar". */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : `[${shape.join(",")}]`;
}

/** A tensor of zeros, false or empty strings. */
export function zeros(dtype: string, shape: readonly number[]): TensorValue {
  return { dtype, shape, data: requireDType(dtype).make(countOf(shape)) };
}

/** The tensor of bytes as the server sends them: little endian, row major. The bytes are copied only where they are not aligned. */
export function tensorFromBytes(dtype: string, shape: readonly number[], bytes: Uint8Array): TensorValue {
  const info = requireDType(dtype);
  const count = countOf(shape);
  if (!info.view) throw new Error(`values of type ${info.short} do not come as bytes`);
  if (bytes.byteLength < count * info.bytes) {
    throw new Error(`the value ${info.short} ${shapeText(shape)} needs ${count * info.bytes} bytes, found ${bytes.byteLength}`);
  }
  const width = info.kind === "complex" ? info.bytes / 2 : info.bytes;
  const aligned = bytes.byteOffset % width === 0 && bytes.buffer instanceof ArrayBuffer;
  const source = aligned ? bytes : bytes.slice();
  return { dtype, shape, data: info.view(source.buffer as ArrayBuffer, source.byteOffset, count) };
}

/** The elements' bytes, little endian, row major. Strings have none. */
export function tensorBytes(tensor: TensorValue): Uint8Array {
  if (Array.isArray(tensor.data)) throw new Error("strings have no bytes of fixed size");
  if (tensor.dtype === "DT_HALF" || tensor.dtype === "DT_BFLOAT16") {
    const toWord = tensor.dtype === "DT_HALF" ? numberToHalf : numberToBfloat16;
    const words = tensor.data instanceof Uint16Array ? tensor.data : Uint16Array.from(tensor.data as Float32Array, toWord);
    return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  }
  return new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
}

/** Element `index` as a number: the real part of a complex one, NaN for strings. Integers of 64 bits lose what a double cannot hold. */
export function numberAt(tensor: TensorValue, index: number): number {
  const { data, dtype } = tensor;
  if (data instanceof Uint16Array && dtype === "DT_HALF") return halfToFloat(data[index] ?? 0);
  if (data instanceof Uint16Array && dtype === "DT_BFLOAT16") return bfloat16ToFloat(data[index] ?? 0);
  if (dtype === "DT_COMPLEX64" || dtype === "DT_COMPLEX128") return Number(data[2 * index] ?? NaN);
  const element = data[index];
  return typeof element === "string" || element === undefined ? NaN : Number(element);
}

/** As numberAt, but the magnitude of a complex number. */
export function magnitudeAt(tensor: TensorValue, index: number): number {
  if (requireDType(tensor.dtype).kind !== "complex") return numberAt(tensor, index);
  return Math.hypot(Number(tensor.data[2 * index]), Number(tensor.data[2 * index + 1]));
}

/** All elements as numbers. Arrays of doubles, floats and small integers are shown without a copy. */
export function numbersOf(tensor: TensorValue): ArrayLike<number> {
  const { data, dtype } = tensor;
  const wide = Array.isArray(data) || data instanceof BigInt64Array || data instanceof BigUint64Array;
  const words = data instanceof Uint16Array && (dtype === "DT_HALF" || dtype === "DT_BFLOAT16");
  if (!wide && !words && !dtype.startsWith("DT_COMPLEX")) return data as Float64Array;
  const count = countOf(tensor.shape);
  const out = new Float64Array(count);
  for (let i = 0; i < count; ++i) out[i] = numberAt(tensor, i);
  return out;
}

/** Index in row-major order of a place. */
export function flatIndex(shape: readonly number[], place: readonly number[]): number {
  return shape.reduce((index, size, axis) => index * size + (place[axis] ?? 0), 0);
}

/** Place of the element with that index in row-major order. */
export function placeOf(shape: readonly number[], index: number): number[] {
  const place = new Array<number>(shape.length).fill(0);
  let rest = index;
  for (let axis = shape.length - 1; axis >= 0; --axis) {
    const size = shape[axis] || 1;
    place[axis] = rest % size;
    rest = Math.floor(rest / size);
  }
  return place;
}

/** The same elements in another array, for a change. */
export function copyTensor(tensor: TensorValue): TensorValue {
  return { ...tensor, data: tensor.data.slice() as TensorData };
}
