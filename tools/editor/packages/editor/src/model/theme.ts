import { useSyncExternalStore } from "react";
import { useCellPart } from "./react";
import type { Workbench } from "./workbench";

const query = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

function subscribe(listener: () => void): () => void {
  query?.addEventListener("change", listener);
  return () => query?.removeEventListener("change", listener);
}

/** Whether the editor is dark: as set, or as the system is. */
export function useDark(workbench: Workbench): boolean {
  const theme = useCellPart(workbench.settings, (s) => s.theme);
  const system = useSyncExternalStore(subscribe, () => query?.matches ?? false);
  return theme === "system" ? system : theme === "dark";
}
