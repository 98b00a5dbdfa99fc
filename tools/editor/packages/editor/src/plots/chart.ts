/** The uPlot chart of a trend: made anew when its series or colours change, given data when its points do. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatBrief } from "../tensor";
import { aligned, thinned, type Columns, type Span } from "./align";
import type { TrendAxis, TrendSeries } from "./store";
import { axisName } from "./texts";

export interface ChartOptions {
  readonly axis: TrendAxis;
  readonly logarithmic: boolean;
  /** Charts of the same key show their cursors at the same place. */
  readonly syncKey?: string;
  /** The user has chosen what to see; undefined: everything. */
  onZoom(span: Span | undefined): void;
  /** Index on the axis under the cursor, or null. */
  onCursor(at: number | null): void;
}

/** Colour and dashes of a series: a colour for each name, dashes for earlier runs. */
export function strokeOf(series: TrendSeries, style: CSSStyleDeclaration): { stroke: string; dash?: number[]; width: number; alpha: number } {
  const stroke = style.getPropertyValue(`--w-plot-${(series.colour % 6) + 1}`).trim() || "#2458d0";
  return { stroke, width: series.age === 0 ? 1.75 : 1.25, dash: series.age === 0 ? undefined : [6, 3 + series.age], alpha: series.age === 0 ? 1 : 0.75 };
}

/** A chart inside an element. Call `dispose` before the element goes. */
export class Chart {
  private plot: uPlot | undefined;
  private data: Columns = [[]];
  private shown: readonly TrendSeries[] = [];
  private span: Span | undefined;

  constructor(private readonly host: HTMLElement, private readonly options: ChartOptions) {}

  /** Draws the series; `structure` where there are others than before. */
  draw(series: readonly TrendSeries[], span: Span | undefined, structure: boolean): void {
    this.shown = series.filter((each) => !each.hidden && each.points.length > 0);
    this.span = span;
    const most = Math.max(200, 2 * (this.host.clientWidth || 600));
    const { axis, logarithmic } = this.options;
    this.data = aligned(this.shown.map((each) => thinned(each.points, axis, most, logarithmic, span)));
    if (structure || !this.plot || this.plot.series.length !== this.shown.length + 1) this.make();
    else this.plot.setData(this.data as uPlot.AlignedData);
  }

  resize(): void {
    this.plot?.setSize(this.size());
  }

  /** Moves the cursor by so many points; the answer is the index that it is at. */
  moveCursor(by: number): number | null {
    const { plot } = this;
    if (!plot || this.data[0].length === 0) return null;
    const last = this.data[0].length - 1;
    const at = Math.max(0, Math.min(last, (plot.cursor.idx ?? (by > 0 ? -1 : last + 1)) + by));
    plot.setCursor({ left: plot.valToPos(this.data[0][at]!, "x"), top: plot.bbox.height / 2 / devicePixelRatio });
    return at;
  }

  /** What is drawn at an index: the place on the axis and the latest value of each series up to there. */
  at(index: number): { x: number; values: { series: TrendSeries; value: number | null | undefined }[] } {
    const values = this.shown.map((series, s) => {
      let i = index;
      while (i > 0 && this.data[s + 1]![i] === undefined) --i;
      return { series, value: this.data[s + 1]![i] };
    });
    return { x: this.data[0][index] ?? NaN, values };
  }

  /** What is in sight on the axis. */
  visible(): Span {
    const { data, span } = this;
    return span ?? [data[0][0] ?? 0, data[0].at(-1) ?? 1];
  }

  dispose(): void {
    this.plot?.destroy();
    this.plot = undefined;
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(80, this.host.clientWidth), height: Math.max(60, this.host.clientHeight) };
  }

  private make(): void {
    this.plot?.destroy();
    this.plot = new uPlot(this.plotOptions(), this.data as uPlot.AlignedData, this.host);
  }

  private plotOptions(): uPlot.Options {
    const style = getComputedStyle(this.host);
    const get = (name: string, fallback: string) => style.getPropertyValue(name).trim() || fallback;
    const font = `11px ${get("--w-font", "sans-serif")}`;
    const line = { stroke: get("--w-grid", "#d9dce2"), width: 1 };
    const axis = { stroke: get("--w-text-3", "#646c7a"), font, grid: line, ticks: { ...line, size: 4 }, gap: 4 };
    return {
      ...this.size(),
      legend: { show: false },
      padding: [8, 24, 0, 0],
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { size: 7, width: 2 },
        sync: this.options.syncKey ? { key: this.options.syncKey, setSeries: false } : undefined,
      },
      scales: {
        x: { time: false, range: (_, min, max) => this.rangeOfX(min, max) },
        y: { distr: this.options.logarithmic ? 3 : 1 },
      },
      axes: [
        { ...axis, size: 30, space: 70, values: (_, ticks) => ticks.map((tick) => formatBrief(tick)) },
        { ...axis, size: 62, space: 24, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : formatBrief(tick, 4))) },
      ],
      series: [{ label: axisName(this.options.axis) }, ...this.shown.map((series) => this.seriesOptions(series, style))],
      hooks: {
        setSelect: [(plot) => this.selected(plot)],
        setCursor: [(plot) => this.options.onCursor(plot.cursor.idx ?? null)],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => this.options.onZoom(undefined))],
      },
    };
  }

  private seriesOptions(series: TrendSeries, style: CSSStyleDeclaration): uPlot.Series {
    const { stroke, dash, width, alpha } = strokeOf(series, style);
    return { label: series.name, stroke, dash, width, alpha, spanGaps: false, points: { show: (_plot, _series, first, last) => last - first < 3 } };
  }

  private rangeOfX(min: number, max: number): [number, number] {
    if (this.span) return [this.span[0], this.span[1]];
    return min === max ? [min - 0.5, max + 0.5] : [min, max];
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const span: Span = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.options.onZoom(span);
  }
}
