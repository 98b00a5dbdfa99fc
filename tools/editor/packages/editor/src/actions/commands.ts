import type { PageEditor } from "../model/pageEditor";
import { isXor, type Workbench } from "../model/workbench";
import { texts } from "../texts";
import { addFrame, addNote } from "./decor";
import { clipboardClip, copy, cut, duplicate, paste, removeSelection } from "./edit";
import { alignSelection, arrangePage, freePlace } from "./place";
import { focusSoon } from "./focus";
import { exportPage, exportPicture } from "./exporting";
import { runNow, runToHere, stepRun, stopRun, togglePause } from "./running";

const t = texts.commands;

/** Something that a user can do; shown in the command palette, and in the list of keys. */
export interface Command {
  id: string;
  title: string;
  /** "Ctrl+Shift+Z"; Ctrl is Cmd on a Mac. Several are separated by a space. */
  keys?: string;
  group: string;
  /** Needs an open page. */
  page?: boolean;
  enabled?: (workbench: Workbench, page: PageEditor | null) => boolean;
  run: (workbench: Workbench, page: PageEditor) => void | Promise<unknown>;
}

const hasBlocks = (_workbench: Workbench, page: PageEditor | null): boolean => (page?.selectedBlocks().length ?? 0) > 0;
const hasSelection = (_workbench: Workbench, page: PageEditor | null): boolean => (page?.selection.get().size ?? 0) > 0;
const idle = (_workbench: Workbench, page: PageEditor | null): boolean => !page?.runs.active;
const notRunning = (_workbench: Workbench, page: PageEditor | null): boolean => !page?.runs.starting.get() && page?.runs.run.get()?.state !== "running";
const running = (_workbench: Workbench, page: PageEditor | null): boolean => Boolean(page?.runs.active && !page.runs.starting.get());

/** The note or frame that alone is selected. */
const writable = (page: PageEditor | null): string | undefined => {
  const [only, ...more] = page?.selection.get() ?? [];
  return more.length === 0 && only !== undefined && /^(frame|note):/.test(only) ? only : undefined;
};

/** All commands, in the order in which they are listed. */
export const commands: Command[] = [
  { id: "open", title: t.open, keys: "Ctrl+O", group: t.groups.page, run: (w) => w.ask("open") },
  { id: "new", title: t.newPage, group: t.groups.page, run: (w) => w.open({ template: "empty", name: "untitled" }) },
  { id: "save", title: t.save, keys: "Ctrl+S", group: t.groups.page, page: true, run: (w) => w.save() },
  { id: "saveAs", title: t.saveAs, keys: "Ctrl+Shift+S", group: t.groups.page, page: true, run: (w) => w.ask("saveAs") },
  { id: "exportSvg", title: t.exportSvg, group: t.groups.page, page: true, run: (w, p) => exportPicture(w, p, "svg") },
  { id: "exportPng", title: t.exportPng, group: t.groups.page, page: true, run: (w, p) => exportPicture(w, p, "png") },
  { id: "exportPage", title: t.exportPage, group: t.groups.page, page: true, run: (w, p) => exportPage(w, p) },
  { id: "closePage", title: t.closePage, group: t.groups.page, page: true, run: async (w, p) => void ((await w.closePage(p.id)) || w.ask("closePage", p.id)) },

  { id: "undo", title: t.undo, keys: "Ctrl+Z", group: t.groups.edit, page: true, enabled: (_w, p) => (p?.steppable.undo ?? 0) > 0, run: (_w, p) => p.undo() },
  { id: "redo", title: t.redo, keys: "Ctrl+Shift+Z Ctrl+Y", group: t.groups.edit, page: true, enabled: (_w, p) => (p?.steppable.redo ?? 0) > 0, run: (_w, p) => p.redo() },
  { id: "cut", title: t.cut, keys: "Ctrl+X", group: t.groups.edit, page: true, enabled: hasBlocks, run: cut },
  { id: "copy", title: t.copy, keys: "Ctrl+C", group: t.groups.edit, page: true, enabled: hasBlocks, run: (w, p) => void copy(w, p) },
  { id: "paste", title: t.paste, keys: "Ctrl+V", group: t.groups.edit, page: true, run: async (w, p) => paste(p, await clipboardClip(w)) },
  { id: "duplicate", title: t.duplicate, keys: "Ctrl+D", group: t.groups.edit, page: true, enabled: hasBlocks, run: (_w, p) => duplicate(p) },
  { id: "delete", title: t.remove, keys: "Delete Backspace", group: t.groups.edit, page: true, enabled: hasSelection, run: removeSelection },
  { id: "selectAll", title: t.selectAll, keys: "Ctrl+A", group: t.groups.edit, page: true, run: (_w, p) => p.select(p.model.ids) },
  { id: "rename", title: t.rename, keys: "F2", group: t.groups.edit, page: true, enabled: (w, p) => hasBlocks(w, p) || writable(p) !== undefined, run: rename },

  { id: "add", title: t.addBlock, keys: "A Insert", group: t.groups.build, page: true, run: (w) => openQuick(w) },
  { id: "connect", title: t.connect, keys: "W", group: t.groups.build, page: true, enabled: hasBlocks, run: (w) => w.ask("connect") },
  { id: "note", title: t.addNote, keys: "N", group: t.groups.build, page: true, run: (_w, p) => addNote(p, freePlace(p, 200, 80), "") },
  { id: "frame", title: t.addFrame, keys: "G", group: t.groups.build, page: true, enabled: hasBlocks, run: (_w, p) => addFrame(p, p.selectedBlocks().map((b) => b.id), t.frame) },
  { id: "arrange", title: t.arrange, keys: "Ctrl+Shift+A", group: t.groups.build, page: true, run: arrangePage },
  ...(["left", "right", "top", "bottom", "centerX", "centerY", "spreadX", "spreadY"] as const).map((how): Command => ({
    id: `align-${how}`, title: t.align[how], group: t.groups.build, page: true, enabled: (_w, p) => (p?.selectedBlocks().length ?? 0) > 1, run: (_w, p) => alignSelection(p, how),
  })),

  { id: "find", title: t.find, keys: "Ctrl+F", group: t.groups.go, page: true, run: (w) => w.ask("find") },
  { id: "commands", title: t.palette, keys: "Ctrl+K Ctrl+Shift+P", group: t.groups.go, run: (w) => w.ask("commands") },
  { id: "fit", title: t.fit, keys: "Shift+1 Home", group: t.groups.go, page: true, run: (w, p) => w.reveal(p.model.ids, false) },
  { id: "fitSelection", title: t.fitSelection, keys: "Shift+2", group: t.groups.go, page: true, enabled: hasBlocks, run: (w, p) => w.reveal(p.selectedBlocks().map((b) => b.id), false) },
  { id: "nextFault", title: t.nextFault, keys: "F8", group: t.groups.go, page: true, run: nextFault },
  { id: "bookmark", title: t.bookmark, keys: "Ctrl+B", group: t.groups.go, page: true, run: addBookmark },

  { id: "run", title: t.run, keys: "F5", group: t.groups.run, page: true, enabled: notRunning, run: runNow },
  { id: "runSteps", title: t.runSteps, keys: "Ctrl+F5", group: t.groups.run, page: true, enabled: idle, run: (w) => w.ask("steps") },
  { id: "stop", title: t.stop, keys: "Shift+F5", group: t.groups.run, page: true, enabled: running, run: (_w, p) => stopRun(p) },
  { id: "pause", title: t.pause, keys: "F6", group: t.groups.run, page: true, enabled: running, run: (_w, p) => togglePause(p) },
  { id: "stepBlock", title: t.stepBlock, keys: "F10", group: t.groups.run, page: true, enabled: notRunning, run: (w, p) => stepRun(w, p, "block") },
  { id: "stepRun", title: t.stepRun, keys: "F11", group: t.groups.run, page: true, enabled: notRunning, run: (w, p) => stepRun(w, p, "run") },
  { id: "runToHere", title: t.runToHere, keys: "Ctrl+F10", group: t.groups.run, page: true, enabled: (w, p) => idle(w, p) && hasBlocks(w, p), run: runToHere },
  { id: "breakpoint", title: t.breakpoint, keys: "F9", group: t.groups.run, page: true, enabled: hasBlocks, run: (_w, p) => void p.selectedBlocks().forEach((b) => void p.toggleBreakpoint(b.id)) },
  { id: "breakWhen", title: t.breakWhen, keys: "Shift+F9", group: t.groups.run, page: true, run: (w) => w.ask("breakpoint") },
  { id: "heat", title: t.heat, group: t.groups.run, page: true, run: (_w, p) => p.runs.setHeat(!p.runs.heat.get()) },

  { id: "help", title: t.help, keys: "F1", group: t.groups.help, page: true, run: (w) => { w.set("right", true); w.helpFor.set(w.active.get()?.selectedBlocks()[0]?.block ?? ""); } },
  { id: "keys", title: t.keys, keys: "?", group: t.groups.help, run: (w) => w.ask("keys") },
  { id: "tour", title: t.tour, group: t.groups.help, run: startTour },
  { id: "theme", title: t.theme, group: t.groups.view, run: (w) => w.set("theme", nextTheme(w)) },
  { id: "left", title: t.left, keys: "Ctrl+1", group: t.groups.view, run: (w) => w.set("left", !w.settings.get().left) },
  { id: "bottom", title: t.bottom, keys: "Ctrl+2", group: t.groups.view, run: (w) => w.set("bottom", !w.settings.get().bottom) },
  { id: "right", title: t.right, keys: "Ctrl+3", group: t.groups.view, run: (w) => w.set("right", !w.settings.get().right) },
  { id: "outline", title: t.outline, keys: "Ctrl+Shift+O", group: t.groups.view, run: (w) => { w.settings.update((s) => ({ ...s, left: true, leftTab: "outline" })); focusSoon(".w-outline [role=tree], .w-outline input"); } },
  { id: "palette", title: t.blocks, keys: "Ctrl+Shift+B", group: t.groups.view, run: (w) => { w.settings.update((s) => ({ ...s, left: true, leftTab: "palette" })); focusSoon(".w-palette input"); } },
  { id: "canvas", title: t.canvas, keys: "Ctrl+Shift+E", group: t.groups.view, page: true, run: () => focusSoon(".react-flow__node.selected, .react-flow__node, .w-canvas") },
  { id: "minimap", title: t.minimap, group: t.groups.view, run: (w) => w.set("minimap", !w.settings.get().minimap) },
  { id: "values", title: t.values, group: t.groups.view, run: (w) => w.set("valuesOnBlocks", !w.settings.get().valuesOnBlocks) },
  { id: "routed", title: t.routed, group: t.groups.view, run: (w) => w.set("routedWires", !w.settings.get().routedWires) },
  { id: "snap", title: t.snap, group: t.groups.view, run: (w) => w.set("snap", !w.settings.get().snap) },
];

const byId = new Map(commands.map((command) => [command.id, command]));

/** Runs a command by its id, if it can be run now. */
export function runCommand(workbench: Workbench, id: string): void {
  const command = byId.get(id);
  const page = workbench.active.get();
  if (!command || (command.page && !page) || command.enabled?.(workbench, page) === false) return;
  void command.run(workbench, page as PageEditor);
}

export const commandOf = (id: string): Command | undefined => byId.get(id);

/** The first of a command's keys, for menus and tips. */
export const keysOf = (id: string): string | undefined => byId.get(id)?.keys?.split(" ")[0];

/** The command that a key press stands for. */
export function commandForKey(event: KeyboardEvent): Command | undefined {
  const pressed = keyText(event);
  return commands.find((command) => command.keys?.split(" ").includes(pressed));
}

function keyText(event: KeyboardEvent): string {
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  if (key === "?") return "?";
  const code = /^Digit(\d)$/.exec(event.code)?.[1];
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.shiftKey ? "Shift+" : ""}${code ?? key}`;
}

function middle(page: PageEditor): [number, number] {
  const view = page.viewport ?? { x: 0, y: 0, zoom: 1 };
  const box = document.querySelector(".w-canvas")?.getBoundingClientRect();
  return [((box?.width ?? 800) / 2 - view.x) / view.zoom, ((box?.height ?? 600) / 2 - view.y) / view.zoom];
}

/** Opens the quick insert in the middle of the canvas, or beside the block that is selected. */
export function openQuick(workbench: Workbench): void {
  const page = workbench.active.get();
  const box = document.querySelector(".w-canvas")?.getBoundingClientRect();
  if (!page || !box) return;
  const selected = page.selectedBlocks()[0];
  const place = selected ? page.model.position(selected.id) : middle(page);
  const x = selected ? place[0] + page.model.shape(selected.id).width + 64 : place[0];
  workbench.quick.set({ at: { x: box.left + box.width / 2 - 160, y: box.top + box.height / 4 }, place: { x, y: place[1] } });
}

function nextFault(workbench: Workbench, page: PageEditor): void {
  const blocks = [...new Set(page.model.diagnostics.flatMap((d) => (d.block && page.model.blocks.has(d.block) ? [d.block] : [])))];
  const now = page.selectedBlocks()[0]?.id;
  const next = blocks[(blocks.indexOf(now ?? "") + 1) % Math.max(1, blocks.length)];
  if (!next) return;
  page.select([next]);
  workbench.reveal([next]);
  workbench.announce(page.model.faultsOf(next)[0]?.message ?? next);
}

/** Leads to the selected block's id, or begins to write the selected note or the frame's title. */
function rename(workbench: Workbench, page: PageEditor): void {
  const text = writable(page);
  if (text !== undefined) {
    page.startWriting(text);
    return;
  }
  workbench.set("right", true);
  workbench.helpFor.set(null);
  focusSoon(".w-inspector-id");
}

function addBookmark(workbench: Workbench, page: PageEditor): void {
  const key = page.info.get().path ?? page.info.get().name;
  const name = page.selectedBlocks()[0]?.id ?? `${texts.commands.bookmarkName} ${(workbench.settings.get().bookmarks[key]?.length ?? 0) + 1}`;
  const view = page.viewport;
  if (!view) return;
  workbench.settings.update((s) => ({ ...s, bookmarks: { ...s.bookmarks, [key]: [...(s.bookmarks[key] ?? []).filter((b) => b.name !== name), { name, ...view }] } }));
  workbench.toast({ kind: "ok", text: `${texts.commands.bookmarked} ${name}` });
}

async function startTour(workbench: Workbench): Promise<void> {
  if (!isXor(workbench.active.get())) await workbench.open({ example: "xor" });
  workbench.ask("tour");
}

function nextTheme(workbench: Workbench): "light" | "dark" {
  const dark = document.querySelector(".weft")?.getAttribute("data-theme") === "dark";
  void workbench;
  return dark ? "light" : "dark";
}
