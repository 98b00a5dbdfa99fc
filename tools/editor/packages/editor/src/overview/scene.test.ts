import { describe, expect, it, vi } from "vitest";
import { fitView } from "./Minimap";
import { mix } from "./palette";
import { Scene, type SceneBlock } from "./scene";

const block = (id: string, x: number, y: number): SceneBlock => ({ id, x, y, width: 100, height: 50, category: "math" });

function many(count: number): Scene {
  const scene = new Scene();
  scene.setBlocks(Array.from({ length: count }, (_, i) => block(`b${i}`, (i % 71) * 150 - 3000, Math.floor(i / 71) * 90 - 2000)));
  return scene;
}

describe("Scene", () => {
  it("finds the block at each point, also left of and above the origin, and nothing between", () => {
    const scene = many(5000);
    for (let i = 0; i < 5000; i += 37) {
      const box = scene.boxOf(`b${i}`)!;
      expect(scene.hit(box.x + 1, box.y + 1)).toBe(`b${i}`);
      expect(scene.hit(box.x + 99, box.y + 49)).toBe(`b${i}`);
      expect(scene.hit(box.x + 120, box.y + 20)).toBeUndefined();
      expect(scene.hit(box.x + 104, box.y + 20, 5)).toBe(`b${i}`);
    }
  });

  it("finds the uppermost of two, also after a move", () => {
    const scene = new Scene();
    scene.setBlocks([block("a", 0, 0), block("b", 20, 20)]);
    expect(scene.hit(30, 30)).toBe("b");
    scene.move("b", 1000, 0);
    expect([scene.hit(30, 30), scene.hit(1001, 1)]).toEqual(["a", "b"]);
    expect(scene.bounds()).toEqual({ x: 0, y: 0, width: 1100, height: 50 });
  });

  it("keeps states and selection of blocks that stay", () => {
    const scene = new Scene();
    scene.setBlocks([block("a", 0, 0), block("b", 200, 0)]);
    scene.setStates([["b", "running"], ["gone", "done"]]);
    scene.setSelection(["b"]);
    scene.setBlocks([block("c", 0, 0), block("b", 200, 0)]);
    expect([...scene.state]).toEqual([0, 2]);
    expect([...scene.selected]).toEqual([0, 1]);
  });

  it("leaves out wires to blocks that are not there", () => {
    const scene = new Scene();
    scene.setBlocks([block("a", 0, 0), block("b", 200, 0)]);
    scene.setWires([{ from: "a", to: "b", type: "float" }, { from: "a", to: "x", type: "int" }]);
    expect([...scene.ends]).toEqual([0, 1]);
    expect([...scene.ports]).toEqual([25, 25]);
  });

  it("tells states from what stands still", () => {
    const scene = many(3), listener = vi.fn();
    scene.subscribe(listener);
    const { layoutVersion } = scene;
    scene.setStates([["b1", "done"]]);
    scene.setHeat(new Map([["b1", 0.5]]));
    scene.setFaults([["b2", "error"]]);
    expect(scene.layoutVersion).toBe(layoutVersion);
    expect([...scene.heat!]).toEqual([-1, 0.5, -1]);
    scene.setFrames([{ x: 0, y: 0, width: 5, height: 5 }]);
    expect(scene.layoutVersion).toBe(layoutVersion + 1);
    expect(listener).toHaveBeenCalledTimes(4);
  });

  it("has those that a box touches", () => {
    expect(many(500).within({ x: -3000, y: -2000, width: 160, height: 100 })).toEqual(["b0", "b1", "b71", "b72"]);
  });
});

describe("pictures", () => {
  it("fits a page into a map, small pages not larger than a quarter", () => {
    expect(fitView({ x: 0, y: 0, width: 1840, height: 100 }, { width: 200, height: 132 }).zoom).toBe(0.1);
    expect(fitView({ x: 0, y: 0, width: 10, height: 10 }, { width: 200, height: 132 }).zoom).toBe(0.25);
  });
  it("mixes colours", () => expect(mix("#000000", "#ffffff", 0.25)).toBe("rgb(191 191 191)"));
});
