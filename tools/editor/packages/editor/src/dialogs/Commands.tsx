import { commands, runCommand } from "../actions/commands";
import { useCell, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Dialog } from "../ui";
import { ChoiceDialog } from "./List";

const t = texts.dialogs;

/** All commands, searched by their titles. */
export function CommandPalette() {
  const workbench = useWorkbench();
  const page = useCell(workbench.active);
  const find = (query: string) => {
    const wanted = query.trim().toLowerCase();
    return commands
      .filter((c) => c.id !== "commands" && `${c.group} ${c.title}`.toLowerCase().includes(wanted))
      .map((c) => ({
        key: c.id, label: c.title, disabled: (c.page && !page) || c.enabled?.(workbench, page) === false,
        detail: c.keys ? <kbd>{c.keys.split(" ")[0]}</kbd> : c.group,
      }));
  };
  return (
    <ChoiceDialog
      title={t.commandsTitle} placeholder={texts.common.search} find={find} onClose={() => workbench.dialog.set(null)}
      onChoose={(id) => {
        workbench.dialog.set(null);
        setTimeout(() => runCommand(workbench, id));
      }}
    />
  );
}

/** The keyboard map. */
export function KeysDialog() {
  const workbench = useWorkbench();
  const groups = [...new Set(commands.filter((c) => c.keys).map((c) => c.group))];
  return (
    <Dialog title={t.keysTitle} width="l" onClose={() => workbench.dialog.set(null)}>
      <div className="w-keys" tabIndex={0} role="group" aria-label={t.keysTitle}>
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {commands.filter((c) => c.group === group && c.keys).map((c) => (
                <div key={c.id}><dt>{c.title}</dt><dd>{c.keys?.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dd></div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
