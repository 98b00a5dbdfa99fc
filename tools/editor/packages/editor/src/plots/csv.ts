/** Trends as text. */
import { csvCell, formatNumber } from "../tensor";
import type { TrendSeries } from "./store";

/** A line for each point: series, run, number of the run, seconds, value. */
export function trendCsv(series: readonly TrendSeries[]): string {
  const lines = ["name,run,step,seconds,value"];
  for (const each of series) {
    const head = `${csvCell(each.name)},${csvCell(each.run)}`;
    for (let i = 0; i < each.points.length; ++i) {
      lines.push(`${head},${each.points.x(i, "run")},${Number(each.points.x(i, "time").toFixed(6))},${formatNumber("DT_DOUBLE", each.points.y(i))}`);
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}
