import { BaseEdge, EdgeLabelRenderer, getBezierPath, getSmoothStepPath, useStore, type EdgeProps } from "@xyflow/react";
import { memo, useCallback, useState, useSyncExternalStore } from "react";
import { bendsOf, bentPath } from "../model/bends";
import { cutText, typeColor, typeText } from "../model/names";
import { useCellPart, usePage, useSummary, useWorkbench } from "../model/react";

/** A wire in the colour of its type; with type and shape at reading distance, and its value under the pointer. */
export const WireEdge = memo(function WireEdge(props: EdgeProps) {
  const { model } = usePage();
  const from = props.data?.["from"] as string;
  const subscribe = useCallback((listener: () => void) => model.events.on(`block:${props.source}`, listener), [model, props.source]);
  const type = useSyncExternalStore(subscribe, () => model.types.get(from));
  const routed = useCellPart(useWorkbench().settings, (s) => s.routedWires);
  const close = useStore((s) => s.transform[2] >= 1);
  const [hover, setHover] = useState(false);
  const followKeys = useCallback((listener: () => void) => model.events.on("keys", listener), [model]);
  const bends = useSyncExternalStore(followKeys, () => bendsOf(model.keys)[props.id]);
  const bent = routed ? bentPath(bends, { x: props.sourceX, y: props.sourceY }, { x: props.targetX, y: props.targetY }) : undefined;
  const [path, x, y] = bent ?? (routed ? getSmoothStepPath : getBezierPath)(props);
  const label = typeText(type);
  const operation = from.endsWith(".operation");
  const long = Math.abs(props.targetX - props.sourceX) > 150;
  return (
    <g onPointerEnter={() => setHover(true)} onPointerLeave={() => setHover(false)}>
      <BaseEdge
        id={props.id} path={path} interactionWidth={16} className={`w-wire ${operation ? "w-wire-operation" : ""} ${hover || props.selected ? "w-wire-strong" : ""}`}
        style={{ stroke: operation ? "var(--w-type-operation)" : typeColor(type?.dtype) }}
      />
      {hover && <WireTitle name={from} />}
      {(hover || props.selected || (close && long)) && label && (
        <EdgeLabelRenderer>
          <div className={`w-wire-label ${hover ? "w-wire-label-strong" : ""}`} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
            {label}
            {hover && <WireValue name={from} />}
          </div>
        </EdgeLabelRenderer>
      )}
    </g>
  );
});

/** About as much of a value as a label can hold. */
const mostLetters = 32;

function useValueText(name: string): string | undefined {
  return useSummary(name)?.text;
}

function WireValue({ name }: { name: string }) {
  const value = useValueText(name);
  return value === undefined ? null : <span className="w-wire-value">{cutText(value, mostLetters)}</span>;
}

/** The whole value, where its label has but a part of it. */
function WireTitle({ name }: { name: string }) {
  const value = useValueText(name);
  return value !== undefined && value.length > mostLetters ? <title>{`${name}: ${value}`}</title> : null;
}
