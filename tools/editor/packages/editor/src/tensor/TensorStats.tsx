/** A tensor's numbers in short. */
import { requireDType, shortDType } from "./dtype";
import { formatBrief, formatBytes } from "./format";
import type { Stats } from "./stats";
import { shapeText } from "./tensor";
import { tensorTexts } from "./texts";
import "./tensor.css";

export interface TensorStatsProps {
  dtype: string;
  shape: readonly number[];
  stats: Stats;
}

/** A list of names and numbers; what is not finite stands out. */
export function TensorStats({ dtype, shape, stats }: TensorStatsProps) {
  const bytes = requireDType(dtype).bytes * stats.count;
  const rows: [string, string, boolean?][] = [
    [tensorTexts.type, shortDType(dtype)],
    [tensorTexts.shape, shapeText(shape)],
    [tensorTexts.count, String(stats.count)],
    ...(bytes > 0 ? [[tensorTexts.bytes, formatBytes(bytes)] as [string, string]] : []),
    [tensorTexts.min, formatBrief(stats.min, 9)],
    [tensorTexts.max, formatBrief(stats.max, 9)],
    [tensorTexts.mean, formatBrief(stats.mean, 9)],
    [tensorTexts.std, formatBrief(stats.std, 9)],
    [tensorTexts.zero, String(stats.zeros)],
    [tensorTexts.nan, String(stats.nan), stats.nan > 0],
    [tensorTexts.inf, String(stats.inf), stats.inf > 0],
  ];
  return (
    <dl className="w-tensor-stats">
      {rows.map(([name, value, bad]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`} data-bad={bad || undefined}>{value}</dd>])}
    </dl>
  );
}
