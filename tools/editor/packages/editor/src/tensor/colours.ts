/** Pictures of tensors: colours by value. */

export type ColourMap = "grey" | "heat" | "diverging";

/** Stops of each map, evenly apart; heat is close to viridis, which colour-blind people read as well. */
const STOPS: Record<ColourMap, readonly (readonly [number, number, number])[]> = {
  grey: [[0, 0, 0], [255, 255, 255]],
  heat: [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]],
  diverging: [[33, 76, 168], [108, 156, 219], [241, 241, 241], [230, 140, 108], [165, 29, 36]],
};

const NOT_FINITE: readonly [number, number, number] = [255, 0, 200];
const tables = new Map<ColourMap, Uint8ClampedArray>();

/** 256 colours, three bytes each. */
export function colourTable(map: ColourMap): Uint8ClampedArray {
  let table = tables.get(map);
  if (table) return table;
  table = new Uint8ClampedArray(768);
  const stops = STOPS[map];
  for (let i = 0; i < 256; ++i) {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    for (let part = 0; part < 3; ++part) table[i * 3 + part] = stops[low]![part]! * (1 - at + low) + stops[low + 1]![part]! * (at - low);
  }
  tables.set(map, table);
  return table;
}

/** Which axes of a tensor a picture shows. */
export interface PictureAxes {
  readonly row: number;
  readonly column: number;
  /** Of colour pictures. */
  readonly channel?: number;
}

/** The axes for a shape: channels last, as NHWC has them, where the last axis has 1, 3 or 4; channels first where the one before the rows has. */
export function pictureAxes(shape: readonly number[]): PictureAxes | undefined {
  const rank = shape.length;
  if (rank < 2) return undefined;
  if (rank >= 3 && [1, 3, 4].includes(shape[rank - 1]!)) return { row: rank - 3, column: rank - 2, channel: rank - 1 };
  if (rank >= 3 && [3, 4].includes(shape[rank - 3]!)) return { row: rank - 2, column: rank - 1, channel: rank - 3 };
  return { row: rank - 2, column: rank - 1 };
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity of each pixel. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
}

export interface PictureOptions {
  readonly axes: PictureAxes;
  /** Index on each axis; those of the picture do not count. */
  readonly place: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly colours: ColourMap | "rgb";
  /** Longest edge; larger tensors are thinned out. */
  readonly most?: number;
}

/** The picture of a tensor's elements. What is not finite has a colour that no map has. */
export function drawPicture(values: ArrayLike<number>, shape: readonly number[], options: PictureOptions): Picture {
  const { axes, place, low, high, colours, most = 2048 } = options;
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const rows = shape[axes.row]!, columns = shape[axes.column]!;
  const thin = Math.max(1, Math.ceil(Math.max(rows, columns) / most));
  const height = Math.ceil(rows / thin), width = Math.ceil(columns / thin);
  const shown = new Set([axes.row, axes.column, ...(colours === "rgb" && axes.channel !== undefined ? [axes.channel] : [])]);
  const begin = strides.reduce((sum, stride, axis) => sum + (shown.has(axis) ? 0 : stride * (place[axis] ?? 0)), 0);
  const pixels = new Uint8ClampedArray(new ArrayBuffer(width * height * 4));
  const scale = 255 / (high - low || 1);
  const table = colours === "rgb" ? undefined : colourTable(colours);
  const channel = axes.channel === undefined ? 0 : strides[axes.channel]!;
  for (let y = 0, to = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, to += 4) {
      const at = begin + y * thin * strides[axes.row]! + x * thin * strides[axes.column]!;
      if (table) putMapped(pixels, to, table, (values[at]! - low) * scale);
      else putRgb(pixels, to, values, at, channel, low, scale);
      pixels[to + 3] = 255;
    }
  }
  return { width, height, pixels };
}

function putMapped(pixels: Uint8ClampedArray, to: number, table: Uint8ClampedArray, level: number): void {
  const finite = Number.isFinite(level);
  const from = Math.round(Math.max(0, Math.min(255, finite ? level : 0))) * 3;
  for (let part = 0; part < 3; ++part) pixels[to + part] = finite ? table[from + part]! : NOT_FINITE[part]!;
}

function putRgb(pixels: Uint8ClampedArray, to: number, values: ArrayLike<number>, at: number, stride: number, low: number, scale: number): void {
  const finite = [0, 1, 2].every((part) => Number.isFinite(values[at + part * stride]));
  for (let part = 0; part < 3; ++part) pixels[to + part] = finite ? (values[at + part * stride]! - low) * scale : NOT_FINITE[part]!;
}
