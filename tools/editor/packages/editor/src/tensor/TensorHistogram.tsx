/** How often which values occur. */
import { useState } from "react";
import { text } from "../texts";
import { formatBrief } from "./format";
import type { Histogram, Stats } from "./stats";
import { tensorTexts } from "./texts";
import "./tensor.css";

export interface TensorHistogramProps {
  histogram: Histogram;
  stats: Stats;
}

/** Bars, and the same as a table where it is asked for. */
export function TensorHistogram({ histogram, stats }: TensorHistogramProps) {
  const [logarithmic, setLogarithmic] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const { counts, min, max } = histogram;
  const label = text(tensorTexts.histogramLabel, { count: stats.count, min: formatBrief(stats.min), max: formatBrief(stats.max) });
  if (counts.length === 0) return <p className="w-tensor-none">{tensorTexts.noElements}</p>;
  const edge = (i: number) => formatBrief(min + ((max - min) * i) / counts.length);
  const bins = Array.from(counts, (count, i) => ({ from: edge(i), to: edge(i + 1), count }));
  return (
    <div className="w-tensor-histogram">
      <div className="w-tensor-controls">
        <label><input type="checkbox" checked={logarithmic} onChange={(event) => setLogarithmic(event.target.checked)} />{tensorTexts.logarithmic}</label>
        <label><input type="checkbox" checked={asTable} onChange={(event) => setAsTable(event.target.checked)} />{tensorTexts.asTable}</label>
        {(stats.nan > 0 || stats.inf > 0) && <span className="w-tensor-warn">{text(tensorTexts.nonFinite, { nan: stats.nan, inf: stats.inf })}</span>}
      </div>
      {asTable ? <BinTable bins={bins} label={label} /> : <Bars bins={bins} label={label} logarithmic={logarithmic} low={edge(0)} high={edge(counts.length)} />}
    </div>
  );
}

interface Bin {
  from: string;
  to: string;
  count: number;
}

function Bars({ bins, label, logarithmic, low, high }: { bins: readonly Bin[]; label: string; logarithmic: boolean; low: string; high: string }) {
  const height = (count: number) => (logarithmic ? Math.log1p(count) : count);
  const most = Math.max(1e-9, ...bins.map((bin) => height(bin.count)));
  return (
    <>
      <div className="w-tensor-plot">
        <span className="w-tensor-most" aria-hidden="true">{Math.max(...bins.map((bin) => bin.count))}</span>
        <svg viewBox={`0 0 ${bins.length} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
          {bins.map((bin, i) => {
            const tall = bin.count === 0 ? 0 : Math.max(0.8, (height(bin.count) / most) * 100);
            return <rect key={i} x={i + 0.06} width={0.88} y={100 - tall} height={tall}><title>{text(tensorTexts.bin, { ...bin })}</title></rect>;
          })}
        </svg>
      </div>
      <div className="w-tensor-axis" aria-hidden="true"><span>{low}</span><span>{high}</span></div>
    </>
  );
}

function BinTable({ bins, label }: { bins: readonly Bin[]; label: string }) {
  return (
    <div className="w-tensor-stage" style={{ placeItems: "start" }} tabIndex={0} role="region" aria-label={label}>
      <table className="w-tensor-plain">
        <thead><tr><th scope="col">{tensorTexts.binFrom}</th><th scope="col">{tensorTexts.binTo}</th><th scope="col">{tensorTexts.binCount}</th></tr></thead>
        <tbody>{bins.map((bin, i) => <tr key={i}><td>{bin.from}</td><td>{bin.to}</td><td>{bin.count}</td></tr>)}</tbody>
      </table>
    </div>
  );
}
