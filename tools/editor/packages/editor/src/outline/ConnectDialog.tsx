/** Wiring without a pointer: a port, and what fits it, to choose from by name. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { text } from "../texts";
import { Dialog, Field, Icon } from "../ui";
import { outlineTexts as t } from "./texts";
import "./outline.css";

/** A port of the block that is to be connected. */
export interface ConnectPort {
  /** "y.x". */
  readonly name: string;
  readonly direction: "input" | "output";
  readonly type?: string;
}

/** A port at the other end. */
export interface Candidate {
  /** "a.z". */
  readonly name: string;
  /** Of its block. */
  readonly block: string;
  readonly type?: string;
  /** What is wired there now, and would be replaced. */
  readonly replaces?: string;
}

export interface ConnectDialogProps {
  /** The block's id. */
  block: string;
  ports: readonly ConnectPort[];
  /** The port to begin with. */
  port?: string;
  /** What fits, as the engine says. */
  candidates(port: ConnectPort): Promise<readonly Candidate[]>;
  /** The answer is what is wrong, or undefined. */
  onConnect(from: string, to: string): Promise<string | undefined>;
  announce(message: string): void;
  onClose(): void;
}

/** Closes when connected; a refusal is shown with its reason. */
export function ConnectDialog({ block, ports, port: first, candidates, onConnect, announce, onClose }: ConnectDialogProps) {
  const [portName, setPortName] = useState(first ?? ports[0]?.name ?? "");
  const [list, setList] = useState<readonly Candidate[]>();
  const [fault, setFault] = useState<string>();
  const port = ports.find((each) => each.name === portName);
  const ask = useRef(candidates);
  ask.current = candidates;

  useEffect(() => {
    let live = true;
    setList(undefined);
    setFault(undefined);
    if (port) {
      ask.current(port).then((fitting) => { if (live) setList(fitting); }, (error: unknown) => { if (live) { setList([]); setFault(String(error instanceof Error ? error.message : error)); } });
    }
    return () => { live = false; };
  }, [portName]); // eslint-disable-line react-hooks/exhaustive-deps

  const connect = async (candidate: Candidate) => {
    const [from, to] = port!.direction === "output" ? [port!.name, candidate.name] : [candidate.name, port!.name];
    const problem = await onConnect(from, to);
    if (problem !== undefined) return setFault(problem);
    announce(text(t.connected, { from, to }));
    onClose();
  };
  const label = (each: ConnectPort) => text(each.direction === "input" ? t.inputPort : t.outputPort, { port: each.name.slice(block.length + 1) });
  return (
    <Dialog title={text(t.connectTitle, { name: block })} onClose={onClose}>
      <div className="w-outline-connect">
        <Field label={t.port}>
          {(ids) => (
            <select className="w-select" {...ids} value={portName} data-autofocus={first === undefined && ports.length > 1 ? true : undefined} onChange={(event) => setPortName(event.target.value)}>
              {ports.map((each) => <option key={each.name} value={each.name}>{label(each)}{each.type ? `, ${each.type}` : ""}</option>)}
            </select>
          )}
        </Field>
        <CandidateList list={list} autoFocus={first !== undefined || ports.length === 1} onChoose={(candidate) => void connect(candidate)} />
        {fault && <p className="w-field-fault" role="alert"><Icon name="error" size={14} />{fault}</p>}
      </div>
    </Dialog>
  );
}

/** Candidates that have all of the words; names that begin with the first word come first. */
export function filterCandidates(list: readonly Candidate[], search: string): readonly Candidate[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const fitting = list.filter((each) => words.every((word) => `${each.name} ${each.block} ${each.type ?? ""}`.toLowerCase().includes(word)));
  if (words.length === 0) return fitting;
  const begins = (each: Candidate) => each.name.toLowerCase().startsWith(words[0]!);
  return [...fitting.filter(begins), ...fitting.filter((each) => !begins(each))];
}

const SHOWN = 200;

/** A text field over a list, as the ARIA combobox pattern has it. */
function CandidateList({ list, autoFocus, onChoose }: { list: readonly Candidate[] | undefined; autoFocus: boolean; onChoose(candidate: Candidate): void }) {
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const base = useId();
  const fitting = useMemo(() => filterCandidates(list ?? [], search), [list, search]);
  const shown = fitting.slice(0, SHOWN);
  const active = Math.min(at, shown.length - 1);
  useEffect(() => { void document.getElementById(`${base}-${active}`)?.scrollIntoView?.({ block: "nearest" }); }, [active, base]);
  const key = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + 8, PageUp: active - 8 }[event.key];
    if (to !== undefined) setAt(Math.max(0, Math.min(shown.length - 1, to)));
    else if (event.key === "Enter" && shown[active]) onChoose(shown[active]);
    else return;
    event.preventDefault();
  };
  const empty = list === undefined ? t.searching : list.length === 0 ? t.noCandidates : text(t.noneMatch, { words: search });
  return (
    <Field label={t.candidates}>
      {(ids) => (
        <>
          <input
            {...ids} type="text" role="combobox" className="w-input" data-autofocus={autoFocus || undefined} placeholder={t.filter} autoComplete="off" spellCheck={false}
            aria-expanded={shown.length > 0} aria-controls={`${base}-list`} aria-autocomplete="list" aria-activedescendant={shown.length > 0 ? `${base}-${active}` : undefined}
            value={search} onChange={(event) => { setSearch(event.target.value); setAt(0); }} onKeyDown={key}
          />
          {shown.length === 0 ? <p className="w-outline-none" role="status">{empty}</p> : (
            <ul role="listbox" id={`${base}-list`} aria-label={t.candidates} className="w-outline-list">
              {shown.map((each, i) => (
                <li key={each.name} id={`${base}-${i}`} role="option" aria-selected={i === active} onPointerEnter={() => setAt(i)} onClick={() => onChoose(each)}>
                  <b>{each.name}</b><span className="w-outline-type">{each.block}</span>
                  <span className="w-outline-wire">{[each.type, each.replaces && text(t.replaces, { from: each.replaces })].filter(Boolean).join(", ")}</span>
                </li>
              ))}
            </ul>
          )}
          <span className="w-visually-hidden" role="status">{list && shown.length > 0 ? text(t.count, { count: fitting.length }) : ""}</span>
        </>
      )}
    </Field>
  );
}
