import { useEffect, useState } from "react";
import type { ExampleInfo, FileInfo } from "@weft/client";
import { runCommand } from "../actions/commands";
import { openFiles } from "../actions/drop";
import { useWorkbench } from "../model/react";
import { Card } from "../dialogs/Files";
import { text, texts } from "../texts";
import { Button } from "../ui";

const t = texts.empty;

/** What is there while no page is open: what can be done. */
export function EmptyState() {
  const workbench = useWorkbench();
  return (
    <div
      className="w-empty" onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void openFiles(workbench, event.dataTransfer.files);
      }}
    >
      <h1>{t.title}</h1>
      <p>{t.text}</p>
      <div className="w-empty-actions">
        <Button look="primary" icon="open" onClick={() => workbench.ask("open")}>{t.open}</Button>
        <Button icon="plus" onClick={() => runCommand(workbench, "new")}>{t.new}</Button>
        <Button icon="help" onClick={() => runCommand(workbench, "tour")}>{t.tour}</Button>
      </div>
      <p className="w-hint">{t.hint}</p>
      <Gallery />
    </div>
  );
}

/** The folder's pages that were changed last, and examples. */
function Gallery() {
  const workbench = useWorkbench();
  const [files, setFiles] = useState<FileInfo[]>([]);
  const [examples, setExamples] = useState<ExampleInfo[]>([]);
  useEffect(() => {
    workbench.client.files().then((answer) => setFiles(answer.files.filter((file) => file.kind === "page" || file.kind === "svg")), () => {});
    workbench.client.examples().then(setExamples, () => {});
  }, [workbench]);
  const latest = [...files].sort((a, b) => b.modified.localeCompare(a.modified)).slice(0, 6);
  return (
    <div className="w-gallery">
      {latest.length > 0 && (
        <section>
          <h2>{text(texts.dialogs.files, { folder: workbench.server.get()?.folder ?? "" })}</h2>
          <ul className="w-cards">
            {latest.map((file) => <Card key={file.path} entry={{ name: file.path, title: file.path, summary: new Date(file.modified).toLocaleString() }} onOpen={() => void workbench.open({ path: file.path })} />)}
          </ul>
        </section>
      )}
      {examples.length > 0 && (
        <section>
          <h2>{texts.dialogs.examples}</h2>
          <ul className="w-cards">{examples.slice(0, 12).map((example) => <Card key={example.name} entry={example} onOpen={() => void workbench.open({ example: example.name })} />)}</ul>
        </section>
      )}
    </div>
  );
}
