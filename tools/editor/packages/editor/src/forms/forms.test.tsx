import { describe, expect, it, vi } from "vitest";
import { act } from "react";
import type { BlockSchema } from "@weft/client";
import { mount, press, typeInto } from "../../test/mount";
import { AttributeForm } from "./AttributeForm";
import { dtypesOf } from "./dtypes";

const SCHEMA: BlockSchema = {
  block: "Conv2D", category: "nn", summary: "", outputs: [],
  inputs: [{ port: "x", doc: "what is added", type_attr: "T" }, { port: "axis", doc: "", type: "DT_INT32" }, { port: "values", doc: "", type_attr: "T", list: true }],
  attrs: [
    { name: "T", type: "type", doc: "", inferred: true, allowed: ["DT_HALF", "DT_DOUBLE", "DT_FLOAT", "DT_INT32", "DT_RESOURCE"] },
    { name: "strides", type: "list(int)", doc: "steps" },
    { name: "data_format", type: "string", doc: "", default: "NHWC", allowed: ["NHWC", "NCHW"] },
    { name: "fast", type: "bool", doc: "", default: true },
    { name: "name", type: "string", doc: "", default: "" },
  ],
};

const control = (host: HTMLElement, name: string) => {
  const label = [...host.querySelectorAll("label")].find((each) => each.textContent!.startsWith(name))!;
  return document.getElementById(label.htmlFor) as HTMLInputElement;
};
function enter(input: HTMLInputElement, value: string, key = "Enter"): void {
  typeInto(input, value);
  press(input, key, { ctrlKey: true });
}

describe("AttributeForm", () => {
  const form = (attrs: string | object, more = {}) => {
    const onSet = vi.fn(), onSetText = vi.fn();
    const host = mount(<AttributeForm schema={SCHEMA} attrs={attrs as string} onSet={onSet} onSetText={onSetText} {...more} />);
    return { host, onSet, onSetText };
  };

  it("hands over one attribute as text, and takes away what is set to nothing", () => {
    const { host, onSet } = form("strides_ = {1,1};name_ = \"a b\";");
    enter(control(host, "strides"), "{2,2}");
    enter(control(host, "data_format"), "NCHW");
    act(() => control(host, "fast").click());
    expect(control(host, "name").value).toBe("a b");
    enter(control(host, "name"), "c;d");
    enter(control(host, "strides"), "");
    expect(onSet.mock.calls).toEqual([["strides", "{2,2}"], ["data_format", "NCHW"], ["fast", "false"], ["name", '"c;d"'], ["strides", undefined]]);
  });

  it("marks what is wrong: by the schema, by the server, and names that are none", () => {
    const { host } = form("strides_ = {1,x};typo_ = 1;", { faults: { data_format: "needs 4 axes" } });
    expect([...host.querySelectorAll(".w-field-fault")].map((each) => each.textContent)).toEqual(
      ["needs a whole number, found 'x'", "needs 4 axes", "Not attributes of this block"]);
    const input = control(host, "strides");
    expect(input.getAttribute("aria-invalid")).toBe("true");
    expect(input.getAttribute("aria-describedby")!.split(" ").every((id) => document.getElementById(id))).toBe(true);
  });

  it("edits the text as a whole, Escape reverts it", () => {
    const { host, onSetText } = form("strides_ = {1,1};");
    const area = control(host, "As text");
    enter(area, "x", "Escape");
    expect(area.value).toBe("strides_ = {1,1};");
    enter(area, "strides_ = {3,3};");
    expect(onSetText.mock.calls).toEqual([["strides_ = {3,3};"]]);
  });

  it("shows attributes that are given as an object", () => {
    const { host } = form({ strides: [1, 2], fast: false });
    expect(control(host, "strides").value).toBe("{1,2}");
    expect(control(host, "fast").checked).toBe(false);
  });
});

describe("dtypesOf", () => {
  it("has the types of the port, floats first", () => {
    expect(dtypesOf(SCHEMA.inputs[0], SCHEMA)).toEqual(["DT_FLOAT", "DT_DOUBLE", "DT_INT32", "DT_HALF"]);
    expect(dtypesOf(SCHEMA.inputs[1], SCHEMA)).toEqual(["DT_INT32"]);
    expect(dtypesOf(undefined, undefined)).toContain("DT_STRING");
  });
});
