import { describe, expect, it } from "vitest";
import Elk from "elkjs/lib/elk.bundled.js";
import { alignBoxes, distributeBoxes, type PlacedBox } from "./align";
import { fromElk, toElk, type ArrangeBlock, type ArrangeWire } from "./graph";

const box = (id: string, x: number, y: number, width = 100, height = 40): PlacedBox => ({ id, x, y, width, height });

describe("align", () => {
  const boxes = [box("a", 0, 0), box("b", 50, 100, 60), box("c", 10, 300, 200, 80)];
  it("brings edges and centres onto a line, and names those that move", () => {
    expect([...alignBoxes(boxes, "left")]).toEqual([["b", { x: 0, y: 100 }], ["c", { x: 0, y: 300 }]]);
    expect([...alignBoxes(boxes, "right")].map(([id, to]) => [id, to.x])).toEqual([["a", 110], ["b", 150]]);
    expect([...alignBoxes(boxes, "center")].map(([id, to]) => [id, to.x])).toEqual([["a", 55], ["b", 75], ["c", 5]]);
    expect([...alignBoxes(boxes, "bottom")].map(([id, to]) => [id, to.y])).toEqual([["a", 340], ["b", 340]]);
    expect(alignBoxes([boxes[0]!], "left").size).toBe(0);
  });
  it("makes gaps equal", () => {
    expect([...distributeBoxes(boxes, "vertical")]).toEqual([["b", { x: 50, y: 150 }]]);
    const tight = [box("a", 0, 0), box("b", 20, 0), box("c", 40, 0)];
    expect([...distributeBoxes(tight, "horizontal", 10)]).toEqual([["b", { x: 110, y: 0 }], ["c", { x: 220, y: 0 }]]);
  });
});

const block = (id: string, x: number, y: number): ArrangeBlock => ({ ...box(id, x, y, 120, 80), inputs: [{ port: "x", y: 40 }, { port: "y", y: 60 }], outputs: [{ port: "z", y: 40 }] });
const wire = (from: string, to: string, toPort = "x"): ArrangeWire => ({ id: `${from}-${to}.${toPort}`, from, fromPort: "z", to, toPort });

describe("elk", () => {
  it("puts readers right of what they read, bends wires at right angles, and keeps the corner", async () => {
    const blocks = [block("c", 500, 90), block("b", 400, 300), block("a", 700, 100), block("far", 450, 90)];
    const wires = [wire("a", "b"), wire("b", "c"), wire("a", "c", "y"), wire("a", "gone"), { ...wire("b", "c"), id: "b-c.operation", fromPort: "operation" }];
    const { places, bends } = fromElk(await new Elk().layout(toElk(blocks, wires)), blocks);
    const [a, b, c] = ["a", "b", "c"].map((id) => places.get(id)!) as [{ x: number; y: number }, { x: number; y: number }, { x: number; y: number }];
    expect(b.x).toBeGreaterThanOrEqual(a.x + 120);
    expect(c.x).toBeGreaterThanOrEqual(b.x + 120);
    expect(Math.min(...[...places.values()].map((place) => place.x))).toBe(400);
    expect(Math.min(...[...places.values()].map((place) => place.y))).toBe(90);
    expect([...bends.keys()]).toEqual(["a-b.x", "b-c.x", "a-c.y", "b-c.operation"]);
    const points = [{ x: a.x + 120, y: a.y + 40 }, ...bends.get("a-c.y")!, { x: c.x, y: c.y + 60 }];
    for (let i = 1; i < points.length; ++i) {
      expect(Math.min(Math.abs(points[i]!.x - points[i - 1]!.x), Math.abs(points[i]!.y - points[i - 1]!.y))).toBeLessThanOrEqual(1);
    }
  });

  it("takes loops", async () => {
    const blocks = [block("a", 0, 0), block("b", 0, 0)];
    const { places } = fromElk(await new Elk().layout(toElk(blocks, [wire("a", "b"), wire("b", "a"), wire("a", "a", "y")])), blocks);
    expect(places.get("a")!.x).not.toBe(places.get("b")!.x);
  });
});
