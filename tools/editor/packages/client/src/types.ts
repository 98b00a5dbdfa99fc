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

/** A page that the server has open. */
export interface PageInfo {
  id: string;
  name: string;
  path: string | null;
  format: "weft" | "enuspace_json" | "enuspace_svg";
  revision: number;
  dirty: boolean;
  on_disk: "same" | "changed" | "missing" | "none";
  undo: number;
  redo: number;
  undo_label: string | null;
  redo_label: string | null;
  blocks: number;
  errors: number;
  warnings: number;
  clients: number;
  seq: number;
  sessions: string[];
  run: Run | null;
}

/** What is known of a page's types and faults at a revision. */
export interface Checked {
  revision: number;
  types: Record<string, PortType>;
  types_removed?: string[];
  diagnostics: Diagnostic[];
  errors: number;
  warnings: number;
}

/** Everything of a page that is drawn, in one answer. */
export interface PageView {
  page: PageInfo;
  revision: number;
  blocks: Block[];
  wires: Wire[];
  layout: Record<string, Point>;
  auto_layout?: Record<string, Point>;
  /** Keys of the page itself, unknown ones (frames, notes) too. */
  keys: Record<string, unknown>;
  types: Record<string, PortType>;
  diagnostics: Diagnostic[];
  breakpoints: Breakpoint[];
  seq: number;
}

/** What an edit made different. */
export interface Change {
  revision: number;
  before: number;
  cause: "edit" | "undo" | "redo" | "replace" | "reload";
  label?: string | null;
  by?: string | null;
  added: string[];
  removed: string[];
  changed: string[];
  renamed: [from: string, to: string][];
  moved: string[];
  keys: string[];
  blocks?: { place: number; block: Block }[];
  wires?: Record<string, Wire[]>;
  layout?: Record<string, Point | null>;
  /** `layout` replaces all places. */
  layout_all?: boolean;
  page_keys?: Record<string, unknown>;
  undo: number;
  redo: number;
  undo_label: string | null;
  redo_label: string | null;
  dirty: boolean;
  /** Too large to send: fetch the view. */
  view?: boolean;
  checked?: Checked;
}

/** How edits are taken: see edit.h. */
export type EditMode = "apply" | "strict" | "try" | "open_inputs";

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

/** State of a block in a run, as the editor shows it. */
export type BlockState = "idle" | "waiting" | "running" | "done" | "skipped" | "failed" | "paused" | "stale";

/** An element as JSON holds it: NaN and infinities are strings, complex numbers pairs. */
export type Element = number | string | boolean | null | [number, number] | { base64: string };

/** A value in short, as blocks and wires show it. */
export interface ValueSummary {
  dtype: DType;
  shape: number[];
  count: number;
  bytes: number;
  session: string;
  /** The run that computed it, counted from 1. */
  generation: number;
  /** Not of the last run: what it depends on was not evaluated. */
  stale: boolean;
  /** Of a run that is paused within. */
  in_progress: boolean;
  /** Of a run of the page before its last edits. */
  outdated_page: boolean;
  /** Short enough for a wire. */
  text: string;
  first: Element[];
  /** Of strings: some of `first` are longer. */
  cut?: boolean;
  min?: Element;
  max?: Element;
  mean?: Element;
  nan?: number;
  inf?: number;
}

/** A summary, or why there is none. */
export type Summary = ValueSummary | { error: Diagnostic };

/** A value with its elements. */
export interface Value {
  name: string;
  dtype: DType;
  shape: number[];
  full_shape: number[];
  count: number;
  values: Element[];
  cut: boolean;
  session?: string;
  generation?: number;
  stale?: boolean;
  in_progress?: boolean;
  outdated_page?: boolean;
}

export interface Statistics {
  name: string;
  dtype: DType;
  shape: number[];
  count: number;
  nan: number;
  inf: number;
  zero: number;
  min: Element;
  max: Element;
  mean: Element;
  std: Element;
  histogram: { low: number; high: number; counts: number[] };
  generation: number;
}

export interface VariableInfo {
  name: string;
  dtype: DType;
  shape: number[];
  has_value: boolean;
  text: string;
  count: number;
}

export interface Pause {
  reason: "asked" | "reached" | "stepped" | "break";
  block?: string;
  text?: string;
  breakpoint?: string;
}

export interface SessionRun {
  id: string;
  state: string;
  runs: number;
  /** -1: until stopped. */
  steps_left: number;
  elapsed_ms: number;
  outdated_page: boolean;
  pause?: Pause | null;
}

/** A run of a page: in progress, paused or over. */
export interface Run {
  id: string;
  page: string;
  target: "page" | "session" | "fetches";
  state: "running" | "paused" | "ended";
  outcome: "ok" | "stopped" | "cancelled" | "failed" | null;
  error: Diagnostic | null;
  mode: RunMode;
  by: string | null;
  started: string;
  elapsed_ms: number;
  revision: number;
  sessions: SessionRun[];
}

/** enuSpace's modes. */
export type RunMode = "EDIT" | "FREEZE" | "STEP" | "RUN";

/** What to run. */
export interface RunRequest {
  session?: string;
  fetches?: string[];
  operations?: string[];
  steps?: number | "until_stopped";
  interval_ms?: number;
  deadline_ms?: number;
  until_block?: string;
  paused?: boolean;
}

export interface Breakpoint {
  id: string;
  kind: "before" | "not_finite" | "condition";
  block?: string | null;
  port?: string | null;
  condition?: string | null;
  from_hit: number;
  once: boolean;
  enabled: boolean;
  hits: number;
  by: string | null;
  lease: string;
}

export type NewBreakpoint = Pick<Breakpoint, "kind"> & Partial<Omit<Breakpoint, "id" | "kind" | "hits" | "by" | "lease">>;

export type BlockProgress = "began" | "ended" | "skipped" | "failed" | "cancelled";

export interface Timings {
  runs: number;
  blocks: Record<string, { ns: number; most_ns: number; count: number; share: number }>;
}

export interface FileInfo {
  path: string;
  kind: "page" | "json" | "svg" | "npy" | "csv" | "state";
  bytes: number;
  modified: string;
  open?: string;
}

export interface ExampleInfo {
  name: string;
  title: string;
  blocks?: number;
  summary: string;
}

export interface RecoveryInfo {
  id: string;
  path: string | null;
  name: string;
  edits: number;
  modified: string;
  changed_on_disk: boolean;
}

export interface ServerInfo {
  name: string;
  version: string;
  protocol: number;
  instance: string;
  folder: string;
  read_only: boolean;
  no_files: boolean;
  features: string[];
  schema: string;
  limits: Record<string, number>;
  open?: string;
}

/** What the server tells of a page. Numbered events have `seq`. */
export type Event = { page?: string; seq?: number } & (
  | { type: "page.changed"; change: Change }
  | { type: "page.checked"; checked: Checked }
  | { type: "page.saved"; document: PageInfo; by: string | null }
  | { type: "page.disk"; on_disk: PageInfo["on_disk"] }
  | { type: "page.closed"; by: string | null }
  | { type: "run.started" | "run.state" | "run.ended"; run: Run }
  | { type: "run.error"; run: string; session: string; error: Diagnostic }
  | { type: "run.print"; run: string; session: string; block: string; text: string; dropped?: number }
  | { type: "breakpoints"; breakpoints: Breakpoint[] }
  | { type: "variables" | "feeds"; names: string[]; by?: string | null }
  | { type: "values.reset" }
  | { type: "run.tick"; run: Run; blocks?: Record<string, { progress: BlockProgress; run: number }>; fraction: number | null; runs_per_second: number; timings?: Timings }
  | { type: "values"; values: Record<string, Summary> }
  | { type: "pages"; pages: PageInfo[] }
  | { type: "clients"; clients: { id: string; name: string }[] }
  | { type: "value.lost"; sub: number; error: Diagnostic }
  | { type: "lost"; topics: string[] }
  | { type: "bye"; reason: string }
);

/** How values between two samples are reduced. */
export type Reduction = "each" | "last" | "mean" | "min_max" | "decimate" | "histogram";

/** One sample of a subscription to a value, or several (`batch`). */
export interface Sample {
  /** Several samples of one shape: `value` has one axis more in front, `runs` is the run of each. The other fields are those of the last. */
  batch?: { count: number; runs: number[] };
  sub: number;
  page: string;
  name: string;
  seq: number;
  first_run: number;
  run: number;
  runs: number;
  dropped: number;
  t_ms: number;
  stride: number;
  reduction: Reduction;
  generation: number;
  value?: Tensor;
  high?: Tensor;
  values?: Element[];
  /** Of strings: they are more or longer. */
  cut?: boolean;
  low?: number;
  highest?: number;
  not_finite?: number;
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
