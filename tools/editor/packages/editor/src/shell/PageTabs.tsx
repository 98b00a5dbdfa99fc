import { useRef, type KeyboardEvent } from "react";
import { keysOf, runCommand } from "../actions/commands";
import { useCell, useWorkbench } from "../model/react";
import type { PageEditor } from "../model/pageEditor";
import { text, texts } from "../texts";
import { Icon, IconButton } from "../ui";

/** The open pages. */
export function PageTabs() {
  const workbench = useWorkbench();
  const tabs = useCell(workbench.tabs);
  const active = useCell(workbench.active);
  const opening = useCell(workbench.opening);
  const list = useRef<HTMLDivElement>(null);
  if (!tabs.length) return null;
  const key = (event: KeyboardEvent): void => {
    const at = tabs.indexOf(active?.id ?? "");
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 : event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : null;
    if (to === null && event.key !== "Delete") return;
    event.preventDefault();
    event.stopPropagation(); // Delete is also a key of the canvas
    if (to === null) return runCommand(workbench, "closePage");
    const next = tabs[(to + tabs.length) % tabs.length];
    if (next) void workbench.show(next);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next ?? "")]?.focus();
  };
  return (
    <nav className="w-pages" aria-label={texts.dialogs.recent}>
      <div ref={list} role="tablist" className="w-pages-list" onKeyDown={key}>
        {tabs.map((id) => {
          const editor = workbench.editor(id);
          return editor ? <PageTab key={id} editor={editor} selected={active?.id === id} /> : null;
        })}
      </div>
      {opening.map(({ name }, k) => <span key={k} className="w-page-opening" role="status">{text(texts.app.opening, { name })}</span>)}
      <IconButton icon="plus" small label={texts.commands.open} shortcut={keysOf("open")} onClick={() => workbench.ask("open")} />
    </nav>
  );
}

function PageTab({ editor, selected }: { editor: PageEditor; selected: boolean }) {
  const workbench = useWorkbench();
  const info = useCell(editor.info);
  return (
    <div role="presentation" className={`w-page-tab ${selected ? "w-page-tab-selected" : ""}`}>
      <button type="button" role="tab" aria-selected={selected} tabIndex={selected ? 0 : -1} title={info.path ?? info.name} onClick={() => void workbench.show(editor.id)}>
        {editor.title}
        {info.dirty && <span className="w-dirty" role="img" aria-label={texts.toolbar.dirty} title={texts.toolbar.dirty} />}
      </button>
      <button
        type="button" className="w-page-close" tabIndex={-1} aria-hidden title={`${texts.common.close} ${editor.title} (Delete)`}
        onClick={() => void workbench.closePage(editor.id).then((closed) => !closed && workbench.ask("closePage", editor.id))}
      >
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
