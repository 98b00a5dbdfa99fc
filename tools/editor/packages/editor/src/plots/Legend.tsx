/** Names, colours and values of a trend's series; a click hides one. */
import { useEffect, useState } from "react";
import { formatBrief } from "../tensor";
import { text } from "../texts";
import { IconButton } from "../ui";
import type { TrendAxis, TrendSeries, TrendStore } from "./store";
import { axisName, plotTexts } from "./texts";

export interface LegendProps {
  store: TrendStore;
  series: readonly TrendSeries[];
  axis: TrendAxis;
  /** What the cursor is at; the latest values where left out. */
  at?: { x: number; values: readonly { series: TrendSeries; value: number | null | undefined }[] };
  onHidden(id: string, hidden: boolean): void;
  onRemove?(name: string): void;
}

/** Renewed a few times a second while points come. */
export function Legend({ store, series, axis, at, onHidden, onRemove }: LegendProps) {
  const [, setTick] = useState(0);
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const end = store.subscribe(() => { waiting ??= setTimeout(() => { waiting = undefined; setTick((tick) => tick + 1); }, 200); });
    return () => {
      end();
      clearTimeout(waiting);
    };
  }, [store]);
  const runs = new Set(series.map((each) => each.run)).size;
  return (
    <ul className="w-plots-legend" aria-label={plotTexts.legend}>
      {series.map((each) => {
        const found = at?.values.find((value) => value.series.id === each.id)?.value;
        const value = at ? found : each.points.y(each.points.length - 1);
        const label = runs > 1 && each.run ? `${each.name}, ${each.run}` : each.name;
        return (
          <li key={each.id}>
            <button type="button" className="w-plots-series" aria-pressed={!each.hidden} title={text(each.hidden ? plotTexts.show : plotTexts.hide, { name: label })} onClick={() => onHidden(each.id, !each.hidden)}>
              <span className="w-plots-line" data-past={each.age > 0 || undefined} style={{ color: `var(--w-plot-${(each.colour % 6) + 1})` }} />
              <span>{label}</span>
              <span className="w-plots-value">{value == null || each.points.length === 0 ? "–" : formatBrief(value)}</span>
            </button>
            {onRemove && each.age === 0 && <IconButton small icon="close" label={text(plotTexts.remove, { name: each.name })} onClick={() => onRemove(each.name)} />}
          </li>
        );
      })}
      <li className="w-plots-at">{at && Number.isFinite(at.x) ? `${axisName(axis)} ${formatBrief(at.x)}` : plotTexts.latest}</li>
    </ul>
  );
}
