import { ReactFlowProvider, useStoreApi } from "@xyflow/react";
import { act } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { goToView } from "../src/canvas/goTo";
import { useReveal } from "../src/canvas/reveal";
import { Cell } from "../src/model/emitter";
import { PageModel } from "../src/model/page";
import { SchemaIndex } from "../src/model/schema";
import type { Workbench } from "../src/model/workbench";
import { mount } from "./mount";

beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: true })));

/** A page that is being read, on a canvas of 1000 by 800 pixels; `views` are those that were shown. */
function canvas() {
  const model = new PageModel(new SchemaIndex({ blocks: [] }));
  const page = { model, loaded: new Cell(false), looks: 0 };
  const workbench: Pick<Workbench, "reveal"> = { reveal: () => {} };
  const views: { x: number; y: number; zoom: number }[] = [];
  function Canvas() {
    const store = useStoreApi();
    const panZoom = { setViewport: async (view: (typeof views)[number]) => void views.push(view) };
    store.setState({ width: 1000, height: 800, panZoom: panZoom as unknown as ReturnType<typeof store.getState>["panZoom"] });
    useReveal(page, workbench);
    return null;
  }
  mount(<ReactFlowProvider><Canvas /></ReactFlowProvider>);
  const read = (): void => model.load({ blocks: [{ id: "a", block: "A" }, { id: "b", block: "B" }], layout: { a: [0, 0], b: [9000, 0] }, types: {} });
  const load = (): void => act(() => page.loaded.set(true));
  return { page, workbench, views, read, load };
}

describe("the first view of a page", () => {
  it("is of its left end where all of it would be too small", () => {
    const { views, read, load } = canvas();
    read();
    load();
    expect(views.map((view) => view.zoom)).toEqual([0.75]);
  });

  it("is what somebody wanted to see while the page was read", () => {
    const { workbench, page, views, read, load } = canvas();
    workbench.reveal(page.model.ids, false); // nothing is there yet
    read();
    workbench.reveal(page.model.ids, false);
    page.model.apply({ layout: { b: [4000, 0] } });
    load();
    const [early, last] = [views[0]!.zoom, views.at(-1)!.zoom];
    expect(early).toBeCloseTo(1000 / (page.model.bounds()!.width + 5000 + 120), 5);
    expect(last).toBeCloseTo(1000 / (page.model.bounds()!.width + 120), 5);
  });

  it("is a bookmark that was gone to", () => {
    const { views, read, load } = canvas();
    read();
    goToView({ x: 1, y: 2, zoom: 0.5 });
    load();
    expect(views).toEqual([{ x: 1, y: 2, zoom: 0.5 }]);
  });

  it("is shown once", () => {
    const { page, workbench, views, read, load } = canvas();
    read();
    load();
    workbench.reveal(["b"]);
    act(() => page.loaded.set(false));
    load();
    expect(views.length).toBe(2);
  });
});
