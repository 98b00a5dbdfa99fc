import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo, useState, type CSSProperties } from "react";
import type { Block, BlockState, Diagnostic } from "@weft/client";
import { colorValue } from "../model/decor";
import { isLiteral, type PortRow } from "../model/geometry";
import { categoryColor, cutText, parsePort, shortNumber, typeColor } from "../model/names";
import type { PageEditor } from "../model/pageEditor";
import { useBlock, useBlockState, useCell, useCellPart, usePage, useSummary, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Icon } from "../ui";
import { editLiteral, literalType, scalarLiteral, scalarOf } from "../actions/literals";
import { hoverPort, leavePort } from "./hover";

const t = texts.canvas;

/** A block on the canvas. It subscribes to its own block, state and values; nothing else draws it again. */
export const BlockNode = memo(function BlockNode({ id, selected }: NodeProps) {
  const page = usePage();
  const { block, faults } = useBlock(id);
  const state = useBlockState(id);
  const breakpoint = useCellPart(page.breakpoints, (list) => list.find((b) => b.block === id));
  if (!block) return null;
  const schema = page.model.schema.get(block.block);
  const shape = page.model.shape(id);
  // inputs that are not wired yet are no reason to paint the block red
  const wrong = faults.filter((f) => !isOpen(page, id, f));
  const worst = wrong.some((f) => f.severity === "error") ? "error" : wrong.length ? "warning" : undefined;
  const color = colorValue(block["color"]) ?? categoryColor(schema?.category);
  const className = ["w-block", selected && "w-block-selected", worst && `w-block-${worst}`, !schema && "w-block-unknown", state !== "idle" && `w-state-${state}`].filter(Boolean).join(" ");
  return (
    <div className={className} style={{ "--block": color, width: shape.width, height: shape.height } as CSSProperties}>
      <Header block={block} summary={schema?.summary} state={state} faults={faults} known={Boolean(schema)} open={wrong.length === 0} breakpoint={breakpoint ? (breakpoint.enabled ? "on" : "off") : undefined} />
      {shape.rows.map((row) => <Port key={`${row.side}:${row.name}`} id={id} row={row} faults={faults} />)}
      {shape.attrs && <div className="w-block-attrs" title={shape.attrs}>{shape.attrs}</div>}
      <HeatBar id={id} />
    </div>
  );
});

interface HeaderProps {
  block: Block;
  summary?: string;
  state: BlockState;
  faults: readonly Diagnostic[];
  known: boolean;
  breakpoint?: "on" | "off";
  /** All findings are inputs that are not wired yet. */
  open: boolean;
}

function Header({ block, summary, state, faults, known, breakpoint, open }: HeaderProps) {
  const page = usePage();
  const note = typeof block["note"] === "string" ? block["note"] : undefined;
  return (
    <div className="w-block-head" title={known ? summary : text(t.unknownBlock, { type: block.block })}>
      <button
        type="button" tabIndex={-1} className={`w-block-dot nodrag ${breakpoint ? `w-block-dot-${breakpoint}` : ""}`}
        aria-label={text(breakpoint ? t.removeBreakpoint : t.addBreakpoint, { block: block.id })} aria-pressed={Boolean(breakpoint)}
        onClick={(event) => {
          event.stopPropagation();
          void page.toggleBreakpoint(block.id);
        }}
      />
      <div className="w-block-title">
        <span className="w-block-id">{block.id}</span>
        <span className="w-block-type">{block.block}{known ? "" : ` · ${t.unknown}`}</span>
      </div>
      {note && <span className="w-block-note" title={note} aria-label={text(t.note, { note })}><Icon name="info" size={13} /></span>}
      <StateMark state={state} />
      {faults.length > 0 && <FaultBadge faults={faults} open={open} />}
    </div>
  );
}

function StateMark({ state }: { state: BlockState }) {
  if (state === "idle" || state === "failed") return null;
  return <span className={`w-block-state w-block-state-${state}`} role="img" aria-label={t.states[state]} title={t.states[state]} />;
}

function FaultBadge({ faults, open }: { faults: readonly Diagnostic[]; open: boolean }) {
  const workbench = useWorkbench();
  const worst = !open && faults.some((f) => f.severity === "error") ? "error" : "warning";
  const title = faults.map((f) => (f.hint ? `${f.message} (${f.hint})` : f.message)).join("\n");
  return (
    <button
      type="button" tabIndex={-1} className={`w-block-badge w-block-badge-${worst} nodrag`} title={title} aria-label={text(t.faults, { n: faults.length, first: faults[0]?.message ?? "" })}
      onClick={() => workbench.settings.update((s) => ({ ...s, bottom: true, bottomTab: "faults" }))}
    >
      <Icon name={worst} size={14} />
    </button>
  );
}

function Port({ id, row, faults }: { id: string; row: PortRow; faults: readonly Diagnostic[] }) {
  const page = usePage();
  const name = `${id}.${row.name}`;
  const wire = row.side === "in" ? page.model.wireAt(name) : undefined;
  const literal = row.side === "in" && row.literal !== undefined ? page.model.inputAt(name) : undefined;
  const dtype = row.side === "out" ? page.model.types.get(name)?.dtype
    : wire ? page.model.types.get(wire.from)?.dtype
      : isLiteral(literal) ? literal.dtype : undefined;
  const fault = faults.find((f) => f.port !== undefined && samePort(f.port, row.name) && (row.side === "in" || !hasInput(page, id, row.name)));
  const className = [
    "w-port", `w-port-${row.side}`, row.more && "w-port-more", row.optional && !wire && "w-port-optional", fault && `w-port-${fault.severity}`,
    row.side === "in" && !wire && row.literal === undefined && "w-port-open",
  ].filter(Boolean).join(" ");
  return (
    <div
      className={className} style={{ top: row.y - 11, "--type": typeColor(dtype) } as CSSProperties}
      onPointerEnter={(event) => hoverPort(event.currentTarget, { name, side: row.side, doc: row.doc })} onPointerLeave={leavePort}
      title={fault ? (fault.hint ? `${fault.message}\n${fault.hint}` : fault.message) : undefined}
    >
      <Handle
        id={row.name} type={row.side === "in" ? "target" : "source"} position={row.side === "in" ? Position.Left : Position.Right}
        className="w-handle" data-port={name}
      />
      <span className="w-port-label">{row.label}</span>
      {row.literal !== undefined && <Literal name={name} text={row.literal} />}
      {row.side === "out" && <OutputValue name={name} />}
    </div>
  );
}

/** A finding about an input that has neither wire nor value. */
function isOpen(page: PageEditor, id: string, { port }: Diagnostic): boolean {
  return port !== undefined && hasInput(page, id, port) && page.model.inputAt(`${id}.${port}`) === undefined;
}

const samePort = (reported: string, row: string): boolean => reported === row || parsePort(`.${row}`).port === reported;

function hasInput(page: PageEditor, id: string, port: string): boolean {
  const block = page.model.blocks.get(id);
  return Boolean(block && page.model.schema.get(block.block)?.inputs.some((p) => p.port === port));
}

/** A value that is written on the page; scalars are changed in place. */
function Literal({ name, text: shown }: { name: string; text: string }) {
  const page = usePage();
  const workbench = useWorkbench();
  const [draft, setDraft] = useState<string | null>(null);
  const value = page.model.inputAt(name);
  const literal = isLiteral(value) ? value : undefined;
  const scalar = literal && scalarOf(literal, literalType(page, name));
  const stored = scalar?.text ?? shown;
  const take = (): void => {
    setDraft(null);
    if (draft !== null && draft !== stored) void editLiteral(page, name, draft);
  };
  if (draft !== null) {
    return (
      <input
        className="w-port-input nodrag nopan" autoFocus value={draft} aria-label={text(t.valueOf, { port: name })} onFocus={(event) => event.target.select()}
        onChange={(event) => setDraft(event.target.value)} onBlur={take}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") setDraft(null);
          if (event.key !== "Enter") return;
          // what is no value of the type is said, and can be corrected
          if (draft === stored || scalarLiteral(draft, scalar && { dtype: scalar.dtype })) take();
          else void editLiteral(page, name, draft);
        }}
      />
    );
  }
  return (
    <span
      className="w-port-literal nodrag" title={t.changeValue}
      onDoubleClick={(event) => {
        event.stopPropagation();
        if (scalar) setDraft(stored);
        else workbench.inspect.set(name);
      }}
    >
      {shown}
    </span>
  );
}

/** The last value of an output beside it, where that is wished. */
function OutputValue({ name }: { name: string }) {
  const on = useCellPart(useWorkbench().settings, (s) => s.valuesOnBlocks);
  const summary = useSummary(on ? name : null);
  if (summary?.count !== 1) return null;
  const value = summary.first[0];
  const bad = (summary.nan ?? 0) + (summary.inf ?? 0) > 0;
  return <span title={summary.text} className={`w-port-value ${bad ? "w-port-value-bad" : ""} ${summary.stale || summary.outdated_page ? "w-port-value-stale" : ""}`}>{typeof value === "number" ? shortNumber(value) : cutText(summary.text, 12)}</span>;
}

/** The block's share of the run's time. */
function HeatBar({ id }: { id: string }) {
  const { runs } = usePage();
  const heat = useCell(runs.heat);
  const share = useCellPart(runs.timings, (timings) => (heat ? timings?.blocks[id]?.share : undefined));
  if (share === undefined) return null;
  return <div className="w-block-heat" style={{ width: `${Math.max(2, share * 100)}%` }} title={text(t.share, { percent: (share * 100).toFixed(1) })} />;
}
