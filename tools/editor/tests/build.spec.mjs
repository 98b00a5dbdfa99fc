// Pages are built: by the mouse, by the keyboard alone, by what fits a loose wire.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";

describe("building", () => {
  const server = serve({ pages: [sample("xor")] });

  check("a page from an empty one by the mouse", async () => {
    const editor = await Editor.open(server);
    const { tab } = editor;
    await editor.button("New page").click();
    await tab.getByText("An empty page").waitFor();
    await editor.insert("Const", 360, 200);
    await editor.insert("Square", 620, 200);
    await editor.insert("Mean", 820, 400);
    await editor.drag("const.output", "square.x");
    await editor.drag("square.y", "mean.input");
    await editor.wire("mean.input").waitFor({ state: "attached" });

    // values in tables, pasted as from a spreadsheet
    await editor.select("const");
    await editor.setValue("const.value", { dtype: "DT_FLOAT", shape: [2, 2], values: [1, 2, 3, 4] });
    await editor.select("mean");
    await editor.setValue("mean.axis", { dtype: "DT_INT32", shape: [2], values: [0, 1] });
    await editor.eventually(async () => {
      const { blocks } = await editor.json();
      assert.deepEqual(blocks.find((b) => b.id === "const").inputs.value, { dtype: "DT_FLOAT", shape: [2, 2], values: [1, 2, 3, 4] });
      assert.deepEqual(blocks.find((b) => b.id === "mean").inputs.axis, { dtype: "DT_INT32", shape: [2], values: [0, 1] });
    });

    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.block("mean").getByText("7.5").waitFor();
    await editor.close();
  });

  check("the XOR page from an empty one by the mouse trains to the same loss", async () => {
    const wanted = JSON.parse(await server.read("xor.page.json"));
    const editor = await Editor.open(server, undefined, { viewport: { width: 2000, height: 1300 }, settings: { left: false, minimap: false } });
    const { tab } = editor;
    await editor.command("New page");
    await tab.getByText("An empty page").waitFor();
    for (const [k, { id, block, attrs, inputs = {} }] of wanted.blocks.entries()) {
      await editor.insert(block, 30 + 270 * (k % 6), 110 + 290 * Math.floor(k / 6));
      const name = editor.inspector.getByLabel("Id", { exact: true });
      await editor.eventually(async () => assert.match(await name.inputValue(), new RegExp(`^${block.slice(0, 1)}`, "i")));
      if ((await name.inputValue()) !== id) {
        await name.fill(id);
        await name.press("Enter");
      }
      await editor.block(id).waitFor();
      if (attrs) {
        const text = editor.inspector.getByLabel("As text");
        await text.fill(attrs);
        await text.blur();
      }
      for (const [port, value] of Object.entries(inputs)) if (Array.isArray(value.values)) await editor.setValue(`${id}.${port}`, value);
    }
    for (const { id, inputs = {} } of wanted.blocks) {
      for (const [port, value] of Object.entries(inputs)) {
        for (const [k, from] of [value].flat().entries()) {
          if (typeof from !== "string") continue;
          if (!from.endsWith(".operation")) await editor.drag(from, `${id}.${port}`);
          else {
            // operations have no port of their own in sight: the input's list of what fits
            await editor.select(id);
            await editor.inspector.getByRole("button", { name: `Connect… ${id}.${port}` }).click();
            await editor.dialog(`Connect ${id}`).getByRole("option", { name: from }).click();
          }
          await editor.wire(Array.isArray(value) ? `${id}.${port}[${k}]` : `${id}.${port}`).waitFor({ state: "attached" });
        }
      }
    }
    const pages = (await server.call("GET", "/pages")).pages;
    const { id } = pages.at(-1);
    await editor.eventually(async () => assert.deepEqual(JSON.parse(await server.call("GET", `/pages/${id}/text`)).blocks, wanted.blocks));
    await tab.keyboard.press("Control+F5");
    await editor.dialog("Run N times").getByLabel("Times").fill("500");
    await tab.keyboard.press("Enter");
    await editor.statusIs(/Done/, 60_000);
    const { values } = await server.call("POST", `/pages/${id}/values`, { names: ["loss.output"] });
    assert.ok(values["loss.output"].first[0] < 0.01, `loss ${values["loss.output"].text}`);
    await editor.close();
  });

  check("what fits the end of a loose wire", async () => {
    const editor = await Editor.open(server);
    await editor.command("New page");
    await editor.tab.getByText("An empty page").waitFor();
    await editor.insert("Const", 360, 300);
    const [x, y] = await editor.middle(editor.port("const.output"));
    await editor.tab.mouse.move(x, y);
    await editor.tab.mouse.down();
    await editor.tab.mouse.move(620, 360, { steps: 5 });
    await editor.tab.mouse.up();
    const quick = editor.dialog("Add a block to const.output");
    await quick.getByRole("combobox").fill("ClientSession");
    await quick.getByText(/No block matches|ClientSession/).first().waitFor();
    await quick.getByRole("combobox").fill("Tanh");
    await quick.getByRole("option", { name: /^Tanh\b/ }).first().waitFor();
    await quick.getByRole("combobox").press("Enter");
    await editor.wire("tanh.x").waitFor({ state: "attached" });
    await editor.close();
  });

  check("blocks are dragged from the list onto the page", async () => {
    const editor = await Editor.open(server);
    await editor.command("New page");
    await editor.tab.getByText("An empty page").waitFor();
    await editor.tab.getByRole("searchbox", { name: "Search blocks" }).fill("hyperbolic tangent");
    const item = editor.tab.getByRole("group", { name: "Blocks" }).getByRole("button", { name: /Tanh/ }).first();
    await item.dragTo(editor.canvas, { targetPosition: { x: 300, y: 200 } });
    await editor.block("tanh").waitFor();
    const box = await editor.block("tanh").boundingBox();
    const canvas = await editor.canvas.boundingBox();
    assert.ok(Math.hypot(box.x - canvas.x - 300, box.y - canvas.y - 200) < 120, "it lies where it was dropped");
    await editor.close();
  });

  check("copy and paste between pages keep wires, values and settings", async () => {
    const editor = await Editor.open(server, "xor.page.json", { permissions: ["clipboard-read", "clipboard-write"] });
    const { tab } = editor;
    const original = await server.read("xor.page.json");
    await editor.find("hidden");
    for (const key of ["Control+a", "Control+c", "Control+v"]) await tab.keyboard.press(key);
    await editor.eventually(async () => assert.equal((await editor.json("xor.page.json")).blocks.length, 46));
    await editor.caughtUp("xor.page.json");
    await tab.keyboard.press("Control+z");
    await editor.eventually(async () => assert.equal(await editor.text("xor.page.json"), original));
    await editor.command("New page");
    await tab.getByText("An empty page").waitFor();
    await tab.keyboard.press("Control+v");
    const { pages } = await server.call("GET", "/pages");
    const pasted = async () => JSON.parse(await server.call("GET", `/pages/${pages.at(-1).id}/text`));
    await editor.eventually(async () => assert.deepEqual((await pasted()).blocks, JSON.parse(original).blocks));
    await editor.close();
  });

  check("help follows the selection; a note lies beside what is there", async () => {
    const editor = await Editor.open(server, "xor.page.json", { settings: { right: false } });
    const { tab } = editor;
    await editor.block("z1").locator(".w-block-title").click();
    await tab.keyboard.press("F1");
    await tab.getByRole("article", { name: "BiasAdd" }).waitFor();
    await editor.block("x_w1").locator(".w-block-title").click();
    await tab.getByRole("article", { name: "MatMul" }).waitFor();
    // words of its tables stay whole
    const heights = await tab.locator(".w-help-table td:not(:first-child) code").evaluateAll((list) => list.map((code) => code.getClientRects().length));
    assert.ok(heights.length > 0 && heights.every((lines) => lines === 1), `lines of values: ${heights}`);
    await editor.button("Close: Help").click();
    await editor.inspector.getByLabel("Id", { exact: true }).waitFor();

    await tab.keyboard.press("Control+f");
    await editor.dialog("Find block").getByRole("combobox").fill("hidden");
    await tab.keyboard.press("Enter");
    await editor.toCanvas();
    await tab.keyboard.press("n");
    const note = tab.locator(".react-flow__node-note");
    await note.waitFor();
    const { x, y, width, height } = await note.boundingBox();
    for (const block of await editor.blocks.all()) {
      const other = await block.boundingBox();
      if (other) assert.ok(other.x >= x + width || other.x + other.width <= x || other.y >= y + height || other.y + other.height <= y, "the note hides no block");
    }
    await editor.caughtUp("xor.page.json");
    await tab.keyboard.press("Escape"); // out of its text
    await tab.keyboard.press("Control+z");
    await note.waitFor({ state: "detached" });
    await editor.close();
  });

  check("a new page has the focus, and what is added to it: blocks and notes by their keys alone", async () => {
    const editor = await Editor.open(server);
    const { tab } = editor;
    const focused = (selector) => editor.eventually(async () => assert.ok(await tab.evaluate((wanted) => Boolean(document.activeElement?.matches(wanted)), selector)));
    const add = async (type) => {
      await tab.keyboard.press("a");
      await editor.dialog("Add a block").waitFor();
      await tab.keyboard.type(type);
      await editor.dialog("Add a block").getByRole("option", { selected: true }).filter({ hasText: type }).first().waitFor();
      await tab.keyboard.press("Enter");
      await focused(`[data-id="${type.toLowerCase()}"]`);
    };
    await editor.button(/All commands/).focus(); // where the palette of commands gives the focus back to
    await editor.command("New page");
    await focused(".w-canvas");
    await add("Const");
    await add("Square");
    await tab.keyboard.press("w");
    await editor.dialog("Connect square").waitFor();
    await tab.keyboard.press("Escape");
    await focused('[data-id="square"]');
    // a copy is what the arrow keys move then
    const at = (block) => block.evaluate((node) => node.style.transform);
    const square = await at(editor.block("square"));
    await tab.keyboard.press("Control+d");
    await focused('.selected:not([data-id="square"])');
    const copy = editor.blocks.and(tab.locator(".selected"));
    const before = await at(copy);
    await tab.keyboard.press("ArrowDown");
    await editor.eventually(async () => assert.notEqual(await at(copy), before));
    assert.equal(await at(editor.block("square")), square);
    // a note is written as soon as it is there, and again by F2
    await tab.keyboard.press("n");
    await focused("textarea.w-note-text");
    await tab.keyboard.type("first");
    await tab.keyboard.press("Enter");
    const note = tab.locator(".react-flow__node-note");
    await note.getByText("first", { exact: true }).waitFor();
    await focused(".react-flow__node-note");
    await tab.keyboard.press("F2");
    await focused("textarea.w-note-text");
    await tab.keyboard.press("End");
    await tab.keyboard.type(" and last");
    await tab.keyboard.press("Enter");
    await note.getByText("first and last", { exact: true }).waitFor();
    const { pages } = await server.call("GET", "/pages");
    await editor.eventually(async () => {
      const { keys } = await server.call("GET", `/pages/${pages.at(-1).id}/view`);
      assert.deepEqual(keys.notes.map((entry) => entry.text), ["first and last"]);
    });
    await editor.close();
  });

  check("three blocks by the keyboard alone", async () => {
    const editor = await Editor.open(server);
    const { tab } = editor;
    const press = (...keys) => keys.reduce((done, key) => done.then(() => tab.keyboard.press(key)), Promise.resolve());
    const said = (pattern) => editor.eventually(async () => assert.match((await tab.getByRole("status").allInnerTexts()).join("\n"), pattern));
    await press("Control+k");
    await tab.keyboard.type("New page");
    await press("Enter");
    await tab.getByText("An empty page").waitFor();
    for (const type of ["Const", "Square", "Negate"]) {
      await editor.toCanvas();
      await press("a");
      await editor.dialog("Add a block").waitFor();
      await tab.keyboard.type(type);
      await editor.dialog("Add a block").getByRole("option", { selected: true }).filter({ hasText: type }).first().waitFor();
      await press("Enter");
      await editor.block(type.toLowerCase()).waitFor();
    }
    // wires from the outline, by name
    for (const [from, to] of [["const", "square.x"], ["square", "negate.x"]]) {
      await press("Control+Shift+o");
      const tree = tab.getByRole("tree");
      await editor.eventually(() => assert.doesNotReject(tree.waitFor()));
      await tree.focus();
      await press("Home");
      for (let k = 0; k < 4; k++) {
        const active = await tree.evaluate((element) => document.getElementById(element.getAttribute("aria-activedescendant"))?.getAttribute("aria-label") ?? "");
        if (new RegExp(`^${from}\\b`).test(active)) break;
        await press("ArrowDown");
      }
      await press("c");
      const connect = editor.dialog(`Connect ${from}`);
      await connect.waitFor();
      await connect.getByRole("option", { name: to }).first().waitFor();
      await connect.getByRole("combobox", { name: /To|Connect to/ }).last().focus();
      await tab.keyboard.type(to);
      await press("Enter");
      await connect.waitFor({ state: "detached" });
      await said(new RegExp(`${from}\\.\\w+ (→|connected to) ${to.replace(".", "\\.")}`));
    }
    const wires = async () => {
      const { pages } = await server.call("GET", "/pages");
      return (await server.call("GET", `/pages/${pages.at(-1).id}/view`)).wires;
    };
    await editor.eventually(async () => assert.deepEqual(await wires(), [["const.output", "square.x"], ["square.y", "negate.x"]]));
    await editor.close();
  });
});
