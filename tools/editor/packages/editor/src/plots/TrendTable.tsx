/** A trend as a table: what a screen reader has in place of the lines. */
import { useEffect, useState } from "react";
import { formatBrief } from "../tensor";
import { text } from "../texts";
import { aligned, thinned } from "./align";
import type { TrendAxis, TrendStore } from "./store";
import { axisName, plotTexts } from "./texts";

const ROWS = 200;

/** The latest points, the newest first; renewed once a second. */
export function TrendTable({ store, axis }: { store: TrendStore; axis: TrendAxis }) {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const series = store.series().filter((each) => !each.hidden);
  const [x, ...columns] = aligned(series.map(({ points }) => {
    const from = points.length > ROWS ? points.x(points.length - ROWS, axis) : -Infinity;
    return thinned(points, axis, 10 * ROWS, false, [from, Infinity]);
  }));
  const rows = x.map((_, i) => i).slice(-ROWS).reverse();
  return (
    <div className="w-plots-table" tabIndex={0} role="region" aria-label={text(plotTexts.trend, { names: series.map((each) => each.name).join(", ") })}>
      <table>
        <caption>{text(plotTexts.pointsLeftOut, { count: ROWS })}</caption>
        <thead>
          <tr><th scope="col">{axisName(axis)}</th>{series.map((each) => <th key={each.id} scope="col">{each.name}{each.age > 0 && ` (${each.run})`}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((i) => (
            <tr key={i}><th scope="row">{formatBrief(x[i]!, 7)}</th>{columns.map((column, s) => <td key={s}>{column[i] === undefined ? "" : column[i] === null ? "–" : formatBrief(column[i]!, 7)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
