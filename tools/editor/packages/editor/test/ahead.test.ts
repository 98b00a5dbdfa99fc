import { beforeEach, describe, expect, it } from "vitest";
import type { Block, Change, Edit, Schema } from "@weft/client";
import { Ahead } from "../src/model/ahead";
import { equal } from "../src/model/equal";
import { forecast } from "../src/model/forecast";
import { PageModel } from "../src/model/page";
import { SchemaIndex } from "../src/model/schema";

const schema: Schema = {
  blocks: [
    { block: "Const", category: "core", summary: "", inputs: [{ port: "value", doc: "" }], outputs: [{ port: "output", doc: "" }], attrs: [] },
    { block: "Add", category: "math", summary: "", inputs: [{ port: "x", doc: "" }, { port: "y", doc: "" }], outputs: [{ port: "z", doc: "" }], attrs: [] },
    { block: "AddN", category: "math", summary: "", inputs: [{ port: "inputs", doc: "", list_length_attr: "N" }], outputs: [{ port: "sum", doc: "" }], attrs: [] },
  ],
};
const c: Block = { id: "c", block: "Const", inputs: { value: { dtype: "DT_FLOAT", shape: [], values: [0.5] } } };
const a: Block = { id: "a", block: "Add", attrs: "T = float;", inputs: { x: "c.output", y: "c.output" } };
const n: Block = { id: "n", block: "AddN", attrs: { N: 2 }, inputs: { inputs: ["c.output", "a.z"] } };

let model: PageModel;
let ahead: Ahead;
let revision: number;
let woken: string[];

beforeEach(() => {
  model = new PageModel(new SchemaIndex(schema));
  model.load({ blocks: [c, a, n], layout: { c: [0, 0], a: [100, 0] }, types: { "c.output": { dtype: "DT_FLOAT", shape: [] } }, keys: { page: "p" } });
  ahead = new Ahead(model, () => {});
  revision = 1;
  woken = [];
  for (const id of ["a", "b", "c", "n"]) model.events.on(`block:${id}`, () => woken.push(id));
});

/** All that is drawn of the page. */
const seen = () => ({
  blocks: [...model.blocks.values()], keys: model.keys, layout: model.ids.map((id) => [id, model.position(id), model.isPlaced(id)]),
  wires: [...model.wires()].map(({ from, to }) => `${from} ${to}`).sort(), types: [...model.types],
});

/** A change as the server tells it. */
function change(what: Partial<Change>): Change {
  const before = revision++;
  return {
    revision, before, cause: "edit", added: [], removed: [], changed: [], renamed: [], moved: [], keys: [], undo: 1, redo: 0, undo_label: null, redo_label: null,
    dirty: true, layout: {}, page_keys: {}, blocks: [], ...what,
  };
}

/** What the server would say of the edits, were it this model. */
function made(edits: Edit[], cause: Change["cause"] = "edit"): Change {
  const patch = forecast(model, edits)!;
  const ids = [...model.ids.filter((id) => !patch.removed?.includes(id)), ...(patch.blocks ?? []).map((b) => b.id).filter((id) => !model.blocks.has(id))];
  return change({ cause, removed: patch.removed, blocks: patch.blocks?.map((block) => ({ place: ids.indexOf(block.id), block })), layout: patch.layout, page_keys: patch.keys });
}

describe("forecasts", () => {
  const after = (edits: Edit[]) => {
    const patch = forecast(model, edits);
    if (patch) model.apply(patch);
    return patch && Object.fromEntries(model.blocks);
  };

  it("takes wires from a block that goes, out of lists too", () => {
    const blocks = after([{ op: "remove", block: "c" }]);
    expect(blocks).toEqual({ a: { id: "a", block: "Add", attrs: "T = float;" }, n: { ...n, inputs: { inputs: ["a.z"] } } });
    expect(model.isPlaced("c")).toBe(false);
  });

  it("adds, wires, lengthens lists, and takes elements out of them", () => {
    const blocks = after([
      { op: "add", block: { id: "b", block: "Add" }, layout: [5, 6] }, { op: "connect", from: "a.z", to: "b.x" },
      { op: "connect", from: "b.z", to: "n.inputs[1]" }, { op: "disconnect", to: "n.inputs[0]" }, { op: "disconnect", to: "a.y" },
    ]);
    expect(blocks?.["b"]?.inputs).toEqual({ x: "a.z" });
    expect(blocks?.["n"]?.inputs).toEqual({ inputs: ["b.z", "a.z"] });
    expect(blocks?.["a"]?.inputs).toEqual({ x: "c.output" });
    expect(model.position("b")).toEqual([5, 6]);
  });

  it("changes values, settings as they are spelled, keys and places", () => {
    const value = { dtype: "DT_FLOAT", shape: [], values: [1] };
    const blocks = after([
      { op: "set", input: "c.value", value }, { op: "set", block: "a", attr: "T", text: "double" }, { op: "set", block: "n", attr: "N", value: 3 },
      { op: "set", block: "n", key: "note", value: "slow" }, { op: "set", key: "page", value: "q" }, { op: "move", block: "c", layout: [7, 8] },
    ]);
    expect(blocks?.["c"]?.inputs).toEqual({ value });
    expect(blocks?.["a"]?.attrs).toBe("T = double;");
    expect(blocks?.["n"]).toEqual({ ...n, attrs: { N: 3 }, note: "slow" });
    expect([model.keys["page"], model.position("c")]).toEqual(["q", [7, 8]]);
  });

  it("says nothing of what only the engine knows", () => {
    expect(forecast(model, [{ op: "rename", block: "a", to: "b" }])).toBeNull();
    expect(forecast(model, [{ op: "set", block: "a", attr: "T", value: "DT_INT32" }])).toBeNull();
    expect(forecast(model, [{ op: "disconnect", to: "a.nothing" }])).toBeNull();
    expect(forecast(model, [{ op: "add", block: a }])).toBeNull();
  });
});

describe("edits ahead of the server", () => {
  const remove: Edit[] = [{ op: "remove", block: "a" }];

  it("are shown at once, and drawn once where the server does the same", () => {
    const said = made(remove);
    ahead.edit(remove, false);
    expect(model.ids).toEqual(["c", "n"]);
    const drawn = woken.length;
    ahead.receive(said, ahead.awaits("edit"));
    expect([model.ids, woken.length]).toEqual([["c", "n"], drawn]);
    expect(ahead.awaits("edit")).toBe(false);
  });

  it("are taken back where the server refuses, with everything that they took", () => {
    const before = seen();
    const ticket = ahead.edit(remove, false);
    ahead.settle(ticket);
    expect(seen()).toEqual(before);
  });

  it("give way to what the server did instead", () => {
    ahead.edit([{ op: "move", block: "c", layout: [3, 3] }], false);
    ahead.receive(change({ layout: { c: [8, 8] }, moved: ["c"] }), true);
    expect(model.position("c")).toEqual([8, 8]);
  });

  it("follow upon what others did in between", () => {
    const ticket = ahead.edit([{ op: "connect", from: "n.sum", to: "n.inputs" }], false);
    const other = { ...n, note: "of another", inputs: { inputs: ["a.z"] } };
    ahead.receive(change({ blocks: [{ place: 2, block: other }], changed: ["n"], by: "c9" }), false);
    expect(model.blocks.get("n")).toEqual({ ...other, inputs: { inputs: ["a.z", "n.sum"] } });
    ahead.settle(ticket);
    expect(model.blocks.get("n")).toEqual(other);
  });

  it("wait for the server where it may well refuse", () => {
    const before = seen();
    ahead.edit(remove, true);
    expect(seen()).toEqual(before);
    ahead.receive(change({ removed: ["a"], layout: { a: null }, blocks: [{ place: 1, block: { ...n, inputs: { inputs: ["c.output"] } } }] }), true);
    expect(model.ids).toEqual(["c", "n"]);
  });

  it("may be several, each on top of the one before", () => {
    const first = made(remove);
    const [one, two] = [ahead.edit(remove, false), ahead.edit([{ op: "move", block: "c", layout: [1, 1] }], false)];
    ahead.receive(first, true);
    expect([model.ids, model.position("c")]).toEqual([["c", "n"], [1, 1]]);
    ahead.settle(two);
    ahead.settle(one);
    expect([model.ids, model.position("c")]).toEqual([["c", "n"], [0, 0]]);
  });
});

describe("undo and redo ahead of the server", () => {
  it("go the steps that were seen", () => {
    const before = seen();
    ahead.edit([{ op: "remove", block: "c" }], false);
    const after = seen();
    ahead.undo();
    expect(seen()).toEqual(before);
    ahead.redo();
    expect(seen()).toEqual(after);
    ahead.undo();
    expect(seen()).toEqual(before);
  });

  it("bring a block back to its place among the others, also one that another client took", () => {
    ahead.receive(change({ removed: ["a"], layout: { a: null }, blocks: [{ place: 1, block: { ...n, inputs: { inputs: ["c.output"] } } }], by: "c9" }), false);
    ahead.undo();
    expect([model.ids, model.position("a"), model.blocks.get("n")]).toEqual([["c", "a", "n"], [100, 0], n]);
  });

  it("leave to the server what is not known here", () => {
    const renamed: Change = change({ renamed: [["a", "b"]], blocks: [{ place: 1, block: { ...a, id: "b" } }, { place: 2, block: { ...n, inputs: { inputs: ["c.output", "b.z"] } } }] });
    ahead.receive(renamed, false);
    expect([model.ids, model.position("b")]).toEqual([["c", "b", "n"], [100, 0]]);
    const before = seen();
    ahead.undo();
    expect(seen()).toEqual(before);
  });

  it("have no step for an edit that made nothing different", () => {
    const before = seen();
    ahead.edit([{ op: "move", block: "c", layout: [9, 9] }], false);
    ahead.receive(change({ layout: { c: [9, 9] }, moved: ["c"] }), true);
    ahead.edit([{ op: "move", block: "c", layout: [9, 9] }], false);
    ahead.receive({ ...change({}), revision, before: revision }, true);
    expect([ahead.awaits("edit"), model.position("c")]).toEqual([false, [9, 9]]);
    ahead.undo();
    expect(seen()).toEqual(before);
  });

  it("can be asked for before edits are answered", () => {
    expect(ahead.steppable(3, 2)).toEqual({ undo: 3, redo: 2 });
    ahead.edit([{ op: "remove", block: "c" }], false);
    expect(ahead.steppable(0, 2)).toEqual({ undo: 1, redo: 0 });
    ahead.undo();
    expect(ahead.steppable(0, 0)).toEqual({ undo: 0, redo: 1 });
  });

  it("are forgotten when the page is read anew", () => {
    ahead.edit([{ op: "remove", block: "c" }], false);
    ahead.clear();
    const before = seen();
    ahead.undo();
    expect(seen()).toEqual(before);
  });
});

it("JSON is the same whatever the order of its keys", () => {
  expect([equal({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] }), equal({ a: undefined }, {}), equal([1], { 0: 1 }), equal([1, 2], [1])]).toEqual([true, false, false, false]);
});
