import { useCell, useCellPart, usePage, useWorkbench } from "../model/react";
import { Palette } from "../palette/Palette";
import { texts } from "../texts";
import { IconButton, Tabs } from "../ui";
import { BookmarksPanel } from "./Bookmarks";
import { BreakpointsPanel } from "./Breakpoints";
import { FaultsPanel } from "./Faults";
import { HelpDock } from "./HelpDock";
import { Inspector } from "./Inspector";
import { LogPanel } from "./Log";
import { OutlinePanel } from "./OutlinePanel";
import { PlotsPanel } from "./Plots";
import { ValuesPanel } from "./Values";
import { VariablesPanel } from "./Variables";
import "./panels.css";

const t = texts.panels;

/** Blocks to add, the outline of the page, and bookmarked views. */
export function LeftDock() {
  const workbench = useWorkbench();
  const tab = useCellPart(workbench.settings, (s) => s.leftTab);
  return (
    <aside className="w-dock w-dock-left" aria-label={t.left}>
      <Tabs
        label={t.left} selected={tab} onSelect={(id) => workbench.set("leftTab", id)}
        tabs={[{ id: "palette", label: t.palette }, { id: "outline", label: t.outline }, { id: "bookmarks", label: t.bookmarks }]}
        extra={<IconButton icon="chevronLeft" small label={`${texts.common.close}: ${t.left}`} onClick={() => workbench.set("left", false)} />}
      >
        {tab === "outline" ? <OutlinePanel /> : tab === "bookmarks" ? <BookmarksPanel /> : <Palette />}
      </Tabs>
    </aside>
  );
}

/** The selection's settings, or the help that was asked for. */
export function RightDock() {
  const workbench = useWorkbench();
  const help = useCell(workbench.helpFor);
  return (
    <aside className="w-dock w-dock-right" aria-label={t.right}>
      {help === null ? <Inspector /> : <HelpDock block={help} />}
    </aside>
  );
}

/** Faults, plots, values, breakpoints, variables and the log. */
export function BottomDock() {
  const workbench = useWorkbench();
  const page = usePage();
  const tab = useCellPart(workbench.settings, (s) => s.bottomTab);
  const info = useCell(page.info);
  const breakpoints = useCellPart(page.breakpoints, (list) => list.length);
  const panels: Record<string, () => React.ReactNode> = {
    faults: () => <FaultsPanel />, plots: () => <PlotsPanel />, values: () => <ValuesPanel />, breakpoints: () => <BreakpointsPanel />,
    variables: () => <VariablesPanel />, log: () => <LogPanel />,
  };
  return (
    <aside className="w-dock w-dock-bottom" aria-label={t.bottom}>
      <Tabs
        label={t.bottom} selected={tab} onSelect={(id) => workbench.set("bottomTab", id)}
        tabs={[
          { id: "faults", label: t.faults, badge: info.errors + info.warnings || undefined, badgeKind: info.errors ? "error" : "warning" },
          { id: "plots", label: t.plots }, { id: "values", label: t.values }, { id: "breakpoints", label: t.breakpoints, badge: breakpoints || undefined },
          { id: "variables", label: t.variables }, { id: "log", label: t.log },
        ]}
        extra={<IconButton icon="chevronDown" small label={`${texts.common.close}: ${t.bottom}`} onClick={() => workbench.set("bottom", false)} />}
      >
        {(panels[tab] ?? panels["faults"])?.()}
      </Tabs>
    </aside>
  );
}
