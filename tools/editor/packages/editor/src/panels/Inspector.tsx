import { useEffect, useRef, useState } from "react";
import type { Attrs, Block, BlockSchema, Diagnostic, Edit, PortSchema } from "@weft/client";
import { addPlot } from "../actions/decor";
import { rename, setNoteOf } from "../actions/edit";
import { quickFix } from "../actions/fixes";
import { AttributeForm } from "../forms";
import { attributePairs } from "../model/attributes";
import { categoryColor, categoryTitle, typeText } from "../model/names";
import type { PageEditor } from "../model/pageEditor";
import { useBlock, useCell, useCellPart, usePage, useStructure, useSummary, useWorkbench } from "../model/react";
import { plural, text, texts } from "../texts";
import { Button, Field, Icon, IconButton, MenuButton } from "../ui";
import { commandOf, runCommand } from "../actions/commands";
import { InputRow } from "./InputRow";
import { WhyNot } from "./WhyNot";
import { Swatches } from "./Swatches";

const t = texts.panels;

/** Everything about the selected block; about the page where none is selected. */
export function Inspector() {
  const page = usePage();
  const selection = useCell(page.selection);
  const blocks = [...selection].filter((id) => page.model.blocks.has(id));
  if (blocks.length === 1 && blocks[0]) return <BlockInspector key={page.identity(blocks[0])} id={blocks[0]} />;
  if (blocks.length > 1) return <SeveralInspector count={blocks.length} />;
  if ([...selection].some((id) => /^(frame|note):/.test(id))) return <div className="w-inspector"><Swatches /></div>;
  return <PageInspector />;
}

/** What can be done with several blocks at once. */
function SeveralInspector({ count }: { count: number }) {
  const workbench = useWorkbench();
  const button = (id: string) => <Button key={id} small onClick={() => runCommand(workbench, id)}>{commandOf(id)?.title}</Button>;
  return (
    <div className="w-inspector">
      <h2 className="w-inspector-title">{text(t.many, { n: count })}</h2>
      <div className="w-inspector-actions">{["frame", "duplicate", "arrange"].map(button)}</div>
      <div className="w-inspector-actions">{["left", "centerX", "right", "top", "centerY", "bottom", "spreadX", "spreadY"].map((how) => button(`align-${how}`))}</div>
      <Swatches />
    </div>
  );
}

function PageInspector() {
  const page = usePage();
  const info = useCell(page.info);
  useStructure();
  const stored = typeof page.model.keys["page"] === "string" ? page.model.keys["page"] : info.name;
  const [name, setName] = useState(stored);
  useEffect(() => setName(stored), [stored]);
  const loaded = useCell(page.loaded);
  const wires = page.model.wireCount;
  return (
    <div className="w-inspector">
      <h2 className="w-inspector-title">{t.pageProperties}</h2>
      <form onSubmit={(event) => { event.preventDefault(); if (name !== stored) void page.edit([{ op: "set", key: "page", value: name }], text(texts.edits.renamePage, { to: name })); }}>
        <Field label={t.pageName}>{(ids) => <input {...ids} className="w-input" value={name} onChange={(event) => setName(event.target.value)} />}</Field>
      </form>
      <p className="w-hint">{loaded ? `${plural(page.model.blocks.size, t.block, t.blocks)}, ${plural(wires, t.wire, t.wires)}` : texts.app.loading}</p>
      <p className="w-hint">{t.selectSomething}</p>
    </div>
  );
}

function BlockInspector({ id }: { id: string }) {
  const page = usePage();
  const workbench = useWorkbench();
  const { block, faults } = useBlock(id);
  if (!block) return null;
  const schema = page.model.schema.get(block.block);
  return (
    <div className="w-inspector">
      <div className="w-inspector-head">
        <span className="w-palette-dot" style={{ background: categoryColor(schema?.category) }} />
        <span className="w-inspector-type">{block.block}</span>
        {schema && <span className="w-hint">{categoryTitle(schema.category)}</span>}
        <IconButton small icon="help" label={texts.commands.help} shortcut="F1" onClick={() => workbench.helpFor.set(block.block)} />
      </div>
      <IdField block={block} />
      <p className="w-inspector-summary">{schema?.summary ?? t.placeholder}</p>
      {faults.length > 0 ? <Findings block={block} faults={faults} /> : <WhyNot id={id} />}
      {schema && (
        <Section title={t.attributes}>
          <AttributeForm
            schema={schema} attrs={block.attrs} faults={attributeFaults(faults, block)} inferred={inferredTypes(page, block)}
            onSet={(attr, value) => void page.edit([settingEdit(block, attr, value)], text(texts.edits.set, { what: `${id}.${attr}` }))}
            onSetText={(value) => void page.edit([{ op: "set", block: id, attrs: value || null }], text(texts.edits.settings, { what: id }))}
          />
        </Section>
      )}
      <Section title={t.inputs}>
        <ul className="w-ports">{page.model.shape(id).rows.filter((row) => row.side === "in").map((row) => <InputRow key={row.name} id={id} row={row} port={portSchema(schema, row.name)} schema={schema} />)}</ul>
      </Section>
      <Section title={t.outputs}>
        <ul className="w-ports">{page.model.shape(id).rows.filter((row) => row.side === "out").map((row) => <OutputRow key={row.name} name={`${id}.${row.name}`} label={row.name} doc={row.doc} />)}</ul>
      </Section>
      <NoteField block={block} />
      <Swatches current={block["color"]} />
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return <section className="w-section"><h3>{title}</h3>{children}</section>;
}

/** The port of a row, which may be an element of its list, or have enuSpace's spelling. */
function portSchema(schema: BlockSchema | undefined, row: string): PortSchema | undefined {
  const name = row.replace(/\[\d+\]$/, "");
  return schema?.inputs.find((p) => p.port === (schema.palette_spelling?.[name] ?? name)) ?? schema?.inputs.find((p) => p.port === name);
}

function IdField({ block }: { block: Block }) {
  const page = usePage();
  const workbench = useWorkbench();
  const [draft, setDraft] = useState(block.id);
  useEffect(() => setDraft(block.id), [block.id]);
  const asked = useRef<string | null>(null);
  const done = (): void => {
    const to = draft.trim();
    if (draft === block.id || asked.current === to) return;
    asked.current = to;
    void rename(workbench, page, block.id, to).then((ok) => {
      asked.current = null;
      if (!ok) setDraft(block.id);
    });
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); done(); }}>
      <Field label={t.id}>{(ids) => <input {...ids} className="w-input w-inspector-id" spellCheck={false} value={draft} onChange={(event) => setDraft(event.target.value)} onBlur={done} />}</Field>
    </form>
  );
}

function NoteField({ block }: { block: Block }) {
  const page = usePage();
  const stored = typeof block["note"] === "string" ? block["note"] : "";
  const [draft, setDraft] = useState(stored);
  useEffect(() => setDraft(stored), [stored]);
  return (
    <section className="w-section">
      <Field label={t.noteOn}>{(ids) => <textarea {...ids} className="w-input" rows={2} value={draft} onChange={(event) => setDraft(event.target.value)} onBlur={() => draft !== stored && void setNoteOf(page, block, draft)} />}</Field>
    </section>
  );
}

function Findings({ block, faults }: { block: Block; faults: readonly Diagnostic[] }) {
  const page = usePage();
  return (
    <ul className="w-findings">
      {faults.map((finding, k) => {
        const fix = quickFix(page, finding);
        return (
          <li key={k} className={`w-finding w-finding-${finding.severity}`}>
            <Icon name={finding.severity === "error" ? "error" : "warning"} size={14} />
            <div>
              {finding.message}
              {finding.hint && <p className="w-hint">{finding.hint}</p>}
              {fix && <Button small onClick={() => void page.edit(fix.edits, fix.label)} aria-label={`${fix.label} (${block.id})`}>{fix.label}</Button>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function OutputRow({ name, label, doc }: { name: string; label: string; doc?: string }) {
  const page = usePage();
  const workbench = useWorkbench();
  const value = useSummary(name);
  const paused = useCellPart(page.runs.run, (run) => run?.state === "paused");
  const readers = [...(page.model.readersOf(name.slice(0, name.length - label.length - 1)).get(label) ?? [])];
  return (
    <li className="w-port-row" title={doc}>
      <div className="w-port-row-head">
        <span className="w-port-name">{label}</span>
        <span className="w-port-type">{typeText(page.model.types.get(name))}</span>
        <MenuButton
          small icon="more" label={name}
          items={[
            { label: t.inspect, icon: "table", disabled: !value, onSelect: () => workbench.inspect.set(name) },
            { label: t.plot, icon: "chart", onSelect: () => workbench.plot(name) },
            { label: t.plotOnPage, icon: "pin", onSelect: () => void addPlot(page, name) },
            { label: t.connect, icon: "link", onSelect: () => workbench.ask("connect", name) },
            { label: t.feed, icon: "upload", onSelect: () => workbench.ask("feed", name) },
            { label: t.override, icon: "edit", disabled: !paused, hint: paused ? undefined : t.overrideHint, onSelect: () => workbench.ask("override", name) },
          ]}
        />
      </div>
      {value && <button type="button" className="w-port-value-line" title={text(texts.canvas.ofRun, { run: value.generation })} onClick={() => workbench.inspect.set(name)}>{value.text}</button>}
      {readers.length > 0 && <div className="w-hint">→ {readers.slice(0, 4).join(", ")}{readers.length > 4 ? ` +${readers.length - 4}` : ""}</div>}
    </li>
  );
}

/** The edit of one setting: in the form that the block's settings have. */
function settingEdit(block: Block, attr: string, value: string | undefined): Edit {
  return value === undefined ? { op: "set", block: block.id, attr, value: null } : { op: "set", block: block.id, attr, text: value };
}

/** Faults that name a setting, by setting. */
function attributeFaults(faults: readonly Diagnostic[], block: Block): Record<string, string> {
  const out: Record<string, string> = {};
  for (const fault of faults) {
    const named = /\/attrs\/([^/]+?)_?$/.exec(fault.pointer ?? "")?.[1] ?? attributePairs(block.attrs as Attrs | undefined).map(([name]) => name).find((name) => fault.port === name);
    if (named) out[named] = fault.message;
  }
  return out;
}

/** Types that the engine found, for settings that follow from inputs. */
function inferredTypes(page: PageEditor, block: Block): Record<string, string> {
  const out: Record<string, string> = {};
  for (const port of page.model.schema.get(block.block)?.outputs ?? []) {
    const dtype = page.model.types.get(`${block.id}.${port.port}`)?.dtype;
    if (port.type_attr && dtype) out[port.type_attr] = dtype;
  }
  return out;
}
