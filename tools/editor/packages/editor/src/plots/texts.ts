/** Texts of trends. */
export const plotTexts = {
  trend: "Trend of {names}",
  empty: "Nothing to plot yet. Values appear while the page runs.",
  pause: "Pause the plot (the run goes on)",
  resume: "Go on plotting",
  clear: "Clear the plot",
  log: "Logarithmic axis",
  table: "Show as a table",
  csv: "Save as CSV",
  reset: "Whole range",
  zoomHelp: "Drag to zoom, double click for the whole range. Keys: arrows read values, + and - zoom, 0 whole range.",
  byStep: "by step of the run",
  byRun: "by step of all runs",
  byTime: "by seconds",
  axis: "Axis",
  runAxis: "step",
  timeAxis: "seconds",
  legend: "Series",
  hide: "Hide {name}",
  show: "Show {name}",
  remove: "Take {name} off the plot",
  latest: "latest",
  at: "{axis} {x}: {values}",
  valueOf: "{name} {value}",
  pointsLeftOut: "the last {count} points of each series",
  points: "{name}, {count} points, last {value}",
  noValue: "no value",
};

/** What the numbers on the horizontal axis are. */
export function axisName(axis: "step" | "run" | "time"): string {
  return axis === "time" ? plotTexts.timeAxis : plotTexts.runAxis;
}
