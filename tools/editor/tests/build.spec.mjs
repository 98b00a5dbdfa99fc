// Pages are built: by the mouse, by the keyboard alone, by what fits a loose wire.
import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { check, closeBrowser, Editor, launch } from "./lib/editor.mjs";
import { sample, Server } from "./lib/server.mjs";

describe("building", () => {
  let server;
  before(async () => {
    server = await Server.start({ pages: [sample("xor")] });
    await launch();
  });
  after(async () => {
    await closeBrowser();
    await server.stop();
  });

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

    // a value in the table of the input, as a spreadsheet has it
    await editor.select("const");
    await editor.inspector.getByRole("button", { name: /const\.value/ }).last().click();
    const value = editor.dialog("Value of const.value");
    await value.getByRole("textbox", { name: "Shape" }).fill("2, 2");
    await value.getByRole("textbox", { name: "Shape" }).press("Enter");
    await value.getByRole("grid").focus();
    await tab.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "1\t2\n3\t4");
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await value.getByRole("button", { name: "Set value" }).click();
    await editor.eventually(async () => {
      const page = await editor.json();
      assert.deepEqual(page.blocks.find((b) => b.id === "const").inputs.value, { dtype: "DT_FLOAT", shape: [2, 2], values: [1, 2, 3, 4] });
    });

    // the axis in place: a new constant by dropping a wire beside
    await editor.select("mean");
    await editor.inspector.getByRole("button", { name: /mean\.axis/ }).last().click();
    const axis = editor.dialog("Value of mean.axis");
    await axis.getByRole("combobox", { name: "Type" }).selectOption("DT_INT32");
    await axis.getByRole("textbox", { name: "Shape" }).fill("2");
    await axis.getByRole("textbox", { name: "Shape" }).press("Enter");
    await axis.getByRole("grid").focus();
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.type("1\n");
    await axis.getByRole("button", { name: "Set value" }).click();

    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.block("mean").getByText("7.5").waitFor();
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
      await press("Control+Shift+e");
      await tab.waitForTimeout(120);
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
