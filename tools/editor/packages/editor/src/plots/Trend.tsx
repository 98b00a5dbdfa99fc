/** Values over runs as lines, live. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type KeyboardEvent } from "react";
import { saveFile } from "../export/download";
import { watchTheme } from "../overview";
import { formatBrief } from "../tensor";
import { text } from "../texts";
import { IconButton } from "../ui";
import type { Span } from "./align";
import { Chart } from "./chart";
import { trendCsv } from "./csv";
import { Legend } from "./Legend";
import { TrendTable } from "./TrendTable";
import type { TrendAxis, TrendSeries, TrendStore } from "./store";
import { axisName, plotTexts } from "./texts";
import "./plots.css";

export interface TrendProps {
  store: TrendStore;
  /** Trends of the same key show their cursors at the same place. */
  syncKey?: string;
  /** Takes a value off the plot. */
  onRemove?(name: string): void;
  /** File name of exports, without its end. */
  name?: string;
}

/** The plot with its tools, legend, and the same as a table. */
export function Trend({ store, syncKey, onRemove, name = "trend" }: TrendProps) {
  const series = useSyncExternalStore(store.subscribe, store.series);
  const [axis, setAxis] = useState<TrendAxis>("step");
  const [logarithmic, setLogarithmic] = useState(false);
  const [paused, setPaused] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [span, setSpan] = useState<Span>();
  const names = [...new Set(series.map((each) => each.name))].join(", ");
  return (
    <div className="w-plots">
      <div className="w-plots-tools" role="toolbar" aria-label={text(plotTexts.trend, { names })}>
        <IconButton small icon={paused ? "play" : "pause"} label={paused ? plotTexts.resume : plotTexts.pause} aria-pressed={paused} onClick={() => setPaused(!paused)} />
        <IconButton small icon="clear" label={plotTexts.clear} onClick={() => { store.clear(); setSpan(undefined); }} />
        {span && <IconButton small icon="reset" label={plotTexts.reset} onClick={() => setSpan(undefined)} />}
        <span className="w-plots-space" />
        <label className="w-plots-check"><input type="checkbox" checked={logarithmic} onChange={(event) => setLogarithmic(event.target.checked)} />{plotTexts.log}</label>
        <select className="w-select w-plots-axis" aria-label={plotTexts.axis} value={axis} onChange={(event) => { setAxis(event.target.value as TrendAxis); setSpan(undefined); }}>
          <option value="step">{plotTexts.byStep}</option>
          <option value="run">{plotTexts.byRun}</option>
          <option value="time">{plotTexts.byTime}</option>
        </select>
        <IconButton small icon="table" label={plotTexts.table} aria-pressed={asTable} onClick={() => setAsTable(!asTable)} />
        <IconButton small icon="download" label={plotTexts.csv} onClick={() => saveFile(`${name}.csv`, trendCsv(store.series()), "text/csv")} />
      </div>
      {series.length === 0 && <p className="w-plots-empty">{plotTexts.empty}</p>}
      {series.length > 0 && asTable && <TrendTable store={store} axis={axis} />}
      {series.length > 0 && !asTable && (
        <Lines key={`${axis} ${logarithmic}`} store={store} series={series} axis={axis} logarithmic={logarithmic} paused={paused} span={span} onSpan={setSpan} syncKey={syncKey}
          names={names} onRemove={onRemove} />
      )}
    </div>
  );
}

interface LinesProps {
  store: TrendStore;
  series: readonly TrendSeries[];
  axis: TrendAxis;
  logarithmic: boolean;
  paused: boolean;
  span: Span | undefined;
  names: string;
  syncKey?: string;
  onSpan(span: Span | undefined): void;
  onRemove?(name: string): void;
}

/** What makes the chart another one, rather than the same with more points. */
const structureOf = (series: readonly TrendSeries[]) => series.map((each) => `${each.id}|${each.hidden}|${each.age}|${each.colour}`).join("\n");

function Lines({ store, series, axis, logarithmic, paused, span, names, syncKey, onSpan, onRemove }: LinesProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const now = useRef({ paused, span, onSpan });
  now.current = { paused, span, onSpan };
  const [cursor, setCursor] = useState<number | null>(null);
  const [said, setSaid] = useState("");
  const structure = useMemo(() => structureOf(series), [series]);

  useEffect(() => {
    const element = host.current!;
    const own = (chart.current = new Chart(element, { axis, logarithmic, syncKey, onZoom: (to) => now.current.onSpan(to), onCursor: setCursor }));
    const draw = (whole: boolean) => own.draw(store.series(), now.current.span, whole);
    let frame = 0, drawn = -1;
    const request = () => {
      if (frame !== 0 || now.current.paused || drawn === store.version) return;
      frame = requestAnimationFrame(() => { frame = 0; drawn = store.version; draw(false); });
    };
    draw(true);
    const ends = [store.subscribe(request), watchTheme(element, () => draw(true))];
    const observer = new ResizeObserver(() => own.resize());
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      ends.forEach((end) => end());
      observer.disconnect();
      own.dispose();
      chart.current = null;
    };
  }, [store, axis, logarithmic, syncKey]);
  useEffect(() => { chart.current?.draw(store.series(), span, true); }, [structure, span, store]);
  useEffect(() => { if (!paused) chart.current?.draw(store.series(), now.current.span, false); }, [paused, store]);

  const key = (event: KeyboardEvent) => {
    const own = chart.current;
    if (!own || event.target !== event.currentTarget) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const at = own.moveCursor((event.key === "ArrowRight" ? 1 : -1) * (event.shiftKey ? 10 : 1));
      if (at !== null) setSaid(readOut(own, at, axis));
    } else if (event.key === "+" || event.key === "-") {
      const [from, to] = own.visible();
      const by = ((to - from) / 4) * (event.key === "+" ? 1 : -2);
      onSpan([from + by, to - by]);
    } else if (event.key === "0") onSpan(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const values = cursor === null ? undefined : chart.current?.at(cursor);
  return (
    <>
      <div className="w-plots-chart" role="group" tabIndex={0} aria-label={text(plotTexts.trend, { names })} aria-description={plotTexts.zoomHelp} onKeyDown={key}>
        <div ref={host} className="w-plots-host" aria-hidden="true" />
      </div>
      <Legend series={series} axis={axis} at={values} onHidden={(id, hidden) => store.setHidden(id, hidden)} onRemove={onRemove} store={store} />
      <div className="w-visually-hidden" role="status">{said}</div>
    </>
  );
}

function readOut(chart: Chart, index: number, axis: TrendAxis): string {
  const { x, values } = chart.at(index);
  return text(plotTexts.at, {
    axis: axisName(axis), x: formatBrief(x),
    values: values.map(({ series, value }) => text(plotTexts.valueOf, { name: series.name, value: value == null ? plotTexts.noValue : formatBrief(value) })).join(", "),
  });
}
