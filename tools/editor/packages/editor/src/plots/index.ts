export { Trend, type TrendProps } from "./Trend";
export { MiniTrend, type MiniTrendProps } from "./MiniTrend";
export { TrendStore, Ring, type TrendSeries, type TrendAxis } from "./store";
export { trendCsv } from "./csv";
