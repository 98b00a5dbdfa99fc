/** Series with points of their own as columns over one axis, no more points than the screen shows. */
import type { Ring, TrendAxis } from "./store";

/** What uPlot takes: the axis, then the values of each series; null is a gap, undefined no point. */
export type Columns = [number[], ...(number | null | undefined)[][]];

/** From and to on the axis. */
export type Span = readonly [from: number, to: number];

/**
 * The points of a series within the span: all where they are few, else the lowest and highest of each part, so that peaks stay. NaN and infinite
 * values, and in a logarithmic plot those that are not positive, are gaps.
 */
export function thinned(points: Ring, axis: TrendAxis, most: number, logarithmic: boolean, span?: Span): { x: number[]; y: (number | null)[] } {
  // One point beyond each edge, so that lines reach it.
  const first = span ? Math.max(0, points.search(span[0], axis) - 1) : 0;
  const end = span ? Math.min(points.length, points.search(span[1], axis) + 2) : points.length;
  const x: number[] = [], y: (number | null)[] = [];
  const take = (i: number) => {
    const value = points.y(i);
    x.push(points.x(i, axis));
    y.push(Number.isFinite(value) && (!logarithmic || value > 0) ? value : null);
  };
  if (end - first <= most) {
    for (let i = first; i < end; ++i) take(i);
    return { x, y };
  }
  const parts = Math.max(1, most >> 1);
  for (let part = 0; part < parts; ++part) {
    const from = first + Math.floor(((end - first) * part) / parts), to = first + Math.floor(((end - first) * (part + 1)) / parts);
    takeExtremes(points, from, to, logarithmic, take);
  }
  return { x, y };
}

function takeExtremes(points: Ring, from: number, to: number, logarithmic: boolean, take: (i: number) => void): void {
  let low = -1, high = -1, gap = -1;
  for (let i = from; i < to; ++i) {
    const value = points.y(i);
    if (!Number.isFinite(value) || (logarithmic && value <= 0)) gap = i;
    else {
      if (low < 0 || value < points.y(low)) low = i;
      if (high < 0 || value > points.y(high)) high = i;
    }
  }
  for (const i of [...new Set([low, high, gap])].filter((at) => at >= 0).sort((a, b) => a - b)) take(i);
}

/** Brings the series onto one axis. */
export function aligned(series: readonly { x: readonly number[]; y: readonly (number | null)[] }[]): Columns {
  if (series.length === 1 || series.every((each) => each.x.length === series[0]!.x.length && each.x.every((x, i) => x === series[0]!.x[i]))) {
    return [[...(series[0]?.x ?? [])], ...series.map((each) => [...each.y])];
  }
  const axis: number[] = [];
  const columns: (number | null | undefined)[][] = series.map(() => []);
  const at = series.map(() => 0);
  for (;;) {
    let next = Infinity;
    series.forEach((each, s) => { if (at[s]! < each.x.length) next = Math.min(next, each.x[at[s]!]!); });
    if (next === Infinity) return [axis, ...columns];
    axis.push(next);
    series.forEach((each, s) => {
      const here = each.x[at[s]!] === next;
      columns[s]!.push(here ? each.y[at[s]!] : undefined);
      if (here) at[s]! += 1;
    });
  }
}
