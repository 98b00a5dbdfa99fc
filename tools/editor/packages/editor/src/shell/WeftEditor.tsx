import { useEffect, useMemo, useRef, useState } from "react";
import type { WeftClient } from "@weft/client";
import { focusSoon } from "../actions/focus";
import { commandForKey, runCommand } from "../actions/commands";
import { Canvas } from "../canvas/Canvas";
import { Dialogs } from "../dialogs/Dialogs";
import { PageContext, WorkbenchContext, useCell, useCellPart, useWorkbench } from "../model/react";
import { useDark } from "../model/theme";
import { Workbench } from "../model/workbench";
import { QuickInsert } from "../palette/QuickInsert";
import { BottomDock, LeftDock, RightDock } from "../panels/Docks";
import { text, texts } from "../texts";
import { Toolbar } from "../toolbar/Toolbar";
import { Split, ToastArea } from "../ui";
import { EmptyState } from "./EmptyState";
import { PageTabs } from "./PageTabs";
import { ConnectionBar } from "./ConnectionBar";
import "../theme.css";
import "./shell.css";

export interface WeftEditorProps {
  client: WeftClient;
  /** A page of the server's folder to open, by its path. */
  page?: string | null;
  theme?: "system" | "light" | "dark";
}

/**
 * Weft's editor. It fills its parent. Mounting it connects the client; unmounting it closes the connection:
 *
 *     const client = new WeftClient({ base, token });
 *     createRoot(element).render(<WeftEditor client={client} page="xor.page.json" />);
 */
export function WeftEditor({ client, page, theme }: WeftEditorProps) {
  const workbench = useMemo(() => new Workbench(client), [client]);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (theme) workbench.set("theme", theme);
  }, [workbench, theme]);
  useEffect(() => {
    workbench.start(page).catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
    return () => client.close();
  }, [workbench, client, page]);
  return (
    <WorkbenchContext.Provider value={workbench}>
      <Shell failure={failure} />
    </WorkbenchContext.Provider>
  );
}

function Shell({ failure }: { failure: string | null }) {
  const workbench = useWorkbench();
  const root = useRef<HTMLDivElement>(null);
  const dark = useDark(workbench);
  const active = useCell(workbench.active);
  const schema = useCell(workbench.schema);
  const opening = useCell(workbench.opening);
  useFocusOnOpened(opening.length);
  useKeys(root);
  return (
    <div ref={root} className="weft w-shell" data-theme={dark ? "dark" : "light"}>
      <Toolbar />
      <ConnectionBar />
      <PageTabs />
      <main className="w-main">
        {active ? <PageContext.Provider key={active.id} value={active}><Workspace /></PageContext.Provider>
          : schema && !opening.length ? <EmptyState />
            : <p className="w-starting" role="status">{failure ? text(texts.app.failed, { reason: failure }) : schema ? text(texts.app.opening, { name: opening[0]?.name ?? "" }) : texts.app.connecting}</p>}
      </main>
      <QuickInsert />
      <Dialogs />
      <ToastArea notifications={workbench.notifications} />
    </div>
  );
}

/** A page that was opened gets the focus, so that its keys work at once; not where something is written or asked. */
function useFocusOnOpened(opening: number): void {
  const workbench = useWorkbench();
  const before = useRef(0);
  useEffect(() => {
    const ended = opening < before.current;
    before.current = opening;
    if (ended && workbench.active.get() && !document.activeElement?.closest("input, textarea, select, dialog")) focusSoon(".w-canvas");
  }, [opening, workbench]);
}

/** The canvas with its docks. In a narrow window the docks lie over the canvas. */
function Workspace() {
  const workbench = useWorkbench();
  const settings = useCell(workbench.settings);
  const narrow = useNarrow();
  if (narrow) return <NarrowWorkspace />;
  return (
    <Split
      direction="row" sized="first" size={settings.leftWidth} min={180} max={480} collapsed={!settings.left} label={texts.panels.left}
      onResize={(size) => workbench.set("leftWidth", size)} first={<LeftDock />}
      second={(
        <Split
          direction="row" sized="second" size={settings.rightWidth} min={220} max={640} collapsed={!settings.right} label={texts.panels.right}
          onResize={(size) => workbench.set("rightWidth", size)} second={<RightDock />}
          first={(
            <Split
              direction="column" sized="second" size={settings.bottomHeight} min={100} max={700} collapsed={!settings.bottom} label={texts.panels.bottom}
              onResize={(size) => workbench.set("bottomHeight", size)} first={<CanvasArea />} second={<BottomDock />}
            />
          )}
        />
      )}
    />
  );
}

function NarrowWorkspace() {
  const workbench = useWorkbench();
  const settings = useCell(workbench.settings);
  return (
    <div className="w-narrow">
      <CanvasArea />
      {settings.left && <div className="w-over w-over-left"><LeftDock /></div>}
      {settings.right && <div className="w-over w-over-right"><RightDock /></div>}
      {settings.bottom && <div className="w-over w-over-bottom"><BottomDock /></div>}
      {(settings.left || settings.right || settings.bottom) && (
        <button type="button" className="w-over-close" aria-label={texts.common.close} onClick={() => workbench.settings.update((s) => ({ ...s, left: false, right: false, bottom: false }))} />
      )}
    </div>
  );
}

function CanvasArea() {
  const workbench = useWorkbench();
  const bottom = useCellPart(workbench.settings, (s) => s.bottom);
  const active = useCell(workbench.active);
  const errors = useCellPart(active?.info ?? emptyInfo, (info) => info?.errors ?? 0);
  return (
    <div className="w-canvas-area" aria-label={texts.canvas.name}>
      <Canvas />
      <div className="w-dock-toggles">
        <button type="button" className="w-dock-toggle" aria-expanded={useCellPart(workbench.settings, (s) => s.left)} onClick={() => runCommand(workbench, "left")}>{texts.panels.palette}</button>
        <button type="button" className="w-dock-toggle w-dock-toggle-bottom" aria-expanded={bottom} onClick={() => runCommand(workbench, "bottom")}>
          {texts.panels.faults}{errors > 0 && <span className="w-badge w-badge-error">{errors}</span>} · {texts.panels.plots} · {texts.panels.variables}
        </button>
        <button type="button" className="w-dock-toggle" aria-expanded={useCellPart(workbench.settings, (s) => s.right)} onClick={() => runCommand(workbench, "right")}>{texts.panels.right}</button>
      </div>
    </div>
  );
}

const emptyInfo = { get: () => null, subscribe: () => () => {} } as unknown as NonNullable<ReturnType<Workbench["active"]["get"]>>["info"];

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => window.innerWidth < 820);
  useEffect(() => {
    const look = (): void => setNarrow(window.innerWidth < 820);
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  const workbench = useWorkbench();
  useEffect(() => {
    if (narrow) workbench.settings.update((s) => ({ ...s, left: false, right: false, bottom: false }));
  }, [narrow, workbench]);
  return narrow;
}

/** Has a field hand over what was written; it gets the focus back where it stays and nothing else takes it. */
function handOver(field: HTMLElement): void {
  field.blur();
  setTimeout(() => document.activeElement === document.body && field.isConnected && field.focus({ preventScroll: true }));
}

/** Keys of the editor, where nothing that takes text or keys of its own has the focus. */
function useKeys(root: React.RefObject<HTMLDivElement | null>): void {
  const workbench = useWorkbench();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const target = event.target instanceof HTMLElement || event.target instanceof SVGElement ? (event.target as HTMLElement) : document.body;
      if (target !== document.body && !root.current?.contains(target)) return;
      if (document.querySelector("dialog[open]")) return;
      const command = commandForKey(event);
      if (!command) return;
      const typing = target.closest("input, textarea, select, [contenteditable], [role=tree], [role=grid]");
      const plain = !event.ctrlKey && !event.metaKey && !/^F\d+$/.test(event.key);
      if (typing && (plain || /^[zyxcva]$/i.test(event.key))) return;
      // single letters are keys of the canvas alone: elsewhere people and screen readers type them for other things
      if (plain && /^[a-z]$/i.test(event.key) && target !== document.body && !target.closest(".w-canvas")) return;
      if (command.id === "copy" && window.getSelection()?.toString()) return;
      event.preventDefault();
      if (target.closest("input, textarea, [contenteditable]")) handOver(target);
      runCommand(workbench, command.id);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [workbench, root]);
}
