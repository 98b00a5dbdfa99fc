export { WeftEditor, type WeftEditorProps } from "./shell/WeftEditor";
export { texts, text } from "./texts";
