import { useEffect, useMemo, useState } from "react";
import { WeftError, type ExampleInfo, type FileInfo } from "@weft/client";
import { useCell, usePage, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Button, Dialog, Field, Icon } from "../ui";

const t = texts.dialogs;

/** Opens a page: a file of the folder, an example, or a new one. */
export function OpenDialog() {
  const workbench = useWorkbench();
  const [files, setFiles] = useState<{ folder: string; files: FileInfo[] } | null>(null);
  const [examples, setExamples] = useState<ExampleInfo[]>([]);
  const [templates, setTemplates] = useState<ExampleInfo[]>([]);
  const [filter, setFilter] = useState("");
  const close = (): void => workbench.dialog.set(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    workbench.client.files().then(setFiles, (error: Error) => setFailure(error.message));
    workbench.client.examples().then(setExamples, () => {});
    workbench.client.templates().then(setTemplates, () => {});
  }, [workbench]);
  const pages = useMemo(() => (files?.files ?? []).filter((f) => (f.kind === "page" || f.kind === "json" || f.kind === "svg") && matches(f.path, filter)), [files, filter]);
  const open = (source: Parameters<typeof workbench.open>[0]): void => {
    close();
    void workbench.open(source);
  };
  return (
    <Dialog title={t.openTitle} width="l" onClose={close}>
      <input type="search" className="w-input" data-autofocus placeholder={t.filter} aria-label={t.filter} value={filter} onChange={(event) => setFilter(event.target.value)} />
      <div className="w-open">
        <section>
          <h3>{text(t.files, { folder: files?.folder ?? "" })}</h3>
          {!files && <p className="w-hint" role="status">{failure ?? texts.common.reading}</p>}
          {files && pages.length === 0 && !filter && <p className="w-hint">{t.noFiles}</p>}
          <ul className="w-rows w-open-files">
            {pages.map((file) => (
              <li key={file.path} className="w-row">
                <button type="button" className="w-row-main" onClick={() => open({ path: file.path })}>
                  <Icon name={file.kind === "svg" ? "image" : "open"} size={14} />
                  <span className="w-row-text">{file.path}</span>
                  <span className="w-row-place">{new Date(file.modified).toLocaleDateString()}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
        <section>
          <h3>{t.templates}</h3>
          <ul className="w-cards">
            {(templates.length ? templates : [{ name: "empty", title: t.empty, summary: t.emptySummary }]).map((template) => (
              <Card key={template.name} entry={template} onOpen={() => open({ template: template.name, name: "untitled" })} />
            ))}
          </ul>
          <h3>{t.examples}</h3>
          <ul className="w-cards">
            {examples.filter((e) => matches(`${e.name} ${e.summary}`, filter)).map((example) => <Card key={example.name} entry={example} onOpen={() => open({ example: example.name })} />)}
          </ul>
        </section>
      </div>
    </Dialog>
  );
}

const matches = (name: string, filter: string): boolean => name.toLowerCase().includes(filter.trim().toLowerCase());

/** A page that can be opened. */
export function Card({ entry, onOpen }: { entry: ExampleInfo; onOpen: () => void }) {
  return (
    <li>
      <button type="button" className="w-card" onClick={onOpen}>
        <strong>{entry.title}</strong>
        {entry.blocks !== undefined && <span className="w-hint">{text(t.blocks, { n: entry.blocks })}</span>}
        <span className="w-card-text">{entry.summary}</span>
      </button>
    </li>
  );
}

export function SaveAsDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const info = useCell(page.info);
  const [path, setPath] = useState(info.path ?? `${page.title || "untitled"}.page.json`);
  const [exists, setExists] = useState(false);
  const [overwrite, setOverwrite] = useState(false);
  const close = (): void => workbench.dialog.set(null);
  const save = async (): Promise<void> => {
    try {
      if (await workbench.save({ path, overwrite })) close();
    } catch (error) {
      if (error instanceof WeftError) setExists(true);
    }
  };
  return (
    <Dialog
      title={t.saveAsTitle} width="s" onClose={close} onSubmit={() => void save()}
      footer={<><Button onClick={close}>{texts.common.cancel}</Button><Button look="primary" type="submit">{texts.common.save}</Button></>}
    >
      <Field label={t.path} fault={exists && !overwrite ? text(t.saveExists, { path }) : undefined}>
        {(ids) => <input {...ids} className="w-input" data-autofocus spellCheck={false} value={path} onChange={(event) => { setPath(event.target.value); setExists(false); }} />}
      </Field>
      {exists && <label className="w-check"><input type="checkbox" checked={overwrite} onChange={(event) => setOverwrite(event.target.checked)} />{t.overwrite}</label>}
    </Dialog>
  );
}

export function ClosePageDialog() {
  const workbench = useWorkbench();
  const id = workbench.dialogSubject ?? workbench.active.get()?.id ?? "";
  const name = workbench.editor(id)?.title ?? "";
  const close = (): void => workbench.dialog.set(null);
  return (
    <Dialog
      title={t.closeTitle} width="s" onClose={close}
      footer={(
        <>
          <Button onClick={close} data-autofocus>{texts.common.cancel}</Button>
          <Button look="danger" onClick={() => { close(); void workbench.closePage(id, true); }}>{texts.common.discard}</Button>
          <Button look="primary" onClick={() => { close(); void workbench.show(id).then(() => workbench.save()).then((saved) => saved && workbench.closePage(id)); }}>{texts.common.save}</Button>
        </>
      )}
    >
      <p>{text(t.closeText, { name })}</p>
    </Dialog>
  );
}

export function DiskDialog() {
  const workbench = useWorkbench();
  const page = usePage();
  const close = (): void => workbench.dialog.set(null);
  return (
    <Dialog
      title={t.diskTitle} width="s" onClose={close}
      footer={(
        <>
          <Button onClick={close}>{texts.common.cancel}</Button>
          <Button onClick={() => { close(); void page.api.reload().catch(page.report); }}>{t.reload}</Button>
          <Button look="primary" onClick={() => { close(); void workbench.save({ force: true }); }}>{t.saveAnyway}</Button>
        </>
      )}
    >
      <p>{text(t.diskText, { path: page.info.get().path ?? "" })}</p>
    </Dialog>
  );
}

/** Edits that an earlier start of the server left. */
export function RecoveryDialog() {
  const workbench = useWorkbench();
  const list = useCell(workbench.recovery);
  const close = (): void => workbench.dialog.set(null);
  const done = (id: string): void => {
    workbench.recovery.update((entries) => entries.filter((entry) => entry.id !== id));
    if (!workbench.recovery.get().length) close();
  };
  return (
    <Dialog title={t.recoveryTitle} onClose={close} footer={<Button onClick={close}>{t.later}</Button>}>
      <p>{t.recoveryText}</p>
      <ul className="w-rows">
        {list.map((entry) => (
          <li key={entry.id} className="w-row">
            <span className="w-row-text w-pad">
              <strong>{entry.path ?? entry.name}</strong>
              <span className="w-row-hint">{text(t.edits, { n: entry.edits, when: new Date(entry.modified).toLocaleString() })}{entry.changed_on_disk ? ` · ${texts.toolbar.diskChanged}` : ""}</span>
            </span>
            <Button small look="quiet" onClick={() => void workbench.client.forgetRecovery(entry.id).then(() => done(entry.id), workbench.report)}>{t.forget}</Button>
            <Button small look="primary" data-autofocus onClick={() => void workbench.recover(entry).then((whole) => (whole ? done(entry.id) : close()), workbench.report)}>{t.recover}</Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
