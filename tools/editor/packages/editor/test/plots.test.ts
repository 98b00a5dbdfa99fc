import { expect, it, vi } from "vitest";
import type { Change, PageApi, PageInfo, PageView, Sample, TensorData } from "@weft/client";
import { PageEditor } from "../src/model/pageEditor";
import { SchemaIndex } from "../src/model/schema";

// the plots' library asks for it when it is loaded
vi.hoisted(() => Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }) }));
vi.spyOn(globalThis, "requestAnimationFrame").mockReturnValue(0); // plots are drawn by none of these

const change = (what: Partial<Change>): Change => ({
  revision: 2, before: 1, cause: "edit", by: "other", added: [], removed: [], changed: [], renamed: [], moved: [], keys: [], undo: 1, redo: 0, undo_label: null, redo_label: null,
  dirty: true, layout: {}, page_keys: {}, blocks: [], ...what,
});

/** A page whose server is the test: `say` is an event, `sample` a sample of the value that was followed last. */
async function page() {
  const heard = { say: (_event: object): void => {}, sample: (_data: TensorData, _dtype: string, _run: number): void => {} };
  const info = { id: "p1", sessions: [] as string[] } as unknown as PageInfo;
  const api = {
    id: "p1", clientId: "c1", followRuns: () => {}, layout: async () => ({}),
    view: async () => ({ page: info, revision: 1, blocks: [{ id: "a", block: "Add" }], layout: { a: [0, 0] }, keys: {}, types: {}, diagnostics: [], breakpoints: [], seq: 1 }) as unknown as PageView,
    follow: (_seq: number, follower: { event(event: object): void }) => { heard.say = (event) => follower.event(event); },
    followValue: vi.fn((_name: string, _options: object, listener: (sample: Sample) => void) => {
      heard.sample = (data, dtype, run) => listener({ t_ms: run, run, generation: run, value: { dtype, shape: [], data } } as unknown as Sample);
      return () => {};
    }),
  };
  const editor = new PageEditor(api as unknown as PageApi, info, new SchemaIndex({ blocks: [] }));
  await editor.load();
  return { editor, api, heard };
}

it("plots follow a block that is renamed, with their points", async () => {
  const { editor, api, heard } = await page();
  editor.plots.set(["a.z"]);
  heard.sample(new Float32Array([1]), "DT_FLOAT", 1);
  heard.say({ type: "page.changed", change: change({ renamed: [["a", "b"]], blocks: [{ place: 0, block: { id: "b", block: "Add" } }] }) });
  heard.sample(new Float32Array([3]), "DT_FLOAT", 2);
  editor.plots.set(["b.z"]);
  expect(editor.plots.names.get()).toEqual(["b.z"]);
  expect(editor.plots.store.series().map(({ name, points }) => [name, points.length, points.y(1)])).toEqual([["b.z", 2, 3]]);
  expect(api.followValue).toHaveBeenCalledOnce();
});

it("plots show the magnitude of complex values", async () => {
  const { editor, heard } = await page();
  editor.plots.set(["a.z"]);
  heard.sample(new Float32Array([3, 4, 0, 1]), "DT_COMPLEX64", 1);
  expect(editor.plots.store.series()[0]!.points.y(0)).toBe(3);
});

it("the sessions of a page follow its edits", async () => {
  const { editor, heard } = await page();
  heard.say({ type: "page.changed", change: change({ added: ["run"], blocks: [{ place: 1, block: { id: "run", block: "ClientSession" } }] }) });
  expect(editor.info.get().sessions).toEqual(["run"]);
});
