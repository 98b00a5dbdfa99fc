/** Statistics of a tensor's elements. Complex numbers count by their magnitude. */
import { requireDType } from "./dtype";
import { countOf, magnitudeAt, numbersOf, type TensorValue } from "./tensor";

/** What the elements are like. Minimum to deviation are of the finite ones, NaN where there are none. */
export interface Stats {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** Standard deviation, of the elements as the whole (divided by their number). */
  readonly std: number;
  readonly zeros: number;
  readonly nan: number;
  readonly inf: number;
}

/** Elements as numbers to count with; undefined for strings and handles. */
export function measures(tensor: TensorValue): ArrayLike<number> | undefined {
  const { kind } = requireDType(tensor.dtype);
  if (kind === "string" || kind === "resource") return undefined;
  if (kind !== "complex") return numbersOf(tensor);
  return Float64Array.from({ length: countOf(tensor.shape) }, (_, i) => magnitudeAt(tensor, i));
}

/** Statistics in one pass (Welford's), so that large offsets do not spoil the deviation. */
export function statsOf(values: ArrayLike<number>): Stats {
  let min = Infinity, max = -Infinity, mean = 0, squares = 0, finite = 0, nan = 0, inf = 0, zeros = 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (value !== value) ++nan;
    else if (value === Infinity || value === -Infinity) ++inf;
    else {
      if (value === 0) ++zeros;
      if (value < min) min = value;
      if (value > max) max = value;
      const apart = value - mean;
      mean += apart / ++finite;
      squares += apart * (value - mean);
    }
  }
  const none = finite === 0;
  return {
    count: values.length, nan, inf, zeros,
    min: none ? NaN : min, max: none ? NaN : max, mean: none ? NaN : mean, std: none ? NaN : Math.sqrt(squares / finite),
  };
}

/** Equal bins from `min` to `max`. */
export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly counts: Uint32Array;
}

/** More parts for more values, so that bars show a shape rather than single elements (Rice's rule and a half). */
function suggestedBins(count: number): number {
  return Math.max(8, Math.min(64, Math.ceil(3 * Math.cbrt(count))));
}

/** Counts of the finite values in `bins` equal parts of their range. Whole numbers of a small range have a bin each. */
export function histogramOf(values: ArrayLike<number>, stats: Stats, bins = suggestedBins(stats.count)): Histogram {
  let { min, max } = stats;
  if (!(max >= min)) return { min: 0, max: 1, counts: new Uint32Array(0) };
  const span = max - min;
  let count = bins;
  if (span < 64 && allWhole(values)) {
    min -= 0.5;
    max += 0.5;
    count = Math.round(max - min);
  } else if (span === 0) {
    min -= Math.abs(min) / 2 || 0.5;
    max += Math.abs(max) / 2 || 0.5;
  }
  const counts = new Uint32Array(count);
  const scale = count / (max - min);
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (value >= min && value <= max) counts[Math.min(count - 1, Math.floor((value - min) * scale))]! += 1;
  }
  return { min, max, counts };
}

function allWhole(values: ArrayLike<number>): boolean {
  for (let i = 0; i < values.length; ++i) if (Number.isFinite(values[i]) && !Number.isInteger(values[i])) return false;
  return true;
}

/** Index of the next NaN or infinity after `from`, beginning again at the start; -1 where there is none. */
export function nextNonFinite(values: ArrayLike<number>, from: number): number {
  for (let step = 1; step <= values.length; ++step) {
    const index = (from + step) % values.length;
    if (!Number.isFinite(values[index])) return index;
  }
  return -1;
}
