import { runCommand } from "../actions/commands";
import { useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Button } from "../ui";

const t = texts.empty;

/** What is there while no page is open: what can be done. */
export function EmptyState() {
  const workbench = useWorkbench();
  const dropped = async (file: File | undefined): Promise<void> => {
    if (file) await workbench.open({ text: await file.text(), name: file.name.replace(/(\.page)?\.(json|svg)$/i, "") });
  };
  return (
    <div
      className="w-empty" onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void dropped(event.dataTransfer.files[0]);
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
    </div>
  );
}
