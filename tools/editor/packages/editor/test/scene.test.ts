import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PageApi, PageInfo } from "@weft/client";
import { SceneSync } from "../src/canvas/sceneSync";
import { PageEditor } from "../src/model/pageEditor";
import { SchemaIndex } from "../src/model/schema";

// the plots' library asks for it when it is loaded
vi.hoisted(() => Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }) }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("frames of the far view follow their members", () => {
  const page = new PageEditor({ id: "p1" } as PageApi, {} as PageInfo, new SchemaIndex({ blocks: [] }));
  page.model.load({ blocks: [{ id: "a", block: "X" }], layout: { a: [0, 0] }, keys: { frames: [{ id: "f", title: "F", blocks: ["a"] }] } });
  const sync = new SceneSync(page);
  const [before] = sync.scene.frames;
  page.model.apply({ layout: { a: [100, 50] } });
  const [after] = sync.scene.frames;
  expect([after!.x - before!.x, after!.y - before!.y]).toEqual([100, 50]);
  sync.dispose();
});
