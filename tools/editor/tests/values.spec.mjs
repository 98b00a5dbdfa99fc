// Values that come from elsewhere: a spreadsheet, numpy's files, the saved state of variables.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";
import { logarithm } from "./lib/pages.mjs";

/** A .npy file of doubles. */
function npy(shape, values) {
  const header = `{'descr': '<f8', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const text = `${header.padEnd(117)}\n`;
  const file = Buffer.alloc(10 + text.length + 8 * values.length);
  file.write("\x93NUMPY\x01\x00", "latin1");
  file.writeUInt16LE(text.length, 8);
  file.write(text, 10, "latin1");
  values.forEach((value, i) => file.writeDoubleLE(value, 10 + text.length + 8 * i));
  return file;
}

/** Drops a file on a part of the window as a desktop does. */
async function dropFile(locator, name, bytes) {
  await locator.evaluate((element, [fileName, content]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(content)], fileName));
    for (const type of ["dragover", "drop"]) element.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }, [name, [...bytes]]);
}

describe("values", () => {
  const server = serve({ pages: [sample("xor"), { "logarithm.page.json": logarithm }] });

  check("a value on a block is changed in place: all of it is there to change, and nothing but a change changes it", async () => {
    const long = "a text of many more letters than a block shows";
    await server.write("places.page.json", {
      weft: 1, page: "places",
      blocks: [
        { id: "third", block: "Const", inputs: { value: { dtype: "DT_FLOAT", shape: [], values: [0.33333334] } } },
        { id: "words", block: "Const", inputs: { value: { dtype: "DT_STRING", shape: [], values: [long] } } },
      ],
      layout: { third: [40, 80], words: [40, 240] },
    });
    const editor = await Editor.open(server, "places.page.json");
    const { tab } = editor;
    const field = (port) => editor.canvas.getByRole("textbox", { name: `Value of ${port}` });
    const edit = async (id) => {
      await editor.block(id).locator(".w-port-literal").dblclick();
      await field(`${id}.value`).waitFor();
      return field(`${id}.value`);
    };
    const steps = async () => (await server.call("GET", `/pages/${await server.pageId("places.page.json")}`)).undo;
    const valueOf = async (id) => (await editor.json("places.page.json")).blocks.find((block) => block.id === id).inputs.value.values;
    for (const [id, stored] of [["third", "0.33333334"], ["words", long]]) {
      assert.equal(await (await edit(id)).inputValue(), stored);
      await tab.keyboard.press("Enter");
      await field(`${id}.value`).waitFor({ state: "detached" });
    }
    await (await edit("third")).fill("5");
    await tab.keyboard.press("Escape");
    await field("third.value").waitFor({ state: "detached" });
    assert.equal(await steps(), 0);
    await (await edit("third")).fill("half");
    await tab.keyboard.press("Enter");
    await tab.getByRole("alert").filter({ hasText: "“half” is not a value" }).waitFor();
    await field("third.value").fill("0.5");
    await editor.select("words"); // a press elsewhere takes what was typed
    await editor.eventually(async () => assert.deepEqual(await valueOf("third"), [0.5]));
    assert.deepEqual(await valueOf("words"), [long]);
    assert.equal(await steps(), 1);
    await editor.close();
  });

  check("cells of a spreadsheet are pasted, in the shape that they have there", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.select("x");
    await editor.setValue("x.value", { dtype: "DT_FLOAT", shape: [2, 3], values: [1, 2, 3, 4, 5, "0.5"] });
    await editor.eventually(async () => assert.deepEqual(
      (await editor.json("logarithm.page.json")).blocks[0].inputs.value, { dtype: "DT_FLOAT", shape: [2, 3], values: [1, 2, 3, 4, 5, 0.5] }));
    await editor.close();
  });

  check("a .npy file that is dropped on an input is its value; one that is none is refused with the reason", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.select("x");
    const row = editor.inspector.getByRole("listitem").filter({ hasText: "value" }).first();
    await dropFile(row, "three.npy", npy([3], [1, 2.5, -4]));
    await editor.eventually(async () => assert.deepEqual(
      (await editor.json("logarithm.page.json")).blocks[0].inputs.value, { dtype: "DT_DOUBLE", shape: [3], values: [1, 2.5, -4] }));
    await dropFile(row, "broken.npy", Buffer.from("no numpy here"));
    await editor.dialog("Value of x.value").getByText(/no \.npy file/).waitFor();
    await editor.tab.keyboard.press("Escape");
    assert.deepEqual((await editor.json("logarithm.page.json")).blocks[0].inputs.value.values, [1, 2.5, -4]);
    await editor.close();
  });

  check("variables are saved to a file, and restored from it", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    const value = () => editor.details.getByRole("row").filter({ hasText: "b1" }).locator("td").nth(1).innerText();
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.show("Variables");
    await editor.details.getByRole("row").filter({ hasText: "b1" }).waitFor();
    const saved = await value();
    await editor.details.getByRole("button", { name: "Save all to a file…" }).click();
    await editor.dialog().getByRole("combobox", { name: "File" }).fill("after-one.weftstate");
    await editor.tab.keyboard.press("Enter");
    await editor.dialog().waitFor({ state: "detached" });
    await editor.button("Run").click();
    await editor.statusIs(/Done[\s\S]*run 2/); // nothing is restored while it runs
    await editor.eventually(async () => assert.notEqual(await value(), saved));
    await editor.details.getByRole("button", { name: "Restore from a file…" }).click();
    await editor.dialog().getByRole("combobox", { name: "File" }).fill("after-one.weftstate");
    await editor.tab.keyboard.press("Enter");
    await editor.eventually(async () => assert.equal(await value(), saved));
    await editor.close();
  });
});
