/** Two panes with a line between them that is dragged, or moved by arrow keys. */
import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { uiTexts } from "./texts";
import "./ui.css";

export interface SplitProps {
  /** "row": side by side. */
  direction: "row" | "column";
  /** Which of the two has the given size; the other takes the rest. */
  sized: "first" | "second";
  /** Pixels of the sized pane. */
  size: number;
  min?: number;
  max?: number;
  onResize(size: number): void;
  /** Hides the sized pane and the line. */
  collapsed?: boolean;
  /** Name of the line for screen readers. */
  label?: string;
  first: ReactNode;
  second: ReactNode;
}

/** A pane of a size that the user chooses beside one that takes the rest. */
export function Split({ direction, sized, size, min = 120, max = 2000, onResize, collapsed, label = uiTexts.resize, first, second }: SplitProps) {
  const drag = useRef<{ at: number; size: number } | null>(null);
  const row = direction === "row";
  const sign = sized === "first" ? 1 : -1;
  const clamp = (value: number) => Math.round(Math.max(min, Math.min(max, value)));
  const place = (event: PointerEvent) => (row ? event.clientX : event.clientY);

  const key = (event: KeyboardEvent) => {
    const grow = row ? "ArrowRight" : "ArrowDown", shrink = row ? "ArrowLeft" : "ArrowUp";
    const step = event.shiftKey ? 64 : 16;
    const to = { [grow]: size + sign * step, [shrink]: size - sign * step, Home: min, End: max }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onResize(clamp(to));
  };
  const pane = (which: "first" | "second", content: ReactNode) => {
    if (which === sized && collapsed) return null;
    const style = which === sized ? { flex: `0 0 ${size}px` } : undefined;
    return <div className={`w-split-pane ${which === sized ? "" : "w-split-rest"}`} style={style}>{content}</div>;
  };
  return (
    <div className={`w-split w-split-${direction}`}>
      {pane("first", first)}
      {!collapsed && (
        <div
          role="separator" tabIndex={0} aria-label={label} aria-orientation={row ? "vertical" : "horizontal"} aria-valuenow={size} aria-valuemin={min}
          aria-valuemax={max} className="w-split-line"
          onPointerDown={(event) => {
            drag.current = { at: place(event), size };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => { if (drag.current) onResize(clamp(drag.current.size + sign * (place(event) - drag.current.at))); }}
          onPointerUp={() => { drag.current = null; }} onPointerCancel={() => { drag.current = null; }} onKeyDown={key}
        />
      )}
      {pane("second", second)}
    </div>
  );
}
