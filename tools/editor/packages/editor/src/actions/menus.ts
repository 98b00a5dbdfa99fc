import type { MouseEvent as ReactMouseEvent } from "react";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";
import { texts } from "../texts";
import type { IconName, MenuItem } from "../ui";
import { commandOf, keysOf, runCommand } from "./commands";
import { addNote, addPlot } from "./decor";
import { clipboardClip, paste } from "./edit";

export interface ContextMenuState {
  at: { x: number; y: number };
  label: string;
  items: MenuItem[];
}

/** A command as an item of a menu. */
export function commandItem(workbench: Workbench, id: string, icon?: IconName, danger = false): MenuItem {
  const command = commandOf(id);
  const page = workbench.active.get();
  return {
    label: command?.title ?? id, icon, danger, shortcut: keysOf(id), disabled: (command?.page && !page) || command?.enabled?.(workbench, page) === false,
    onSelect: () => runCommand(workbench, id),
  };
}

/** Opens the menu of a node, a wire, a selection or the page itself. */
export function openContextMenu(
  event: ReactMouseEvent, workbench: Workbench, page: PageEditor, target: string | null, open: (menu: ContextMenuState) => void,
  place?: { x: number; y: number },
): void {
  event.preventDefault();
  const selection = page.selection.get();
  if (target && target !== "selection" && !selection.has(target)) page.select([target]);
  const item = (id: string, icon?: IconName, danger?: boolean): MenuItem => commandItem(workbench, id, icon, danger);
  const at = { x: event.clientX, y: event.clientY };
  if (!target && place) {
    open({ at, label: texts.canvas.pageMenu, items: [
      { label: texts.commands.addBlock, icon: "plus", shortcut: keysOf("add"), onSelect: () => workbench.quick.set({ at, place }) },
      { label: texts.commands.addNote, icon: "edit", shortcut: keysOf("note"), onSelect: () => void addNote(page, [place.x, place.y]) },
      { label: texts.commands.paste, icon: "copy", shortcut: keysOf("paste"), onSelect: () => void clipboardClip(workbench).then((clip) => paste(page, clip, [place.x, place.y])) },
      "separator", item("selectAll"), item("fit"), item("arrange", "arrange"),
    ] });
    return;
  }
  if (target?.startsWith("wire:")) {
    const wire = page.model.wireAt(target.slice(5));
    open({ at, label: texts.canvas.wireMenu, items: [
      ...(wire ? [
        { label: texts.canvas.inspectValue, icon: "table" as const, onSelect: () => workbench.inspect.set(wire.from) },
        { label: texts.canvas.plotValue, icon: "chart" as const, onSelect: () => workbench.plot(wire.from) },
        { label: texts.panels.plotOnPage, icon: "pin" as const, onSelect: () => void addPlot(page, wire.from) },
        "separator" as const,
      ] : []),
      item("delete", "trash", true),
    ] });
    return;
  }
  open({ at, label: texts.canvas.blockMenu, items: [
    item("runToHere", "play"), item("breakpoint", "dot"), item("breakWhen"), item("connect", "link"), "separator",
    item("rename", "edit"), item("cut"), item("copy", "copy"), item("duplicate"), item("frame"), "separator",
    item("help", "help"), item("delete", "trash", true),
  ] });
}
