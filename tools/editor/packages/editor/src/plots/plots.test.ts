import { afterEach, describe, expect, it, vi } from "vitest";
import { aligned, thinned } from "./align";
import { trendCsv } from "./csv";
import { Ring, TrendStore } from "./store";

afterEach(() => vi.unstubAllGlobals());

function ring(values: readonly number[], capacity = 1000): Ring {
  const points = new Ring(capacity);
  values.forEach((value, i) => points.push(i + 1, i / 10, value));
  return points;
}

describe("Ring", () => {
  it("counts steps from the first, also when that is gone", () => {
    const points = new Ring(2);
    for (const run of [101, 102, 103]) points.push(run, 0, run);
    expect([points.x(0, "step"), points.x(1, "step"), points.x(1, "run")]).toEqual([2, 3, 103]);
    points.clear();
    points.push(500, 0, 1);
    expect(points.x(0, "step")).toBe(1);
  });
  it("grows to its capacity and drops the oldest then", () => {
    const points = ring(Array.from({ length: 5000 }, (_, i) => i), 3000);
    expect([points.length, points.y(0), points.y(2999), points.x(0, "run"), points.x(0, "step")]).toEqual([3000, 2000, 4999, 2001, 2001]);
    const all = ring(Array.from({ length: 2500 }, (_, i) => i), 3000);
    expect([all.length, all.y(0), all.y(1500), all.y(2499)]).toEqual([2500, 0, 1500, 2499]);
  });
  it("drops the oldest, and finds places by bisection", () => {
    const points = ring([1, 2, 3, 4, 5], 3);
    expect([points.length, points.y(0), points.x(0, "run"), points.x(2, "time")]).toEqual([3, 3, 3, 0.4]);
    expect([points.search(0, "run"), points.search(4, "run"), points.search(9, "run")]).toEqual([0, 1, 3]);
  });
});

describe("thinned", () => {
  it("keeps peaks and gaps", () => {
    const values = Array.from({ length: 10_000 }, (_, i) => (i === 5003 ? 99 : i === 7007 ? NaN : Math.sin(i / 50)));
    const { x, y } = thinned(ring(values, 10_000), "run", 400, false);
    expect(x.length).toBeLessThan(700);
    expect(y).toContain(99);
    expect(x[y.indexOf(99)]).toBe(5004);
    expect(y).toContain(null);
    expect(x.every((value, i) => i === 0 || value > x[i - 1]!)).toBe(true);
  });
  it("has all points of a part, and one beyond each edge", () => {
    expect(thinned(ring([1, 2, 3, 4, 5, 6]), "run", 100, false, [3, 4]).x).toEqual([2, 3, 4, 5]);
  });
  it("has gaps where a logarithm has no value", () => {
    expect(thinned(ring([1, 0, -1, Infinity, 2]), "run", 100, true).y).toEqual([1, null, null, null, 2]);
  });
});

describe("aligned", () => {
  it("tells gaps from points of other series", () => {
    expect(aligned([{ x: [1, 2, 4], y: [10, null, 40] }, { x: [2, 3], y: [20, 30] }])).toEqual([[1, 2, 3, 4], [10, null, undefined, 40], [undefined, 20, 30, undefined]]);
    expect(aligned([{ x: [1, 2], y: [1, 2] }, { x: [1, 2], y: [3, 4] }])).toEqual([[1, 2], [1, 2], [3, 4]]);
    expect(aligned([])).toEqual([[]]);
  });
});

describe("TrendStore", () => {
  it("tells of many points once a frame", () => {
    const frames: (() => void)[] = [];
    vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
    const store = new TrendStore(), listener = vi.fn();
    store.push("loss", 1, 0, 1);
    store.subscribe(listener);
    for (let i = 2; i < 500; ++i) store.push("loss", i, i, 1 / i);
    expect(listener).not.toHaveBeenCalled();
    frames.forEach((frame) => frame());
    expect(listener).toHaveBeenCalledOnce();
    expect(store.series()[0]!.points.length).toBe(499);
  });

  it("keeps earlier runs for comparison, and begins anew where runs are counted from the start", () => {
    const store = new TrendStore();
    for (let run = 1; run <= 8; ++run) {
      store.startRun(`run ${run}`);
      store.push("loss", 1, 0, run);
      store.push("accuracy", 1, 0, run);
    }
    expect(store.series().map((each) => `${each.name} ${each.run} ${each.age} ${each.colour}`).slice(0, 7)).toEqual(
      ["loss run 8 0 0", "loss run 7 1 0", "loss run 6 2 0", "loss run 5 3 0", "loss run 4 4 0", "loss run 3 5 0", "accuracy run 8 0 1"]);
    store.push("loss", 5, 1, 1);
    store.push("loss", 1, 2, 1);
    expect(store.series()[0]!.points.length).toBe(1);
  });

  it("takes series off and hides them", () => {
    const store = new TrendStore();
    store.push("a", 1, 0, 1);
    store.push("b", 1, 0, NaN);
    store.setHidden(store.series()[1]!.id, true);
    expect(store.series()[1]!.hidden).toBe(true);
    expect(trendCsv(store.series())).toBe("name,run,step,seconds,value\r\na,,1,0,1\r\nb,,1,0,nan\r\n");
    store.setNames(["b"]);
    expect(store.series().map((each) => [each.name, each.colour])).toEqual([["b", 0]]);
    store.clear();
    expect(store.series()).toEqual([]);
  });
});
