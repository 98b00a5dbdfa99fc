export { HelpPanel, searchHelp, type HelpPanelProps } from "./HelpPanel";
export { Markdown, type MarkdownProps } from "./Markdown";
