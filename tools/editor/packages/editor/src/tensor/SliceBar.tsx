/** Chooses the plane that is shown: an index for each axis but those of the plane. */
import { text } from "../texts";
import { tensorTexts } from "./texts";

export interface SliceBarProps {
  shape: readonly number[];
  /** Axes to choose an index on. */
  axes: readonly number[];
  /** Index by axis. */
  place: readonly number[];
  onPlace(place: number[]): void;
}

/** A slider and a number for each axis. */
export function SliceBar({ shape, axes, place, onPlace }: SliceBarProps) {
  const set = (axis: number, value: number) => {
    const next = [...place];
    next[axis] = Math.max(0, Math.min(shape[axis]! - 1, Math.trunc(value) || 0));
    onPlace(next);
  };
  return (
    <div className="w-tensor-slices" role="group" aria-label={tensorTexts.slice}>
      {axes.map((axis) => {
        const last = shape[axis]! - 1;
        const label = text(tensorTexts.axisOf, { axis, last });
        return (
          <label key={axis} className="w-tensor-slice">
            <span>{text(tensorTexts.axis, { axis })}</span>
            {last > 0 && <input type="range" min={0} max={last} value={place[axis] ?? 0} aria-label={label} onChange={(event) => set(axis, event.target.valueAsNumber)} />}
            <input
              type="number" className="w-input" min={0} max={last} value={place[axis] ?? 0} aria-label={label}
              onChange={(event) => set(axis, event.target.valueAsNumber)}
            />
          </label>
        );
      })}
    </div>
  );
}
