import { describe, expect, it, vi } from "vitest";
import { act, useState } from "react";
import { mount, press, typeInto } from "../../test/mount";
import { castTensor, pasteCells, reshapeTensor, tensorOfCells, writeCells } from "./cells";
import { colourTable, drawPicture, pictureAxes } from "./colours";
import { textAt } from "./format";
import { fromLiteral } from "./literal";
import { leadOf, moveCell, planeOf } from "./plane";
import { TensorInspector } from "./TensorInspector";
import { parseShape } from "./TensorEditor";
import { TensorTable } from "./TensorTable";
import { countOf, zeros, type TensorValue } from "./tensor";

const floats = (shape: number[], values: (number | string)[]): TensorValue => fromLiteral({ dtype: "DT_FLOAT", shape, values })!;
const ints = (shape: number[]): TensorValue => fromLiteral({ dtype: "DT_INT32", shape, values: [...Array(countOf(shape)).keys()] })!;
const texts = (tensor: TensorValue) => Array.from({ length: countOf(tensor.shape) }, (_, i) => textAt(tensor, i));

describe("planes", () => {
  it("show the last two axes at the leading indices", () => {
    const plane = planeOf([2, 3, 4, 5], [1, 2]);
    expect([plane.rows, plane.columns, plane.indexAt(3, 4)]).toEqual([4, 5, 119]);
    expect(plane.cellOf(119)).toEqual({ row: 3, column: 4 });
    expect(plane.cellOf(0)).toBeUndefined();
    expect(leadOf([2, 3, 4, 5], 119)).toEqual([1, 2]);
  });
  it("lay vectors out in rows of ten, and have a cell for a scalar", () => {
    const plane = planeOf([23], []);
    expect([plane.rows, plane.columns, plane.indexAt(2, 2), plane.indexAt(2, 3), plane.rowLabel(2)]).toEqual([3, 10, 22, -1, "20"]);
    expect(planeOf([], []).indexAt(0, 0)).toBe(0);
    expect([planeOf([0], []).rows, planeOf([0, 3], []).rows]).toEqual([0, 0]);
  });
  it("move by keys within the table", () => {
    const key = (name: string, ctrlKey = false) => moveCell({ row: 1, column: 1 }, { key: name, ctrlKey, metaKey: false }, { rows: 3, columns: 3 }, 10);
    expect([key("ArrowDown"), key("PageDown"), key("Home", true), key("End")]).toEqual(
      [{ row: 2, column: 1 }, { row: 2, column: 1 }, { row: 0, column: 0 }, { row: 1, column: 2 }]);
    expect(key("x")).toBeUndefined();
  });
});

describe("cells", () => {
  it("are written from a place on, and those that do not fit are counted", () => {
    const result = writeCells(ints([2, 3]), planeOf([2, 3], []), { row: 0, column: 1 }, [["10", "11", "12"], ["x", "1.5", "9"]]);
    expect(texts(result.tensor)).toEqual(["0", "10", "11", "3", "4", "5"]);
    expect(result).toMatchObject({ written: 2, wrong: 2, outside: 2, firstProblem: "needs a whole number, found 'x'" });
  });
  it("fill a range from one", () => {
    const result = writeCells(ints([2, 3]), planeOf([2, 3], []), { row: 0, column: 0 }, [["7"]], { top: 0, left: 0, bottom: 1, right: 1 });
    expect(texts(result.tensor)).toEqual(["7", "7", "2", "7", "7", "5"]);
  });
  it("go into a vector one after another, and make room where they may", () => {
    const all = { top: 0, left: 0, bottom: 0, right: 0 };
    const column = [["7"], ["8"], ["9"]];
    const kept = pasteCells(ints([12]), [], { row: 1, column: 0 }, column, all, false);
    expect([texts(kept.tensor).slice(9), kept.outside]).toEqual([["9", "7", "8"], 1]);
    expect(texts(pasteCells(ints([12]), [], { row: 1, column: 0 }, column, all, true).tensor).slice(9)).toEqual(["9", "7", "8", "9"]);
    expect(pasteCells(ints([]), [], { row: 0, column: 0 }, [["1", "2"], ["3", "4"], ["5", "6"]], all, true).tensor.shape).toEqual([3, 2]);
    const grown = pasteCells(ints([2, 2]), [], { row: 1, column: 1 }, [["7", "8"], ["9", "10"]], all, true).tensor;
    expect([grown.shape, texts(grown)]).toEqual([[3, 3], ["0", "1", "0", "2", "7", "8", "0", "9", "10"]]);
  });
  it("become a tensor", () => {
    expect(tensorOfCells("DT_FLOAT", [["1", "2"], ["3"]]).tensor).toMatchObject({ shape: [2, 2] });
    expect(tensorOfCells("DT_FLOAT", [["1"], ["2"], [""]]).tensor.shape).toEqual([2]);
    expect(tensorOfCells("DT_FLOAT", [["5"]]).tensor.shape).toEqual([]);
  });
  it("change type and shape", () => {
    expect(castTensor(floats([3], [1, 2.5, "nan"]), "DT_INT32")).toMatchObject({ wrong: 2 });
    expect(texts(castTensor(floats([2], [0, 1]), "DT_BOOL").tensor)).toEqual(["false", "true"]);
    expect(texts(reshapeTensor(ints([2, 3]), [3, 2]))).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(texts(reshapeTensor(ints([2, 3]), [3, 4]))).toEqual(["0", "1", "2", "0", "3", "4", "5", "0", "0", "0", "0", "0"]);
    expect(texts(reshapeTensor(ints([2, 3]), [2]))).toEqual(["0", "1"]);
    expect([parseShape("2, 3"), parseShape("[4][5]"), parseShape(""), parseShape("2,x"), parseShape("99999999")]).toEqual([[2, 3], [4, 5], [], undefined, undefined]);
  });
});

describe("pictures", () => {
  it("know their axes", () => {
    expect(pictureAxes([8, 28, 28, 1])).toEqual({ row: 1, column: 2, channel: 3 });
    expect(pictureAxes([3, 32, 32])).toEqual({ row: 1, column: 2, channel: 0 });
    expect(pictureAxes([5, 7])).toEqual({ row: 0, column: 1 });
    expect(pictureAxes([5])).toBeUndefined();
  });
  it("have colours by value, and a colour of its own for NaN", () => {
    const picture = drawPicture([0, 1, NaN, 0.5], [2, 2], { axes: { row: 0, column: 1 }, place: [], low: 0, high: 1, colours: "grey" });
    expect([...picture.pixels.slice(0, 12)]).toEqual([0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 200, 255]);
    expect(colourTable("heat").slice(-3)).toEqual(new Uint8ClampedArray([253, 231, 37]));
  });
  it("take a slice of channels first, and are thinned out", () => {
    const values = Float32Array.from({ length: 2 * 3 * 4 }, (_, i) => i);
    const rgb = drawPicture(values, [2, 3, 2, 2], { axes: { row: 2, column: 3, channel: 1 }, place: [1], low: 0, high: 255, colours: "rgb" });
    expect([...rgb.pixels.slice(0, 3)]).toEqual([12, 16, 20]);
    expect(drawPicture(new Float32Array(100 * 60), [100, 60], { axes: { row: 0, column: 1 }, place: [], low: 0, high: 1, colours: "grey", most: 50 })).toMatchObject({ width: 30, height: 50 });
  });
});

describe("TensorTable", () => {
  function Editable({ start, edited }: { start: TensorValue; edited(tensor: TensorValue): void }) {
    const [tensor, setTensor] = useState(start);
    return <TensorTable tensor={tensor} name="x.value" onEdit={(next) => { setTensor(next); edited(next); }} />;
  }

  it("is edited by keyboard; a wrong text is told and not taken", () => {
    const edited = vi.fn();
    const host = mount(<Editable start={ints([2, 2])} edited={edited} />);
    const grid = host.querySelector('[role="grid"]')!;
    press(grid, "ArrowRight");
    press(grid, "5");
    const input = host.querySelector<HTMLInputElement>(".w-tensor-editor")!;
    expect(input.value).toBe("5");
    typeInto(input, "5x");
    press(input, "Enter");
    expect(edited).not.toHaveBeenCalled();
    expect(host.querySelector(".w-tensor-fault")!.textContent).toBe("needs a whole number, found '5x'");
    typeInto(input, "55");
    press(input, "Enter");
    expect(texts(edited.mock.calls[0]![0] as TensorValue)).toEqual(["0", "55", "2", "3"]);
    expect(host.querySelector("code")!.textContent).toBe("[1,1]");
    press(grid, "Delete");
    expect(texts(edited.mock.calls[1]![0] as TensorValue)).toEqual(["0", "55", "2", "0"]);
  });

  it("takes what was written when the focus leaves, unless that was given up", () => {
    const edited = vi.fn();
    const host = mount(<Editable start={ints([2, 2])} edited={edited} />);
    const grid = host.querySelector('[role="grid"]')!;
    press(grid, "7");
    act(() => host.querySelector<HTMLInputElement>(".w-tensor-editor")!.blur());
    expect(texts(edited.mock.calls[0]![0] as TensorValue)).toEqual(["7", "1", "2", "3"]);
    expect(host.querySelector(".w-tensor-editor")).toBeNull();
    press(grid, "8");
    press(host.querySelector(".w-tensor-editor"), "Escape");
    expect(edited).toHaveBeenCalledOnce();
  });

  it("cannot be edited without onEdit, and mounts only what is in view", () => {
    const host = mount(<TensorTable tensor={zeros("DT_INT32", [2000, 500])} name="big" />);
    const grid = host.querySelector('[role="grid"]')!;
    press(grid, "5");
    expect(host.querySelector(".w-tensor-editor")).toBeNull();
    expect(host.querySelectorAll('[role="gridcell"]').length).toBeLessThan(1500);
    expect(grid.getAttribute("aria-rowcount")).toBe("2001");
    press(grid, "End", { ctrlKey: true });
    expect(host.querySelector("code")!.textContent).toBe("[1999,499]");
  });

  it("copies the selection as a spreadsheet takes it, and pastes", () => {
    const edited = vi.fn();
    const host = mount(<Editable start={ints([2, 2])} edited={edited} />);
    const grid = host.querySelector('[role="grid"]')!;
    press(grid, "End", { ctrlKey: true, shiftKey: true });
    let copied = "";
    const clipboard = (type: string, data: object) => act(() => { grid.dispatchEvent(Object.assign(new Event(type, { bubbles: true, cancelable: true }), { clipboardData: data })); });
    clipboard("copy", { setData: (_: string, value: string) => { copied = value; } });
    expect(copied).toBe("0\t1\n2\t3");
    clipboard("paste", { getData: () => "9\t8\n7\t6" });
    expect(texts(edited.mock.calls[0]![0] as TensorValue)).toEqual(["9", "8", "7", "6"]);
  });
});

describe("TensorInspector", () => {
  it("jumps to each NaN in turn, also in another plane", () => {
    const host = mount(<TensorInspector name="w.ref" tensor={floats([2, 1, 3], [1, 2, "nan", 4, "inf", 6])} run={3} />);
    const jump = host.querySelector<HTMLElement>("button.w-tensor-warn")!;
    expect(jump.textContent).toBe("1 NaN, 1 infinite");
    act(() => jump.click());
    expect(host.querySelector("code")!.textContent).toBe("[0,0,2]");
    act(() => jump.click());
    expect(host.querySelector("code")!.textContent).toBe("[1,0,1]");
    expect(host.querySelector(".w-tensor-note")!.textContent).toBe("run 3");
  });

  it("asks for other slices on the axes that it lacks alone", () => {
    const onPlace = vi.fn();
    const host = mount(<TensorInspector name="w" tensor={floats([2, 1, 3], [1, 2, 3, 4, 5, 6])} fullShape={[5, 2, 1, 3]} place={[1]} onPlace={onPlace} />);
    const inputs = [...host.querySelectorAll<HTMLInputElement>('input[type="number"]')];
    expect(inputs.map((input) => [input.getAttribute("aria-label"), input.value])).toEqual([["Index on axis 0, 0 to 4", "1"], ["Index on axis 0, 0 to 1", "0"]]);
    act(() => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!.call(inputs[0], "3");
      inputs[0]!.dispatchEvent(new Event("input", { bubbles: true }));
    });
    expect(onPlace).toHaveBeenCalledWith([3]);
  });

  it("has a table alone for strings", () => {
    const host = mount(<TensorInspector name="s" tensor={{ dtype: "DT_STRING", shape: [1], data: ["a"] }} />);
    expect([...host.querySelectorAll('[role="tab"]')].map((tab) => tab.textContent)).toEqual(["Table"]);
  });
});
