import { useDark } from "../model/theme";
import { commandItem } from "../actions/menus";
import { keysOf, runCommand } from "../actions/commands";
import { useCell, useCellPart, useWorkbench, PageContext } from "../model/react";
import type { PageEditor } from "../model/pageEditor";
import { text, texts } from "../texts";
import { Button, IconButton, MenuButton, type MenuItem } from "../ui";
import { RunControls } from "./RunControls";
import "./toolbar.css";

const t = texts.toolbar;

/** The bar at the top: file, edit, run, and what is shown. */
export function Toolbar() {
  const workbench = useWorkbench();
  const page = useCell(workbench.active);
  const dark = useDark(workbench);
  const item = (id: string): MenuItem => commandItem(workbench, id);
  const toggle = (id: string, setting: "minimap" | "valuesOnBlocks" | "routedWires" | "snap"): MenuItem => {
    const made = item(id);
    return made === "separator" ? made : { ...made, checked: workbench.settings.get()[setting] };
  };
  const menu = (): MenuItem[] => [
    item("new"), item("open"), item("save"), item("saveAs"), item("exportPage"), item("exportSvg"), item("exportPng"), item("closePage"), "separator",
    item("find"), item("commands"), item("bookmark"), "separator",
    toggle("minimap", "minimap"), toggle("values", "valuesOnBlocks"), toggle("routed", "routedWires"), toggle("snap", "snap"), "separator", item("keys"), item("tour"), item("help"),
  ];
  return (
    <header className="w-toolbar" role="toolbar" aria-label={texts.app.editor}>
      <MenuButton label={`${texts.app.name} ${t.menu}`} items={menu} className="w-brand">
        <Logo /> <span className="w-brand-name">{texts.app.name}</span>
      </MenuButton>
      <IconButton icon="open" label={texts.commands.open} shortcut={keysOf("open")} onClick={() => runCommand(workbench, "open")} />
      {page && <PageButtons page={page} />}
      <span className="w-toolbar-space" />
      {page && <PageContext.Provider value={page}><RunControls /></PageContext.Provider>}
      <span className="w-toolbar-space" />
      <IconButton icon="search" label={texts.commands.palette} shortcut={keysOf("commands")} onClick={() => runCommand(workbench, "commands")} />
      <IconButton icon={dark ? "sun" : "moon"} label={t.theme} onClick={() => runCommand(workbench, "theme")} />
      <IconButton icon="help" disabled={!page} label={texts.commands.help} shortcut={keysOf("help")} onClick={() => runCommand(workbench, "help")} />
    </header>
  );
}

function PageButtons({ page }: { page: PageEditor }) {
  const workbench = useWorkbench();
  const info = useCell(page.info);
  const readOnly = useCellPart(workbench.server, (s) => s?.read_only ?? false);
  const selected = useCellPart(page.selection, (s) => s.size);
  const clients = useCell(page.clients).length;
  const waiting = useCell(page.waiting) > 0;
  const { undo, redo } = page.steppable;
  const step = (title: string, label: string | null | undefined): string => (label && !waiting ? `${title}: ${label}` : title);
  return (
    <>
      <IconButton icon="save" label={texts.commands.save} shortcut={keysOf("save")} disabled={readOnly || (!info.dirty && !waiting && info.path !== null)} onClick={() => runCommand(workbench, "save")} />
      <span className="w-toolbar-line" />
      <IconButton icon="undo" label={step(texts.commands.undo, info.undo_label)} shortcut={keysOf("undo")} disabled={undo <= 0} onClick={() => runCommand(workbench, "undo")} />
      <IconButton icon="redo" label={step(texts.commands.redo, info.redo_label)} shortcut={keysOf("redo")} disabled={redo <= 0} onClick={() => runCommand(workbench, "redo")} />
      <span className="w-toolbar-line w-wide-only" />
      <IconButton className="w-wide-only" icon="trash" label={texts.commands.remove} shortcut={keysOf("delete")} disabled={!selected} onClick={() => runCommand(workbench, "delete")} />
      <MenuButton
        className="w-wide-only" icon="arrange" label={texts.commands.arrange}
        items={() => [commandItem(workbench, "arrange"), "separator", ...["left", "right", "top", "bottom", "centerX", "centerY", "spreadX", "spreadY"].map((how) => commandItem(workbench, `align-${how}`)), "separator", commandItem(workbench, "frame"), commandItem(workbench, "note")]}
      />
      {readOnly && <span className="w-badge w-badge-warning">{texts.app.readOnly}</span>}
      {clients > 1 && <span className="w-badge" title={text(t.clients, { n: clients })}>{clients}</span>}
      {info.on_disk === "changed" && <Button small look="quiet" icon="warning" onClick={() => workbench.ask("changedOnDisk")}>{t.diskChanged}</Button>}
    </>
  );
}

function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="2" y="2" width="28" height="28" rx="7" fill="var(--w-accent)" />
      <path d="M7 11c5 0 4 10 9 10s4-10 9-10M7 21c5 0 4-10 9-10s4 10 9 10" fill="none" stroke="var(--w-on-accent)" strokeWidth="2.4" strokeLinecap="round" />
    </svg>
  );
}
