/** The data that Weft's server and its clients exchange, as JSON. Names are those of the protocol (docs/protocol.md). */

/** An element type, as TensorFlow spells it: "DT_FLOAT". */
export type DType = string;

/** A port of a block type. */
export interface PortSchema {
  port: string;
  doc: string;
  type?: DType;
  type_attr?: string;
  type_list_attr?: string;
  variable_type_attr?: string;
  list?: boolean;
  list_length_attr?: string;
  optional?: boolean;
  reference?: boolean;
  kind?: "operation" | "feed" | "status";
}

export type AttrType =
  | "type" | "bool" | "string" | "int" | "float" | "shape"
  | "list(int)" | "list(type)" | "list(float)" | "list(string)" | "list(shape)" | "list(bool)";

/** A setting of a block type. */
export interface AttrSchema {
  name: string;
  type: AttrType;
  doc: string;
  default?: unknown;
  allowed?: string[];
  minimum?: number;
  /** The engine finds it from what is wired; it need not be given. */
  inferred?: boolean;
}

/** A block type of the palette. */
export interface BlockSchema {
  block: string;
  category: string;
  summary: string;
  details?: string;
  inputs: PortSchema[];
  outputs: PortSchema[];
  attrs: AttrSchema[];
  gradient?: string;
  stateful?: boolean;
  internal?: boolean;
  structural?: boolean;
  aliases?: string[];
  palette_spelling?: Record<string, string>;
}

/** All block types. `etag` changes whenever one does. */
export interface Schema {
  blocks: BlockSchema[];
  etag?: string;
}

/** A value written on the page. */
export interface TensorLiteral {
  dtype?: DType;
  shape?: number[];
  values?: unknown;
  text?: string;
  file?: string;
  [unknownKey: string]: unknown;
}

/** What an input has: a wire ("ID.port"), a value, or a list of either. */
export type InputValue = string | TensorLiteral | InputValue[] | null;

/** Attributes: the string that enuSpace writes, or an object of the same settings. */
export type Attrs = string | Record<string, unknown>;

/** A block as the page file spells it; unknown keys (notes, colours) survive. */
export interface Block {
  id: string;
  block: string;
  attrs?: Attrs;
  inputs?: Record<string, InputValue>;
  [unknownKey: string]: unknown;
}

/** From an output to an input; elements of lists as "ID.port[2]". */
export type Wire = [from: string, to: string];

export type Point = [x: number, y: number];

/** What is known of an output before a run. -1 in a shape: only a run tells. Without `shape` the rank is not known either. */
export interface PortType {
  dtype?: DType;
  shape?: number[];
  variable?: boolean;
}

export type Severity = "error" | "warning" | "note";

/** One finding: what is wrong, where, and the likely fix. */
export interface Diagnostic {
  code: string;
  severity: Severity;
  message: string;
  page?: string;
  block?: string;
  port?: string;
  pointer?: string;
  phase?: string;
  hint?: string;
  needed?: string;
  found?: string;
  causes?: Diagnostic[];
}

/** What an editor shows of a page, in one answer. */
export interface PageView {
  page: string;
  revision: string;
  name?: string;
  path?: string;
  blocks: Block[];
  wires: Wire[];
  layout: Record<string, Point>;
  types: Record<string, PortType>;
  diagnostics: Diagnostic[];
  /** Unknown keys of the page: frames, notes. */
  keys?: Record<string, unknown>;
  undo: number;
  redo: number;
  dirty: boolean;
}

/** One small edit, as weft_page_edit takes it. */
export type Edit =
  | { op: "add"; block: Block; place?: number; layout?: Point }
  | { op: "remove"; block: string; keep_wires?: boolean; keep_layout?: boolean }
  | { op: "connect"; from: string; to: string }
  | { op: "connect"; value: TensorLiteral; to: string }
  | { op: "disconnect"; to: string }
  | { op: "set"; input: string; value: InputValue }
  | { op: "set"; block: string; attr: string; value?: unknown; text?: string }
  | { op: "set"; block: string; attrs: Attrs | null }
  | { op: "set"; block: string; key: string; value: unknown }
  | { op: "set"; key: string; value: unknown }
  | { op: "rename"; block: string; to: string }
  | { op: "move"; block: string; layout: Point | null };

/** State of a block in a run. */
export type BlockState = "idle" | "waiting" | "running" | "done" | "skipped" | "failed" | "paused" | "stale";

/** A value in short, as blocks and wires show it. */
export interface ValueSummary {
  name: string;
  dtype: DType;
  shape: number[];
  /** The first elements, or all where there are few. */
  head: (number | string | boolean | null)[];
  count: number;
  min?: number | null;
  max?: number | null;
  mean?: number | null;
  nan?: number;
  inf?: number;
  /** The run that computed it, counted from 1. */
  run: number;
  /** Not of the last run: what it depends on was not evaluated. */
  stale?: boolean;
}

/** Elements of a tensor in memory. Complex numbers are pairs; half and bfloat16 are widened to Float32Array by `decode`. */
export type TensorData =
  | Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array | string[];

/** A tensor that was read whole or in a slice. */
export interface Tensor {
  dtype: DType;
  shape: number[];
  data: TensorData;
  /** Of a slice: the shape of the whole. */
  fullShape?: number[];
  run?: number;
  stale?: boolean;
}
