import { createPortal } from "react-dom";
import { useRef } from "react";
import { typeText } from "../model/names";
import { useCell, usePage, useSummary } from "../model/react";
import { text, texts } from "../texts";
import { layerOf } from "../ui";
import { hovered, type Hovered } from "./hover";

const t = texts.canvas;

/** What is known of the port under the pointer: type, shape, and its value with the run that computed it. */
export function PortTip() {
  const port = useCell(hovered);
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <span ref={anchor} hidden>
      {port && createPortal(<Tip port={port} />, layerOf(anchor.current))}
    </span>
  );
}

function Tip({ port }: { port: Hovered }) {
  const { model } = usePage();
  const from = port.side === "out" ? port.name : model.wireAt(port.name)?.from;
  const value = useSummary(from ?? null);
  const type = from ? typeText(model.types.get(from)) : "";
  return (
    <div className="w-port-tip" role="tooltip" style={{ left: port.side === "in" ? port.x - 8 : port.x + 8, top: port.y + 4 }} data-side={port.side}>
      <div className="w-port-tip-name">{port.name}{type && <span> {type}</span>}</div>
      {port.doc && <div className="w-port-tip-doc">{port.doc}</div>}
      {from && port.side === "in" && <div className="w-port-tip-doc">{text(t.from, { port: from })}</div>}
      {value && (
        <>
          <div className="w-port-tip-value">{value.text}</div>
          <div className="w-port-tip-doc">
            {value.in_progress ? t.inProgress : text(t.ofRun, { run: value.generation })}
            {value.stale && ` · ${t.stale}`}{value.outdated_page && ` · ${t.outdated}`}
            {(value.nan ?? 0) > 0 && ` · ${value.nan} NaN`}{(value.inf ?? 0) > 0 && ` · ${value.inf} inf`}
          </div>
        </>
      )}
      {from && !value && <div className="w-port-tip-doc">{t.noValue}</div>}
    </div>
  );
}
