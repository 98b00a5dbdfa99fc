import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect, useRef } from "react";
import type { PageModel } from "../model/page";
import type { PageEditor, Viewport } from "../model/pageEditor";
import { useCell } from "../model/react";
import type { Workbench } from "../model/workbench";
import { onGoTo } from "./goTo";

/** Pages that were shown once: where they are looked at is up to the user from then on. */
const shown = new WeakSet<object>();

/**
 * Lets other parts bring blocks into sight, and shows all of a page when it is opened. What somebody wanted to see before that, while the page
 * was read, is shown instead.
 */
export function useReveal(page: Pick<PageEditor, "model" | "loaded" | "looks">, workbench: Pick<Workbench, "reveal">): void {
  const flow = useReactFlow();
  const store = useStoreApi();
  const loaded = useCell(page.loaded);
  const wanted = useRef<(() => void) | null>(null);
  useEffect(() => onGoTo((view) => {
    shown.add(page);
    page.looks++;
    void flow.setViewport(view);
  }), [page, flow]);
  useEffect(() => {
    workbench.reveal = (ids, zoomIn = true) => {
      const bounds = page.model.bounds(ids);
      if (!bounds) return;
      page.looks++;
      if (!shown.has(page)) wanted.current = () => workbench.reveal(ids, zoomIn);
      const { width, height, transform } = store.getState();
      if (!width) return;
      const fit = Math.min(width / (bounds.width + 120), height / (bounds.height + 120));
      const zoom = Math.min(fit, zoomIn ? Math.max(transform[2], 0.9) : 1.1);
      void flow.setViewport({
        zoom, x: width / 2 - (bounds.x + bounds.width / 2) * zoom, y: height / 2 - (bounds.y + bounds.height / 2) * zoom,
      }, { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200 });
    };
  }, [workbench, page, flow, store]);
  useEffect(() => {
    if (!loaded || shown.has(page)) return;
    const show = (): boolean => {
      const { width, height } = store.getState();
      if (!width || shown.has(page)) return shown.has(page);
      shown.add(page);
      const view = firstView(page.model, width, height);
      if (wanted.current) wanted.current();
      else if (view) void flow.setViewport(view);
      return true;
    };
    return show() ? undefined : store.subscribe(show);
  }, [loaded, page, flow, store]);
}

/** How a page is shown first: all of it, but one that would be too small to read begins at its left end. */
function firstView(model: PageModel, width: number, height: number): Viewport | null {
  const bounds = model.bounds();
  if (!bounds) return null;
  const fit = Math.min(1, width / (bounds.width + 80), height / (bounds.height + 80));
  const zoom = fit < 0.6 && model.blocks.size <= 200 ? 0.75 : Math.max(0.06, fit);
  const x = bounds.width * zoom < width ? (width - bounds.width * zoom) / 2 : 40;
  return { zoom, x: x - bounds.x * zoom, y: Math.max(40, (height - bounds.height * zoom) / 2) - bounds.y * zoom };
}
