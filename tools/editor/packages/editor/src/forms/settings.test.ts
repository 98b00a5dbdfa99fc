import { describe, expect, it } from "vitest";
import type { AttrSchema } from "@weft/client";
import { findSetting, quote, splitList, splitSettings, unquote, withSetting } from "./settings";
import { checkValue, isDefault, valueText } from "./values";

describe("splitSettings", () => {
  it.each([
    ["data_format_ = NHWC;epsilon_ = 0.001f;", [["data_format_", "NHWC"], ["epsilon_", "0.001f"]]],
    [" a=1 ;; \n b_ = {1;2}", [["a", "1"], ["b_", "{1;2}"]]],
    ["shapes_ = [2][2];[3];n_ = 1", [["shapes_", "[2][2];[3]"], ["n_", "1"]]],
    ['s_ = "a;b = c";t = x', [["s_", '"a;b = c"'], ["t", "x"]]],
    ["s_ = a b;c d", [["s_", "a b;c d"]]],
    ["e_ = ;f_ = 2", [["e_", ""], ["f_", "2"]]],
    ["junk;a_ = 1", [["", "junk"], ["a_", "1"]]],
    ["", []],
  ])("%j", (text, expected) => expect(splitSettings(text).map((s) => [s.name, s.value])).toEqual(expected));

  it("marks what is not balanced, and goes on after it", () => {
    expect(splitSettings("a_ = 1};b_ = 2").map((s) => [s.name, s.faulty])).toEqual([["a_", true], ["b_", false]]);
    expect(splitSettings('a_ = "x;b_ = 2').map((s) => [s.name, s.faulty])).toEqual([["a_", true]]);
  });
});

describe("withSetting", () => {
  const text = " T_=DT_FLOAT ;\n strides_ =  {1, 1} ;padding_=SAME";
  it("changes nothing but the value", () => {
    expect(withSetting(text, "strides", "{2,2}")).toBe(" T_=DT_FLOAT ;\n strides_ =  {2,2} ;padding_=SAME");
    expect(withSetting(text, "padding", "VALID")).toBe(" T_=DT_FLOAT ;\n strides_ =  {1, 1} ;padding_=VALID");
  });
  it("adds at the end and removes with the separator", () => {
    expect(withSetting(text, "data_format", "NCHW")).toBe(`${text};data_format_ = NCHW;`);
    expect(withSetting("", "a", "1")).toBe("a_ = 1;");
    expect(withSetting("a_ = 1;b_ = 2;", "a", undefined)).toBe("b_ = 2;");
    expect(withSetting("a_ = 1;", "b", undefined)).toBe("a_ = 1;");
  });
  it("fills in an empty value, and takes the first of two", () => {
    expect(withSetting("a_ = ;b_ = 1", "a", "7")).toBe("a_ = 7;b_ = 1");
    expect(withSetting("a = 1;a_ = 2;", "a", "7")).toBe("a = 7;a_ = 2;");
  });
  it("comes back for any value that it wrote", () => {
    for (const value of ["x;y = z", 'q"u', "", "a b", "{1", "plain"]) {
      const changed = withSetting("other_ = 1;", "s", quote(value));
      expect(unquote(findSetting(changed, "s")!.value)).toBe(value);
      expect(findSetting(changed, "other")!.value).toBe("1");
    }
  });
});

describe("lists", () => {
  it.each([
    ["{1,2,3}", ["1", "2", "3"]], ["1; 2", ["1", "2"]], ["{}", []], ["", []], ["{[2][2],[3]}", ["[2][2]", "[3]"]], ['"a,b",c', ['"a,b"', "c"]],
  ])("%s", (text, elements) => expect(splitList(text)).toEqual(elements));
  it.each(["{1,,2}", "{1", "1}"])("%s is none", (text) => expect(splitList(text)).toBeUndefined());
});

const attr = (type: AttrSchema["type"], more: Partial<AttrSchema> = {}): AttrSchema => ({ name: "a", type, doc: "", ...more });

describe("values", () => {
  it.each([
    ["list(int)", [1, 2], "{1,2}"], ["list(int)", [], "{}"], ["shape", [2, -1], "[2][?]"], ["shape", [], "[]"], ["shape", null, "?"],
    ["float", 0.0001, "0.0001"], ["string", "", '""'], ["string", "NHWC", "NHWC"], ["bool", true, "true"], ["list(shape)", [[2], null], "{[2],?}"],
  ])("%s %j", (type, value, text) => expect(valueText(type, value)).toBe(text));

  it.each<[AttrSchema, string, string | undefined]>([
    [attr("int", { minimum: 1 }), "0", "needs 1 or more, found 0"],
    [attr("int"), "1.5", "needs a whole number, found '1.5'"],
    [attr("float"), "0.0001f", undefined],
    [attr("string", { allowed: ["SAME", "VALID"] }), "SAM", "needs one of SAME, VALID, found 'SAM'"],
    [attr("list(int)", { minimum: 2 }), "{1}", "needs 2 or more elements, found 1"],
    [attr("list(int)"), "{1,x}", "needs a whole number, found 'x'"],
    [attr("type", { allowed: ["DT_FLOAT"] }), "DT_INT32", "needs one of DT_FLOAT, found 'DT_INT32'"],
    [attr("shape"), "[2][?]", undefined], [attr("shape"), "{2,2}", undefined], [attr("shape"), "?", undefined], [attr("shape"), "[]", undefined],
    [attr("shape"), "[2", "brackets or quotes are not closed"], [attr("shape"), "two", "needs a shape such as [2][3], found 'two'"],
    [attr("list(shape)"), "[2][2];[3]", undefined], [attr("list(shape)"), "{[2]", "brackets or quotes are not closed"],
    [attr("bool"), "TRUE", undefined], [attr("int"), "", undefined],
  ])("%j %s", (schema, text, fault) => {
    expect(checkValue(schema, text)).toBe(fault);
  });

  it("knows a default in another spelling", () => {
    expect(isDefault(attr("float", { default: 0.0001 }), "0.0001f")).toBe(true);
    expect(isDefault(attr("list(int)", { default: [1, 1] }), "1; 1")).toBe(true);
    expect(isDefault(attr("bool", { default: true }), "TRUE")).toBe(true);
    expect(isDefault(attr("string"), "")).toBe(false);
  });
});
