import { describe, expect, it } from "vitest";
import { bfloat16ToFloat, halfToFloat } from "@weft/client";
import { numberToBfloat16, numberToHalf } from "./half";
import { checkElement, formatBytes, formatNumber, setElement, textAt } from "./format";
import { requireDType } from "./dtype";
import { fromLiteral, literalText, tensorText, toLiteral } from "./literal";
import { cellsText, parseCells } from "./paste";
import { histogramOf, measures, nextNonFinite, statsOf } from "./stats";
import { numberAt, placeOf } from "./tensor";

describe("half words", () => {
  it("go there and back, all of them", () => {
    const words = [...Array(65536).keys()].filter((word) => !Number.isNaN(halfToFloat(word)));
    expect(words.filter((word) => numberToHalf(halfToFloat(word)) !== word)).toEqual([]);
  });
  it("round to even", () => {
    expect(numberToHalf(1 + 1 / 2048)).toBe(0x3c00);
    expect(numberToHalf(1 + 3 / 2048)).toBe(0x3c02);
    expect(numberToHalf(65519)).toBe(0x7bff);
    expect(numberToHalf(65520)).toBe(0x7c00);
    expect(numberToHalf(2 ** -25)).toBe(0);
    expect(numberToHalf(2047.5 * 2)).toBe(0x6c00);
  });
});

describe("bfloat16 words", () => {
  it("go there and back, all of them", () => {
    const words = [...Array(65536).keys()].filter((word) => !Number.isNaN(bfloat16ToFloat(word)));
    expect(words.filter((word) => numberToBfloat16(bfloat16ToFloat(word)) !== word)).toEqual([]);
  });
  it("round once", () => {
    expect(bfloat16ToFloat(numberToBfloat16(1 + 2 ** -8))).toBe(1);
    expect(bfloat16ToFloat(numberToBfloat16(1 + 2 ** -8 + 2 ** -40))).toBe(1 + 2 ** -7);
  });
});

describe("numbers as text", () => {
  it.each([
    ["DT_FLOAT", Math.fround(0.1), "0.1"],
    ["DT_FLOAT", Math.fround(16777217), "16777216"],
    ["DT_FLOAT", Math.fround(1e-45), "1e-45"],
    ["DT_FLOAT", Math.fround(3.4028235e38), "3.4028235e+38"],
    ["DT_DOUBLE", 0.1 + 0.2, "0.30000000000000004"],
    ["DT_HALF", halfToFloat(0x2e66), "0.1"],
    ["DT_BFLOAT16", bfloat16ToFloat(0x3dcd), "0.1"],
    ["DT_FLOAT", -0, "-0"],
    ["DT_FLOAT", NaN, "nan"],
    ["DT_FLOAT", -Infinity, "-inf"],
  ])("%s %d", (dtype, value, text) => expect(formatNumber(dtype, value)).toBe(text));

  it("counts bytes", () => expect([formatBytes(12), formatBytes(1500), formatBytes(2.5e9)]).toEqual(["12 bytes", "1.5 KB", "2.5 GB"]));
});

describe("text as elements", () => {
  it.each([
    ["DT_INT8", "127", undefined],
    ["DT_INT8", "128", "needs -128 to 127 for int8, found 128"],
    ["DT_INT32", "1.5", "needs a whole number, found '1.5'"],
    ["DT_INT32", "2.0", undefined],
    ["DT_FLOAT", "1e39", "1e39 is too large for float"],
    ["DT_FLOAT", "0.5f", undefined],
    ["DT_FLOAT", "one", "needs a number, found 'one'"],
    ["DT_FLOAT", "", "needs a number, found ''"],
    ["DT_HALF", "65519", undefined],
    ["DT_HALF", "65520", "65520 is too large for half"],
    ["DT_BOOL", "TRUE", undefined],
    ["DT_BOOL", "yes", "needs true or false, found 'yes'"],
    ["DT_COMPLEX64", "1e-3+2e+1j", undefined],
    ["DT_COMPLEX64", "1+2", "needs a number such as 1+2j for complex64, found '1+2'"],
  ])("%s %s", (dtype, text, problem) => expect(checkElement(dtype, text)).toBe(problem));

  it.each(["1+2j", "-0.5-1e-7j", "nan+infj", "0+1j"])("reads the complex number %s as it writes it", (text) => {
    const info = requireDType("DT_COMPLEX128");
    const data = info.make(1);
    expect(setElement(info, data, 0, text)).toBeUndefined();
    expect(textAt({ dtype: info.name, shape: [], data }, 0)).toBe(text);
  });

  it("takes half words and widened halves alike", () => {
    const info = requireDType("DT_HALF");
    for (const data of [new Uint16Array(1), new Float32Array(1)]) {
      setElement(info, data, 0, "1.5");
      expect(numberAt({ dtype: info.name, shape: [1], data }, 0)).toBe(1.5);
    }
  });
});

describe("literals", () => {
  it.each([
    { dtype: "DT_FLOAT", shape: [2, 2], values: [0.1, "nan", "-inf", 3] },
    { dtype: "DT_BOOL", shape: [2], values: [true, false] },
    { dtype: "DT_STRING", shape: [], values: ["a;b"] },
    { dtype: "DT_COMPLEX64", shape: [1], values: [[1, "inf"]] },
    { dtype: "DT_INT64", shape: [1], text: "9007199254740993" },
    { dtype: "DT_UINT8", shape: [0], values: [] },
  ])("%j comes back", (literal) => expect(toLiteral(fromLiteral(literal)!)).toEqual(literal));

  it("leaves alone what it cannot show", () => {
    expect(fromLiteral({ dtype: "DT_FLOAT", shape: [2], file: "x.dat" })).toBeUndefined();
    expect(fromLiteral({ dtype: "DT_STRING", shape: [1], values: [{ base64: "/w==" }] })).toBeUndefined();
    expect(fromLiteral({ dtype: "DT_FLOAT", shape: [3], values: [1] })).toBeUndefined();
    expect(fromLiteral({ text: "{{1,2},{3}}" })).toBeUndefined();
    expect(fromLiteral({ text: "{1" })).toBeUndefined();
    expect(fromLiteral({ text: '{"a}' })).toBeUndefined();
  });

  it.each([
    ["{{1.5,3.5},{0.5f,1}}", "DT_FLOAT", [2, 2], "{{1.5,3.5},{0.5,1}}"],
    ["1;2;3", "DT_INT32", [3], "{1,2,3}"],
    ["{1,2.5}", "DT_DOUBLE", [2], "{1,2.5}"],
    ['{"a,b","c"}', "DT_STRING", [2], '{"a,b","c"}'],
    ["TRUE", "DT_BOOL", [], "true"],
    ["{{{1}},{{-2}}}", "DT_INT32", [2, 1, 1], "{{{1}},{{-2}}}"],
    ["{1+2j,3}", "DT_COMPLEX128", [2], "{1+2j,3+0j}"],
    ["inf", "DT_DOUBLE", [], "inf"],
  ])("reads the text %s as enuSpace means it", (written, dtype, shape, shown) => {
    const tensor = fromLiteral({ text: written })!;
    expect([tensor.dtype, tensor.shape, tensorText(tensor)]).toEqual([dtype, shape, shown]);
  });
  it("takes type and shape from elsewhere first", () => {
    expect(fromLiteral({ text: "1;2;3;4", shape: [2, 2] }, "DT_FLOAT")).toMatchObject({ dtype: "DT_FLOAT", shape: [2, 2] });
    expect(fromLiteral({ text: "a;b", dtype: "DT_STRING" })!.data).toEqual(["a", "b"]);
  });

  it("is short in a line", () => {
    expect(literalText({ dtype: "DT_FLOAT", shape: [2, 2], values: [1, 2, 3, 4] })).toBe("{{1,2},{3,4}}");
    expect(literalText({ dtype: "DT_INT32", shape: [12], values: [...Array(12).keys()] }, 3)).toBe("{0,1,2,…}");
    expect(literalText({ dtype: "DT_FLOAT", shape: [], values: [0.5] })).toBe("0.5");
    expect(tensorText(fromLiteral({ dtype: "DT_INT32", shape: [3, 2], values: [1, 2, 3, 4, 5, 6] })!, 3)).toBe("{{1,2},{3,…}}");
  });
});

describe("cells", () => {
  it.each([
    ["a spreadsheet's", "1\t2\n3\t4\n", [["1", "2"], ["3", "4"]]],
    ["quotes", '"a,b",c\n"say ""hi""",\n', [["a,b", "c"], ['say "hi"', ""]]],
    ["semicolons", "1,5;2\r\n3;4", [["1,5", "2"], ["3", "4"]]],
    ["columns", " 1.  2.5\n-3  4e5", [["1.", "2.5"], ["-3", "4e5"]]],
    ["JSON", "[[1, 2], [3, 4]]", [["1", "2"], ["3", "4"]]],
    ["numpy's print", "[[1. 2.]\n [3. 4.]]", [["1.", "2."], ["3.", "4."]]],
    ["braces", "{{1.5f,2},{3,4}}", [["1.5f", "2"], ["3", "4"]]],
    ["one word", "hello world", [["hello world"]]],
  ])("of %s", (_, text, cells) => expect(parseCells(text)).toEqual(cells));

  it("come back", () => {
    const cells = [["a\tb", 'c"d'], ["", "e\nf"]];
    expect(parseCells(cellsText(cells))).toEqual(cells);
  });
});

describe("statistics", () => {
  const values = [1, 2, 3, NaN, Infinity, 0, -Infinity];
  it("counts what is not finite apart", () => {
    expect(statsOf(values)).toMatchObject({ count: 7, min: 0, max: 3, mean: 1.5, nan: 1, inf: 2, zeros: 1 });
    expect(statsOf(values).std).toBeCloseTo(Math.sqrt(1.25), 12);
    expect(statsOf([1e9, 1e9 + 1]).std).toBeCloseTo(0.5, 9);
    expect(statsOf([]).min).toBeNaN();
  });
  it("finds the next one round", () => {
    expect([nextNonFinite(values, -1), nextNonFinite(values, 3), nextNonFinite(values, 6), nextNonFinite([1], 0)]).toEqual([3, 4, 3, -1]);
  });
  it("has a bin for each small whole number, and one for a constant", () => {
    const whole = [0, 1, 1, 2];
    expect([...histogramOf(whole, statsOf(whole)).counts]).toEqual([1, 2, 1]);
    const constant = [0.25, 0.25];
    expect(histogramOf(constant, statsOf(constant)).counts.reduce((a, b) => a + b)).toBe(2);
    const real = [0, 0.5, 1, NaN];
    expect([...histogramOf(real, statsOf(real), 4).counts]).toEqual([1, 0, 1, 1]);
  });
  it("takes magnitudes of complex numbers, and nothing of strings", () => {
    expect([...(measures(fromLiteral({ dtype: "DT_COMPLEX64", shape: [1], values: [[3, 4]] })!) as Float64Array)]).toEqual([5]);
    expect(measures({ dtype: "DT_STRING", shape: [1], data: ["a"] })).toBeUndefined();
  });
  it("places", () => expect(placeOf([2, 3, 4], 23)).toEqual([1, 2, 3]));
});
