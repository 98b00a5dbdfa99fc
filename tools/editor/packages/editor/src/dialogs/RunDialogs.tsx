import { useEffect, useState } from "react";
import type { Breakpoint, PortType, TensorLiteral } from "@weft/client";
import { startRun } from "../actions/running";
import { useCell, useCellPart, usePage, useWorkbench } from "../model/react";
import { TensorEditor, toLiteral, zeros, type TensorValue } from "../tensor";
import { fromValue, readTensor } from "../model/tensors";
import { tensorTexts } from "../tensor/texts";
import { text, texts } from "../texts";
import { Button, Dialog, Field } from "../ui";

const t = texts.dialogs;

/** Runs N times, of one session or the whole page. */
export function StepsDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const { sessions } = useCell(page.info);
  const [steps, setSteps] = useState("100");
  const [interval, setIntervalMs] = useState("0");
  const [session, setSession] = useState(sessions[0] ?? "");
  const close = (): void => workbench.dialog.set(null);
  const n = Number(steps);
  const start = (): void => {
    if (!Number.isInteger(n) || n < 1) return;
    close();
    void startRun(workbench, page, { steps: n, interval_ms: Math.max(0, Number(interval) || 0), session: session || undefined });
  };
  return (
    <Dialog
      title={t.stepsTitle} width="s" onClose={close} onSubmit={start}
      footer={<><Button onClick={close}>{texts.common.cancel}</Button><Button look="primary" type="submit" icon="play" filledIcon>{texts.toolbar.run}</Button></>}
    >
      <Field label={t.steps}>{(ids) => <input {...ids} className="w-input" data-autofocus inputMode="numeric" value={steps} onChange={(event) => setSteps(event.target.value)} />}</Field>
      <Field label={t.intervalMs}>{(ids) => <input {...ids} className="w-input" inputMode="numeric" value={interval} onChange={(event) => setIntervalMs(event.target.value)} />}</Field>
      {sessions.length > 0 && (
        <Field label={t.session}>
          {(ids) => (
            <select {...ids} className="w-select" value={session} onChange={(event) => setSession(event.target.value)}>
              <option value="">{t.wholePage}</option>
              {sessions.map((id) => <option key={id}>{id}</option>)}
            </select>
          )}
        </Field>
      )}
    </Dialog>
  );
}

/** A breakpoint with its condition. */
export function BreakpointDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const selected = page.selectedBlocks()[0]?.id ?? "";
  const [kind, setKind] = useState<Breakpoint["kind"]>(selected ? "before" : "condition");
  const [block, setBlock] = useState(selected);
  const [condition, setCondition] = useState("run >= 100");
  const [fromHit, setFromHit] = useState("1");
  const [once, setOnce] = useState(false);
  const close = (): void => workbench.dialog.set(null);
  const add = async (): Promise<void> => {
    const made = await page.addBreakpoint({
      kind, once, from_hit: Math.max(1, Number(fromHit) || 1), ...(kind === "condition" ? { condition } : block ? { block } : {}),
    });
    if (made) close();
  };
  return (
    <Dialog
      title={t.breakTitle} width="s" onClose={close} onSubmit={() => void add()}
      footer={<><Button onClick={close}>{texts.common.cancel}</Button><Button look="primary" type="submit">{texts.common.add}</Button></>}
    >
      <Field label={t.breakKind}>
        {(ids) => (
          <select {...ids} className="w-select" data-autofocus value={kind} onChange={(event) => setKind(event.target.value as Breakpoint["kind"])}>
            {(Object.keys(t.kinds) as Breakpoint["kind"][]).map((key) => <option key={key} value={key}>{t.kinds[key]}</option>)}
          </select>
        )}
      </Field>
      {kind === "condition" ? (
        <Field label={t.condition} help={t.conditionHint}>{(ids) => <input {...ids} className="w-input w-input-mono" spellCheck={false} value={condition} onChange={(event) => setCondition(event.target.value)} />}</Field>
      ) : (
        <Field label={t.block}>
          {(ids) => (
            <select {...ids} className="w-select" value={block} onChange={(event) => setBlock(event.target.value)}>
              {kind === "not_finite" && <option value="">{t.anyBlock}</option>}
              {page.model.ids.map((id) => <option key={id}>{id}</option>)}
            </select>
          )}
        </Field>
      )}
      <Field label={t.fromHit}>{(ids) => <input {...ids} className="w-input" inputMode="numeric" value={fromHit} onChange={(event) => setFromHit(event.target.value)} />}</Field>
      <label className="w-check"><input type="checkbox" checked={once} onChange={(event) => setOnce(event.target.checked)} />{t.once}</label>
    </Dialog>
  );
}

/** Replaces a value of a run that is paused, feeds an output in every run, or sets a variable. */
export function ValueDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const name = workbench.dialogSubject ?? "";
  const [what] = useState(() => workbench.dialog.get());
  const variable = what === "setVariable";
  const paused = useCellPart(page.runs.run, (run) => run?.state === "paused");
  const [tensor, setTensor] = useState<TensorValue | null | undefined>(null);
  useEffect(() => {
    const read = !variable ? readTensor(page, name) : page.api.variable(name, { limit: 1048576 }).then(fromValue);
    read.then(setTensor, () => setTensor(zerosOf(page.model.types.get(name))));
  }, [page, name, variable]);
  const close = (): void => workbench.dialog.set(null);
  if (tensor === null) return <Dialog title={text(tensorTexts.editTitle, { name })} width="l" onClose={close}><p className="w-hint" role="status">{texts.common.reading}</p></Dialog>;
  const save = async (value: TensorValue): Promise<void> => {
    const literal = toLiteral(value) as TensorLiteral;
    const run = page.runs.run.get();
    try {
      if (variable) await page.api.setVariable(name, literal);
      else if (what === "feed") await page.api.setFeed(name, literal);
      else if (run) page.runs.answered(await page.api.override(run.id, name, literal));
      void page.runs.refresh();
      close();
    } catch (error) {
      page.report(error);
    }
  };
  const blocked = what === "override" && !paused ? texts.panels.overrideEnded : undefined;
  return <TensorEditor name={name} tensor={tensor} blocked={blocked} onSave={(value) => void save(value)} onClose={close} />;
}

/** Zeros of the type and shape that the page tells; undefined where it does not, or they would be very many. */
function zerosOf(type: PortType | undefined): TensorValue | undefined {
  const { dtype, shape } = type ?? {};
  if (!dtype || !shape || shape.some((size) => size < 0) || shape.reduce((count, size) => count * size, 1) > 100_000) return undefined;
  return zeros(dtype, shape);
}

/** Saves all variables to a file of the folder, or takes them from one. */
export function StateDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const saving = workbench.dialog.get() === "saveState";
  const [path, setPath] = useState(`${page.title || "page"}.weftstate`);
  const [overwrite, setOverwrite] = useState(false);
  const [known, setKnown] = useState<string[]>([]);
  const close = (): void => workbench.dialog.set(null);
  useEffect(() => void workbench.client.files().then(({ files }) => setKnown(files.filter((f) => f.kind === "state").map((f) => f.path)), () => {}), [workbench]);
  const go = async (): Promise<void> => {
    try {
      const { variables } = saving ? await page.api.saveState(path, overwrite) : await page.api.restoreState(path);
      close();
      workbench.toast({ kind: "ok", text: `${saving ? texts.panels.saveState : texts.panels.restoreState} ${path} (${variables})` });
    } catch (error) {
      page.report(error);
    }
  };
  return (
    <Dialog
      title={saving ? texts.panels.saveState : texts.panels.restoreState} width="s" onClose={close} onSubmit={() => void go()}
      footer={<><Button onClick={close}>{texts.common.cancel}</Button><Button look="primary" type="submit">{saving ? texts.common.save : texts.common.open}</Button></>}
    >
      <Field label={t.statePath}>{(ids) => <input {...ids} className="w-input" data-autofocus list="w-state-files" spellCheck={false} value={path} onChange={(event) => setPath(event.target.value)} />}</Field>
      <datalist id="w-state-files">{known.map((file) => <option key={file} value={file} />)}</datalist>
      {saving && <label className="w-check"><input type="checkbox" checked={overwrite} onChange={(event) => setOverwrite(event.target.checked)} />{t.overwrite}</label>}
    </Dialog>
  );
}
