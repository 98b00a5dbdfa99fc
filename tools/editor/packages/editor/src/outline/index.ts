export { Outline, type OutlineProps } from "./Outline";
export { ConnectDialog, type Candidate, type ConnectDialogProps, type ConnectPort } from "./ConnectDialog";
export { RenameDialog, type RenameDialogProps } from "./RenameDialog";
export type { OutlineBlock, OutlineOrder, OutlinePort } from "./rows";
