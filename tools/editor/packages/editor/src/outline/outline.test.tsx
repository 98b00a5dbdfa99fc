import { describe, expect, it, vi } from "vitest";
import { mount, press } from "../../test/mount";
import { Outline } from "./Outline";
import { describeRow, outlineRows, searchBlocks, type OutlineBlock } from "./rows";

const block = (id: string, type: string, category: string, more: Partial<OutlineBlock> = {}): OutlineBlock =>
  ({ id, type, category, inputs: [{ port: "x", from: ["a.z"] }, { port: "y" }], outputs: [{ port: "z", type: "float [2]" }], ...more });
const BLOCKS = [block("sum", "Add", "math"), block("w", "Variable", "state", { fault: "error", faultText: "no value" }), block("mul", "Multiply", "math", { state: "running" })];
const none = new Set<string>();

describe("rows", () => {
  it("are grouped, with faulty ones first", () => {
    const labels = (order: "page" | "category" | "faulty") => outlineRows(BLOCKS, order, none, none, none).map((row) => row.label);
    expect(labels("page")).toEqual(["sum", "w", "mul"]);
    expect(labels("category")).toEqual(["math", "sum", "mul", "state", "w"]);
    expect(labels("faulty")).toEqual(["With faults", "w", "Without faults", "sum", "mul"]);
    expect(outlineRows(BLOCKS, "category", new Set(["g:math"]), none, none).map((row) => row.label)).toEqual(["math", "state", "w"]);
  });
  it("are told whole", () => {
    const rows = outlineRows(BLOCKS, "page", none, new Set(["w"]), none);
    expect(rows.map(describeRow)).toEqual([
      "sum Add, 2 inputs, 1 outputs", "w Variable, error: no value, 2 inputs, 1 outputs", "x wired from a.z, input", "y not connected, input",
      "z float [2] nobody reads it, output", "mul Multiply, running, 2 inputs, 1 outputs"]);
    expect(rows[2]).toMatchObject({ level: 2, place: 1, siblings: 3 });
  });
  it("are searched by all words", () => expect(searchBlocks(BLOCKS, "mat mul").map((each) => each.id)).toEqual(["mul"]));
});

describe("Outline", () => {
  it("does everything by keys", () => {
    const calls = { onSelect: vi.fn(), onReveal: vi.fn(), onRename: vi.fn(), onDelete: vi.fn(), onConnect: vi.fn(), announce: vi.fn() };
    const host = mount(<Outline blocks={BLOCKS} selection={new Set(["sum", "mul"])} {...calls} />);
    const tree = host.querySelector('[role="tree"]')!;
    press(tree, "Enter");
    expect([calls.onSelect.mock.calls[0], calls.onReveal.mock.calls[0]]).toEqual([[["sum"]], ["sum"]]);
    press(tree, "Delete");
    expect(calls.onDelete).toHaveBeenCalledWith(["sum", "mul"]);
    press(tree, "ArrowDown");
    press(tree, " ");
    expect(calls.onSelect).toHaveBeenLastCalledWith(["sum", "mul", "w"]);
    press(tree, "ArrowRight");
    press(tree, "ArrowRight");
    press(tree, "c");
    expect(calls.onConnect).toHaveBeenCalledWith("w", { name: "w.x", direction: "input" });
    press(tree, "ArrowLeft");
    press(tree, "F2");
    expect(host.querySelector("dialog h2")!.textContent).toBe("Rename w");
  });

  it("changes nothing where it is read only", () => {
    const onDelete = vi.fn(), onConnect = vi.fn();
    const host = mount(<Outline blocks={BLOCKS} selection={none} readOnly onSelect={() => {}} onReveal={() => {}} onRename={vi.fn()} onDelete={onDelete} onConnect={onConnect} announce={() => {}} />);
    const tree = host.querySelector('[role="tree"]')!;
    press(tree, "Delete");
    press(tree, "c");
    expect([onDelete.mock.calls.length, onConnect.mock.calls.length, host.querySelector("dialog")]).toEqual([0, 0, null]);
  });
});
