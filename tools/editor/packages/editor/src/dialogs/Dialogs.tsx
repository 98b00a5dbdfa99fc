import type { FC } from "react";
import { PageContext, useCell, useWorkbench } from "../model/react";
import { CommandPalette, KeysDialog } from "./Commands";
import { ConnectDialog, FindDialog } from "./Find";
import { ClosePageDialog, DiskDialog, OpenDialog, RecoveryDialog, SaveAsDialog } from "./Files";
import { BreakpointDialog, StateDialog, StepsDialog, ValueDialog } from "./RunDialogs";
import { InspectDialog } from "./Inspect";
import { Tour } from "./Tour";
import "./dialogs.css";

const dialogs: Record<string, FC> = {
  open: OpenDialog, saveAs: SaveAsDialog, closePage: ClosePageDialog, changedOnDisk: DiskDialog, recovery: RecoveryDialog,
  keys: KeysDialog, commands: CommandPalette, find: FindDialog, connect: ConnectDialog, breakpoint: BreakpointDialog, steps: StepsDialog,
  override: ValueDialog, feed: ValueDialog, setVariable: ValueDialog, saveState: StateDialog, restoreState: StateDialog, tour: Tour,
};

/** The dialog that is open, if any, and the inspector of a value. */
export function Dialogs() {
  const workbench = useWorkbench();
  const name = useCell(workbench.dialog);
  const page = useCell(workbench.active);
  const inspected = useCell(workbench.inspect);
  const Open = name ? dialogs[name] : undefined;
  return (
    <PageContext.Provider value={page}>
      {Open && <Open key={`${name} ${workbench.dialogSubject ?? ""}`} />}
      {inspected && page && <InspectDialog key={inspected} name={inspected} />}
    </PageContext.Provider>
  );
}
