export { Outline, type OutlineProps } from "./Outline";
export { RenameDialog, type RenameDialogProps } from "./RenameDialog";
export type { OutlineBlock, OutlineOrder, OutlinePort } from "./rows";
