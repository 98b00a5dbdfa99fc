import { describe, expect, it } from "vitest";
import { fromLiteral } from "../tensor";
import { safeFileName, tensorCsv } from "./download";
import { fittingScale, svgSize } from "./picture";

describe("files", () => {
  it("have names that file systems take", () => {
    expect(["w1.ref", "../a/b", "a:b*c", "", ".hidden"].map(safeFileName)).toEqual(["w1.ref", "__a_b", "a_b_c", "file", "_hidden"]);
  });
  it("are CSV by rows, with planes apart", () => {
    const csv = (shape: number[], values: unknown[], dtype = "DT_FLOAT") => tensorCsv(fromLiteral({ dtype, shape, values })!);
    expect(csv([2, 2], [0.1, 2, "nan", 4])).toBe("0.1,2\r\nnan,4\r\n");
    expect(csv([2], [1, 2])).toBe("1\r\n2\r\n");
    expect(csv([], [5])).toBe("5\r\n");
    expect(csv([2, 1, 2], [1, 2, 3, 4])).toBe("1,2\r\n\r\n3,4\r\n");
    expect(csv([1, 2], ['a"b', "c,d"], "DT_STRING")).toBe('"a""b","c,d"\r\n');
  });
});

describe("pictures", () => {
  it("know the size of an SVG", () => {
    expect(svgSize('<?xml?><svg xmlns="x" width="37.5" height="63px" viewBox="0 0 1 1">')).toEqual({ width: 37.5, height: 63 });
    expect(svgSize('<svg viewBox="0 0 20 10">')).toEqual({ width: 20, height: 10 });
    expect(() => svgSize("<p>")).toThrow("no size");
  });
  it("stay within what browsers can make", () => {
    expect(fittingScale({ width: 100, height: 50 }, 2)).toBe(2);
    expect(fittingScale({ width: 20_000, height: 50 }, 2)).toBeCloseTo(0.8192);
    expect(fittingScale({ width: 16_000, height: 16_000 }, 1) ** 2 * 16_000 ** 2).toBeLessThanOrEqual(120_000_001);
  });
});
