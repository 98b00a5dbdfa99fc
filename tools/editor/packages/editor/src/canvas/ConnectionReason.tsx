import { getBezierPath, useConnection, useStoreApi, type ConnectionLineComponentProps } from "@xyflow/react";
import { useEffect, useState } from "react";
import { typeColor, typeText } from "../model/names";
import { usePage } from "../model/react";
import { texts } from "../texts";
import type { Connector } from "./connect";

/** The wire under the pointer, in the colour of its type. */
export function WireLine({ fromX, fromY, toX, toY, fromPosition, toPosition, fromNode, fromHandle, connectionStatus }: ConnectionLineComponentProps) {
  const { model } = usePage();
  const type = fromHandle.type === "source" ? model.types.get(`${fromNode.id}.${fromHandle.id ?? ""}`) : undefined;
  const [path] = getBezierPath({ sourceX: fromX, sourceY: fromY, sourcePosition: fromPosition, targetX: toX, targetY: toY, targetPosition: toPosition });
  return <path d={path} className={`w-wire-draft w-wire-draft-${connectionStatus ?? "open"}`} style={{ stroke: typeColor(type?.dtype) }} />;
}

interface Verdict {
  text: string;
  hint?: string;
  bad: boolean;
}

/** At the pointer: why the wire would be refused here, or what it would carry. */
export function ConnectionReason({ connector }: { connector: Connector }) {
  const { model } = usePage();
  const store = useStoreApi();
  const key = useConnection((c) => (c.inProgress && c.toHandle && c.fromHandle ? `${c.fromHandle.nodeId}.${c.fromHandle.id} ${c.toHandle.nodeId}.${c.toHandle.id} ${c.fromHandle.type}` : ""));
  const active = useConnection((c) => c.inProgress);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  useEffect(() => {
    setVerdict(null);
    if (!key) return;
    const [start = "", end = "", side] = key.split(" ");
    const [from, to] = side === "source" ? [start, end] : [end, start];
    let here = true;
    const timer = setTimeout(() => {
      connector.reason(from, to).then(
        (reason) => here && setVerdict(reason ? { text: reason.message, hint: reason.hint, bad: true } : { text: typeText(model.types.get(from)) || texts.canvas.fits, bad: false }),
        () => {},
      );
    }, 50);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [key, connector, model]);
  const pointer = usePointer(active && verdict !== null);
  if (!verdict || !pointer) return null;
  const box = store.getState().domNode?.getBoundingClientRect();
  return (
    <div className={`w-wire-reason ${verdict.bad ? "w-wire-reason-bad" : ""}`} role="status" style={{ left: pointer.x - (box?.left ?? 0) + 16, top: pointer.y - (box?.top ?? 0) + 16 }}>
      {verdict.text}
      {verdict.hint && <div className="w-wire-reason-hint">{verdict.hint}</div>}
    </div>
  );
}

/** Where the pointer is, while `on`. */
function usePointer(on: boolean): { x: number; y: number } | null {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  useEffect(() => {
    const move = (event: PointerEvent): void => {
      last = { x: event.clientX, y: event.clientY };
      if (on) setAt(last);
    };
    window.addEventListener("pointermove", move, true);
    if (on) setAt(last);
    return () => window.removeEventListener("pointermove", move, true);
  }, [on]);
  return on ? at : null;
}

let last: { x: number; y: number } | null = null;
