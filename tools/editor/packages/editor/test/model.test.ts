import { describe, expect, it } from "vitest";
import type { Block, Schema, TensorLiteral } from "@weft/client";
import { scalarLiteral, scalarOf } from "../src/actions/literals";
import { selectionAfter } from "../src/canvas/selection";
import { attributeSummary } from "../src/model/attributes";
import { freshBlockId, makeClip, parseClip, pasteEdits } from "../src/model/clipboard";
import { framesOf, notesOf, renamedKeys } from "../src/model/decor";
import { blockShape } from "../src/model/geometry";
import { parsePort, shortNumber, typeText } from "../src/model/names";
import { PageModel, type ModelChange } from "../src/model/page";
import { SchemaIndex } from "../src/model/schema";

const schema: Schema = {
  blocks: [
    { block: "Const", category: "core", summary: "A constant.", inputs: [{ port: "value", doc: "" }], outputs: [{ port: "output", doc: "" }], attrs: [] },
    { block: "Add", category: "math", summary: "Adds two tensors element by element.", aliases: ["AddV2"], inputs: [{ port: "x", doc: "" }, { port: "y", doc: "" }], outputs: [{ port: "z", doc: "" }], attrs: [] },
    { block: "AddN", category: "math", summary: "The sum of tensors.", inputs: [{ port: "inputs", doc: "", list_length_attr: "N" }], outputs: [{ port: "sum", doc: "" }], attrs: [] },
    { block: "Split", category: "array_ops", summary: "Cuts a tensor.", inputs: [{ port: "value", doc: "" }], outputs: [{ port: "output", doc: "", list_length_attr: "n" }], attrs: [] },
  ],
};
const index = new SchemaIndex(schema);
const c: Block = { id: "c", block: "Const", inputs: { value: { dtype: "DT_FLOAT", shape: [], values: [0.5] } } };
const a: Block = { id: "a", block: "Add", inputs: { x: "c.output", y: "c.output" } };
const n: Block = { id: "n", block: "AddN", inputs: { inputs: ["c.output", "a.z"] } };

function loaded(): { model: PageModel; changes: ModelChange[] } {
  const model = new PageModel(index);
  const changes: ModelChange[] = [];
  model.load({ blocks: [c, a, n], layout: { c: [0, 0] }, types: { "c.output": { dtype: "DT_FLOAT", shape: [] } } });
  model.follow((change) => changes.push(change));
  return { model, changes };
}

describe("the page model", () => {
  it("finds wires from both ends", () => {
    const { model } = loaded();
    expect(model.wiresInto("n").map((w) => w.to)).toEqual(["n.inputs[0]", "n.inputs[1]"]);
    expect([...(model.readersOf("c").get("output") ?? [])]).toEqual(["a.x", "a.y", "n.inputs[0]"]);
    expect(model.wireAt("a.y")?.from).toBe("c.output");
  });

  it("changes only what a change names, and tells only those who look at it", () => {
    const { model, changes } = loaded();
    let [woken, others] = [0, 0];
    model.events.on("block:a", () => woken++);
    model.events.on("block:n", () => others++);
    model.apply({ blocks: [{ id: "a", block: "Add", inputs: { x: "c.output" } }] });
    expect([woken, others]).toEqual([1, 0]);
    expect(changes).toEqual([{ added: [], removed: [], changed: ["a"], moved: [], keys: [] }]);
    expect(model.wireAt("a.y")).toBeUndefined();
  });

  it("wakes those that read an output whose type is another", () => {
    const { model } = loaded();
    let woken = 0;
    model.events.on("block:n", () => woken++);
    model.apply({ types: { "a.z": { dtype: "DT_INT32" } } });
    expect(woken).toBe(1);
  });

  it("removes a block with its wires, and keeps those that lead to it as they are written", () => {
    const { model } = loaded();
    model.apply({ removed: ["a"] });
    expect(model.ids).toEqual(["c", "n"]);
    expect(model.wireAt("n.inputs[1]")?.from).toBe("a.z");
    expect([...(model.readersOf("c").get("output") ?? [])]).toEqual(["n.inputs[0]"]);
  });

  it("shows drags at once and forgets them when the server has the place", () => {
    const { model } = loaded();
    model.drag([["c", [10, 20]]]);
    expect(model.position("c")).toEqual([10, 20]);
    model.apply({ layout: { c: [16, 24] } });
    expect(model.position("c")).toEqual([16, 24]);
    model.apply({ layout: { a: [1, 2] }, layoutAll: true });
    expect([model.isPlaced("c"), model.isPlaced("a")]).toEqual([false, true]);
  });

  it("makes a block taller when an element of a list output becomes known", () => {
    const model = new PageModel(index);
    model.load({ blocks: [{ id: "s", block: "Split" }] });
    const before = model.shape("s").height;
    const changes: ModelChange[] = [];
    model.follow((change) => changes.push(change));
    model.apply({ types: { "s.output[0]": {}, "s.output[1]": {}, "s.output[2]": {} } });
    expect(model.shape("s").rows.filter((r) => r.side === "out").map((r) => r.name)).toEqual(["output[0]", "output[1]", "output[2]"]);
    expect(model.shape("s").height).toBeGreaterThan(before);
    expect(changes[0]?.changed).toEqual(["s"]);
  });

  it("has the only wire of a list as its first element, however the page spells it", () => {
    const { model } = loaded();
    expect(model.endOf("n.inputs")).toBe("n.inputs");
    model.apply({ blocks: [{ id: "n", block: "AddN", inputs: { inputs: "c.output" } }] });
    expect(model.wireAt("n.inputs[0]")?.from).toBe("c.output");
    expect(model.inputAt("n.inputs[0]")).toBe("c.output");
    expect(model.shape("n").rows.filter((row) => row.side === "in").map((row) => row.name)).toEqual(["inputs[0]", "inputs"]);
    model.apply({ blocks: [{ id: "n", block: "AddN" }] });
    expect([model.endOf("n.inputs"), model.endOf("a.x")]).toEqual(["n.inputs[0]", "a.x"]);
  });

  it("sorts faults by block", () => {
    const { model } = loaded();
    model.apply({ diagnostics: [{ code: "invalid_argument", severity: "error", message: "m", block: "a" }] });
    expect(model.faultsOf("a")).toHaveLength(1);
    expect(model.errorCount).toBe(1);
  });
});

describe("blocks that could not be read", () => {
  const odd = (block: Record<string, unknown>) => block as unknown as Block;

  it("are without the members that the page keeps", () => {
    const model = new PageModel(index);
    model.load({ blocks: [odd({ id: "x", block: "Add", attrs: 5, inputs: ["c.output"], note: 1 }), odd({ id: 7, block: ["Add"], attrs: "T_ = DT_FLOAT;" }), a] });
    expect(model.blocks.get("x")).toEqual({ id: "x", block: "Add", note: 1 });
    expect(model.blocks.get("")).toEqual({ id: "", block: "", attrs: "T_ = DT_FLOAT;" });
    expect(model.blocks.get("a")).toBe(a);
    model.apply({ blocks: [odd({ id: "a", block: "Add", attrs: null, inputs: "c.output" })] });
    expect(model.blocks.get("a")).toEqual({ id: "a", block: "Add" });
  });
});

describe("shapes of blocks", () => {
  it("have a row for each port, and one for the next element of a list", () => {
    const shape = blockShape(n, index.get("AddN"), new Set());
    expect(shape.rows.map((r) => [r.name, r.side])).toEqual([["inputs[0]", "in"], ["inputs[1]", "in"], ["inputs", "in"], ["sum", "out"]]);
  });

  it("keep inputs that the schema does not know", () => {
    const shape = blockShape({ id: "q", block: "Nope", inputs: { left: "c.output" } }, undefined, new Set(["right"]));
    expect(shape.rows.map((r) => r.name)).toEqual(["left", "right"]);
  });

  it("have a row for a port that is written as enuSpace spells it", () => {
    const spelled = { ...schema.blocks[0]!, palette_spelling: { val: "value" } };
    const shape = blockShape({ id: "q", block: "Const", inputs: { val: { text: "1;2" } } }, spelled, new Set());
    expect(shape.rows.filter((r) => r.side === "in").map((r) => [r.name, r.literal])).toEqual([["val", "1;2"]]);
  });

  it("show what the page has in place of a value, whatever it is", () => {
    const shown = (value: unknown) => blockShape({ ...c, inputs: { value: value as TensorLiteral } }, index.get("Const"), new Set()).rows[0]?.literal;
    expect(shown(5)).toBe("5");
    expect(shown(null)).toBe("null");
    expect(shown({ shape: 5, values: [1] })).toBe('{"shape":5,"v…');
    expect(shown({ dtype: 1, text: {} })).toBe('{"dtype":1,"t…');
    expect(shown({ dtype: "DT_FLOAT", values: [1, 2, 3, 4] })).toBe("1, 2, … [4]");
  });

  it("show values in short", () => {
    const shown = (value: TensorLiteral) => blockShape({ ...c, inputs: { value } }, index.get("Const"), new Set()).rows[0]?.literal;
    expect(blockShape(c, index.get("Const"), new Set()).rows[0]?.literal).toBe("0.5");
    expect(shown({ dtype: "DT_COMPLEX64", shape: [], values: [[1, -2]] })).toBe("1-2j");
    expect(shown({ dtype: "DT_STRING", shape: [], values: [{ base64: "/w==" }] })).toBe("base64:/w==…");
  });
});

describe("the palette", () => {
  it("finds by name, alias and words of the summary", () => {
    expect(index.search("addn")[0]?.schema.block).toBe("AddN");
    expect(index.search("AddV2")[0]).toMatchObject({ by: "AddV2" });
    expect(index.search("element by element").map((h) => h.schema.block)).toEqual(["Add"]);
    expect(index.search("zzzz")).toEqual([]);
  });

  it("lets a block's own name win over an alias", () => {
    const clash = new SchemaIndex({ blocks: [{ ...schema.blocks[0]!, aliases: ["Add"] }, schema.blocks[1]!] });
    expect(clash.get("Add")?.block).toBe("Add");
  });
});

describe("copies", () => {
  const taken = new Set(["c", "a", "n"]);
  const half = (): number => 0.5;

  it("get new ids, and wires among them follow", () => {
    const { edits, ids } = pasteEdits(makeClip([c, a], () => [0, 0]), (id) => taken.has(id), [32, 32], half);
    expect(ids).toEqual(["c_i00", "a_i00"]);
    expect(edits[1]).toMatchObject({ op: "add", block: { id: "a_i00", inputs: { x: "c_i00.output", y: "c_i00.output" } }, layout: [32, 32] });
  });

  it("keep wires from blocks that the page has, and leave others open", () => {
    const clip = makeClip([a], () => [0, 0]);
    expect(pasteEdits(clip, (id) => id === "c", [0, 0]).edits[0]).toMatchObject({ block: { id: "a", inputs: { x: "c.output" } } });
    expect((pasteEdits(clip, () => false, [0, 0]).edits[0] as { block: Block }).block.inputs).toBeUndefined();
  });

  it("are texts that are pages", () => {
    expect(parseClip(JSON.stringify(makeClip([c], () => [0, 0])))?.blocks).toEqual([c]);
    expect(parseClip("hello")).toBeNull();
    expect(parseClip('{"weft": 1}')).toBeNull();
  });

  it("do not count ids up", () => {
    expect(freshBlockId("MatMul", () => false)).toBe("mat_mul");
    expect(freshBlockId("MatMul", (id) => id === "mat_mul", half)).toBe("mat_mul_i00");
  });
});

describe("small things", () => {
  it("take names of ports apart", () => {
    expect(parsePort("sum.inputs[2]")).toEqual({ block: "sum", port: "inputs", index: 2 });
    expect(parsePort("a.b.z")).toEqual({ block: "a.b", port: "z" });
  });
  it("write types and numbers", () => {
    expect(typeText({ dtype: "DT_FLOAT", shape: [2, -1] })).toBe("float [2, ?]");
    expect([shortNumber(0.1), shortNumber(1e-7), shortNumber(NaN), shortNumber(-Infinity)]).toEqual(["0.1", "1.00e-7", "nan", "-inf"]);
  });
  it("sum up settings without types", () => {
    expect(attributeSummary("T_ = DT_FLOAT;data_format_ = NHWC;seed_ = 3;")).toBe("NHWC · seed 3");
  });
  it("read typed values by the type that was there", () => {
    expect(scalarLiteral("0.5", { dtype: "DT_FLOAT", shape: [] })).toEqual({ dtype: "DT_FLOAT", shape: [], values: [0.5] });
    expect(scalarLiteral("0.5", { dtype: "DT_INT32", shape: [] })).toBeUndefined();
    expect(scalarLiteral("true")).toMatchObject({ dtype: "DT_BOOL", values: [true] });
    expect(scalarLiteral("9007199254740993", { dtype: "DT_INT64", shape: [], values: [1], note: "n" })).toEqual({ dtype: "DT_INT64", shape: [], text: "9007199254740993", note: "n" });
    expect(scalarLiteral("1-2j", { dtype: "DT_COMPLEX64" })).toEqual({ dtype: "DT_COMPLEX64", shape: [], values: [[1, -2]] });
  });
  it("take values of one element alone as such", () => {
    expect(scalarOf({ text: "{{1,2},{3,4}}" })).toBeUndefined();
    expect([scalarOf({ text: "1;2;3" }), scalarOf({ dtype: "DT_FLOAT", shape: [1], values: [1] }), scalarOf({ file: "a.npy" })]).toEqual([undefined, undefined, undefined]);
    expect(scalarOf({ dtype: "DT_STRING", shape: [], values: [{ base64: "/w==" }] })).toBeUndefined();
    expect(scalarOf({ text: '"a b"' })).toEqual({ text: "a b", dtype: "DT_STRING" });
    expect(scalarOf({ text: "1" }, "DT_FLOAT")).toEqual({ text: "1", dtype: "DT_FLOAT" });
    expect(scalarOf({ values: 0.5 })).toEqual({ text: "0.5", dtype: "DT_FLOAT" });
    expect(scalarOf({ dtype: "DT_COMPLEX64", shape: [], values: [[1, 2]] })).toEqual({ text: "1+2j", dtype: "DT_COMPLEX64" });
  });
  it("name a renamed block in frames, bends and plots", () => {
    const keys = {
      frames: [{ id: "f", title: "F", blocks: ["a", "b"] }, 7], plots: [{ id: "p", values: ["a.z", "a.b.z"], at: [0, 0] }],
      bends: { "a.x": [[1, 2]], "b.x": [] }, notes: [{ id: "a" }],
    };
    expect(renamedKeys(keys, "a", "c")).toEqual({
      frames: [{ id: "f", title: "F", blocks: ["c", "b"] }, 7], plots: [{ id: "p", values: ["c.z", "a.b.z"], at: [0, 0] }], bends: { "c.x": [[1, 2]], "b.x": [] },
    });
    expect(renamedKeys(keys, "q", "c")).toEqual({});
  });
  it("let go of what is out of sight when something else is selected", () => {
    const pick = (id: string, selected = true) => ({ type: "select" as const, id, selected });
    const now = new Set(["far", "a", "wire:b.x"]);
    expect([...selectionAfter(now, [pick("b"), pick("a", false)], "", false)]).toEqual(["b"]);
    expect([...selectionAfter(now, [pick("b")], "", true)]).toEqual(["far", "a", "wire:b.x", "b"]);
    expect([...selectionAfter(now, [pick("a")], "", false)]).toEqual([...now]);
    expect([...selectionAfter(now, [pick("b.x", false)], "wire:", false)]).toEqual(["far", "a"]);
  });
  it("leave out frames and notes that are none", () => {
    expect(framesOf({ frames: [1, { id: "f", blocks: ["a", 3] }] })).toEqual([{ id: "f", title: "", blocks: ["a"] }]);
    expect(notesOf({ notes: [{ id: "n", text: "t", at: [1, 2] }, { id: "m", text: "t" }] })).toHaveLength(1);
  });
});
