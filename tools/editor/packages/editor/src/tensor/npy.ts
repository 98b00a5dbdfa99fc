/** numpy's .npy files: reading every element type that a page can hold, and writing. */
import { requireDType, type DTypeInfo, LITERAL_DTYPES } from "./dtype";
import { countOf, tensorBytes, tensorFromBytes, type TensorValue } from "./tensor";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

interface Header {
  descr: string;
  fortran: boolean;
  shape: number[];
}

/** The tensor in the bytes of a .npy file. Throws an Error that says what is wrong. `V2` words are read as bfloat16. */
export function parseNpy(buffer: ArrayBuffer): TensorValue {
  const bytes = new Uint8Array(buffer);
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw new Error("this is no .npy file: it does not begin with numpy's mark");
  const view = new DataView(buffer);
  const major = bytes[6] ?? 0;
  if (major < 1 || major > 3) throw new Error(`.npy version ${major} is not known`);
  const begin = major === 1 ? 10 : 12;
  if (bytes.length < begin) throw new Error("the .npy file ends within its header");
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (begin + length > bytes.length) throw new Error("the .npy file ends within its header");
  const text = new TextDecoder(major === 3 ? "utf-8" : "latin1").decode(bytes.subarray(begin, begin + length));
  return readElements(readHeader(text), bytes.subarray(begin + length));
}

function readHeader(text: string): Header {
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([^)]*)\)/.exec(text)?.[1];
  if (descr === undefined && /'descr'\s*:\s*\[/.test(text)) throw new Error("records of several fields are no tensor; save one field of them");
  if (descr === undefined || fortran === undefined || shape === undefined) throw new Error("the header of the .npy file cannot be read");
  const sizes = shape.split(",").map((size) => size.trim().replace(/L$/, "")).filter((size) => size !== "").map(Number);
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 0)) throw new Error(`the shape (${shape}) cannot be read`);
  return { descr, fortran: fortran === "True", shape: sizes };
}

function readElements(header: Header, bytes: Uint8Array): TensorValue {
  const [, order = "", kind = "", digits = ""] = /^([<>|=]?)([A-Za-z])(\d*)$/.exec(header.descr) ?? [];
  const size = Number(digits || 0);
  if (kind === "O") throw new Error("Python objects are no tensor; save them with dtype=str or as numbers");
  if (kind === "U" || kind === "S") return transposed(header, readStrings(header, bytes, kind, size, order === ">"));
  const info = LITERAL_DTYPES.map(requireDType).find((each) => each.npy === `${kind}${size}`);
  if (!info) throw new Error(`Weft has no type for numpy's '${header.descr}': save it as another, as by astype("float32")`);
  const needed = countOf(header.shape) * info.bytes;
  if (bytes.length < needed) throw new Error(`the file needs ${needed} bytes of elements, found ${bytes.length}`);
  const own = bytes.slice(0, needed);
  if (order === ">") swapBytes(own, info);
  return transposed(header, tensorFromBytes(info.name, header.shape, own));
}

function swapBytes(bytes: Uint8Array, info: DTypeInfo): void {
  const width = info.kind === "complex" ? info.bytes / 2 : info.bytes;
  for (let at = 0; at + width <= bytes.length; at += width) bytes.subarray(at, at + width).reverse();
}

function readStrings(header: Header, bytes: Uint8Array, kind: string, size: number, big: boolean): TensorValue {
  const count = countOf(header.shape);
  const width = kind === "U" ? size * 4 : size;
  if (bytes.length < count * width) throw new Error(`the file needs ${count * width} bytes of elements, found ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const decoder = new TextDecoder();
  const data = Array.from({ length: count }, (_, i) => {
    if (kind === "S") return decoder.decode(bytes.subarray(i * width, (i + 1) * width)).replace(/\0+$/, "");
    let text = "";
    for (let at = i * width; at < (i + 1) * width; at += 4) text += String.fromCodePoint(Math.min(view.getUint32(at, !big), 0x10ffff));
    return text.replace(/\0+$/, "");
  });
  return { dtype: "DT_STRING", shape: header.shape, data };
}

/** Elements in Fortran's order brought to row-major order. */
function transposed(header: Header, tensor: TensorValue): TensorValue {
  const { shape } = tensor;
  if (!header.fortran || shape.length < 2) return tensor;
  const info = requireDType(tensor.dtype);
  const width = info.kind === "complex" ? 2 : 1;
  const data = info.make(countOf(shape));
  const place = new Array<number>(shape.length).fill(0);
  const strides = shape.map((_, axis) => countOf(shape.slice(0, axis)));
  for (let i = 0, count = countOf(shape); i < count; ++i) {
    let from = 0;
    for (let axis = 0; axis < shape.length; ++axis) from += (place[axis] ?? 0) * (strides[axis] ?? 0);
    for (let part = 0; part < width; ++part) data[i * width + part] = tensor.data[from * width + part] as never;
    for (let axis = shape.length - 1; axis >= 0 && ++place[axis]! === shape[axis]; --axis) place[axis] = 0;
  }
  return { dtype: tensor.dtype, shape, data };
}

/** The bytes of a .npy file with the tensor. Quantized types become plain integers, bfloat16 becomes raw words (`V2`). */
export function writeNpy(tensor: TensorValue): Uint8Array {
  const info = requireDType(tensor.dtype);
  const [descr, elements] = info.kind === "string" ? stringElements(tensor) : [plainDescr(info), tensorBytes(tensor)];
  const shape = tensor.shape.length === 1 ? `(${tensor.shape[0]},)` : `(${tensor.shape.join(", ")})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const out = new Uint8Array(10 + padded.length + elements.length);
  out.set(MAGIC);
  out[6] = 1;
  new DataView(out.buffer).setUint16(8, padded.length, true);
  out.set(new TextEncoder().encode(padded), 10);
  out.set(elements, 10 + padded.length);
  return out;
}

function plainDescr(info: DTypeInfo): string {
  if (info.kind === "resource") throw new Error("a handle cannot be saved");
  const code = info.npy || `${info.min === 0n ? "u" : "i"}${info.bytes}`;
  return (info.bytes === 1 || code === "V2" ? "|" : "<") + code;
}

function stringElements(tensor: TensorValue): [string, Uint8Array] {
  const texts = (tensor.data as string[]).map((text) => [...text]);
  const width = texts.reduce((most, text) => Math.max(most, text.length), 1);
  const out = new Uint8Array(texts.length * width * 4);
  const view = new DataView(out.buffer);
  texts.forEach((text, i) => text.forEach((char, k) => view.setUint32((i * width + k) * 4, char.codePointAt(0)!, true)));
  return [`<U${width}`, out];
}
