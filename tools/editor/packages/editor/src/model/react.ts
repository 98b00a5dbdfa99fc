import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { Block, BlockState, Diagnostic, PortType, ValueSummary } from "@weft/client";
import type { Cell } from "./emitter";
import type { PageEditor } from "./pageEditor";
import type { Workbench } from "./workbench";

export const WorkbenchContext = createContext<Workbench | null>(null);
export const PageContext = createContext<PageEditor | null>(null);

/** The editor that the component is part of. */
export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error("a part of the editor stands outside of <WeftEditor>");
  return workbench;
}

/** The page that the component is part of. */
export function usePage(): PageEditor {
  const page = useContext(PageContext);
  if (!page) throw new Error("a part of a page stands outside of a page");
  return page;
}

export function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.get);
}

/** A block, with what is found wrong with it; the component is drawn again when it changes, or types at its ports do. */
export function useBlock(id: string): { block: Block | undefined; faults: readonly Diagnostic[] } {
  const { model } = usePage();
  const subscribe = useCallback((listener: () => void) => model.events.on(`block:${id}`, listener), [model, id]);
  useSyncExternalStore(subscribe, () => model.version(id));
  return { block: model.blocks.get(id), faults: model.faultsOf(id) };
}

/** What `select` finds in a cell; drawn again only when that is another. */
export function useCellPart<T, Part>(cell: Cell<T>, select: (value: T) => Part): Part {
  return useSyncExternalStore(cell.subscribe, () => select(cell.get()));
}

export function useBlockState(id: string): BlockState {
  const { runs } = usePage();
  const subscribe = useCallback((listener: () => void) => runs.events.on(`block:${id}`, listener), [runs, id]);
  return useSyncExternalStore(subscribe, () => runs.state(id));
}

/** The value of a port in short, kept up to date; undefined where there is none or `name` is null. */
export function useSummary(name: string | null): ValueSummary | undefined {
  const { runs } = usePage();
  const subscribe = useCallback((listener: () => void) => (name ? runs.watch(name, listener) : () => {}), [runs, name]);
  return useSyncExternalStore(subscribe, () => (name ? runs.value(name) : undefined));
}

export function usePortType(name: string): PortType | undefined {
  const { model } = usePage();
  const subscribe = useCallback((listener: () => void) => model.events.on("types", listener), [model]);
  return useSyncExternalStore(subscribe, () => model.types.get(name));
}

/** Counts changes of the page's blocks, wires and faults; for lists of all of them. */
export function useStructure(): number {
  const { model } = usePage();
  const subscribe = useCallback((listener: () => void) => {
    const ends = (["structure", "diagnostics", "keys"] as const).map((key) => model.events.on(key, () => {
      versions.set(model, (versions.get(model) ?? 0) + 1);
      listener();
    }));
    return () => ends.forEach((end) => end());
  }, [model]);
  return useSyncExternalStore(subscribe, () => versions.get(model) ?? 0);
}

const versions = new WeakMap<object, number>();
