import { describe, expect, it } from "vitest";
import { bendsOf, bentPath } from "./bends";

describe("bends", () => {
  const source = { x: 0, y: 10 }, target = { x: 100, y: 60 };
  it("lead along right angles with rounded corners, the label on the longest part", () => {
    const [path, x, y] = bentPath([[40, 10], [40, 60]], source, target)!;
    expect(path).toBe("M0,10L34,10Q40,10 40,16L40,54Q40,60 46,60L100,60");
    expect([x, y]).toEqual([70, 60]);
  });
  it("follow ports that are a pixel beside", () => expect(bentPath([[40, 9], [40, 62]], source, target)![0]).toBe("M0,10L34,10Q40,10 40,16L40,54Q40,60 46,60L100,60"));
  it("do not hold for blocks that were moved since", () => {
    expect(bentPath([[40, 10], [40, 60]], { x: 0, y: 30 }, target)).toBeUndefined();
    expect(bentPath([[40, 10], [40, 60]], source, { x: 20, y: 60 })).toBeUndefined();
    expect(bentPath([], source, target)).toBeUndefined();
    expect(bentPath("junk" as never, source, target)).toBeUndefined();
  });
  it("may be anything on the page", () => expect([bendsOf({}), bendsOf({ bends: [1] }), bendsOf({ bends: null })]).toEqual([{}, {}, {}]));
});
