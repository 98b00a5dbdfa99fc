// A server answers late: what the user did meanwhile stands.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, launch, serve } from "./lib/editor.mjs";
import { logarithm } from "./lib/pages.mjs";
import { sample } from "./lib/server.mjs";
import { gateSocket, hold } from "./lib/slow.mjs";

/** Where the canvas is: as React Flow places what is on it. */
const view = (editor) => editor.canvas.locator(".react-flow__viewport").evaluate((element) => element.style.transform);

/** Adds a block by a double click on an empty place; its answer is not awaited. */
async function addByDoubleClick(editor, type, x, y) {
  await editor.tab.mouse.dblclick(x, y);
  const box = editor.dialog("Add a block").getByRole("combobox");
  await box.fill(type);
  await editor.dialog("Add a block").getByRole("option", { selected: true }).filter({ hasText: type }).first().waitFor();
  await box.press("Enter");
}

/** Waits until the server's answer to the addition has been told. */
const added = (editor, type) => editor.eventually(async () => assert.match(await editor.told.textContent(), new RegExp(`^Add ${type}`, "i")));

/** Drags the canvas by an empty place at its lower left. */
async function pan(editor, dx, dy) {
  const box = await editor.canvas.boundingBox();
  const { mouse } = editor.tab;
  await mouse.move(box.x + 30, box.y + box.height - 60);
  await mouse.down();
  await mouse.move(box.x + 30 + dx, box.y + box.height - 60 + dy, { steps: 5 });
  await mouse.up();
}

describe("meanwhile", () => {
  const server = serve({ pages: [sample("xor"), { "logarithm.page.json": logarithm }] });

  /** The page in a window that hears of the server's events when it is let. */
  async function openGated() {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const events = await gateSocket(context);
    return { events, editor: await Editor.open(server, "logarithm.page.json", { context }) };
  }

  check("a block that was selected while another was added stays selected", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    const answer = await hold(editor.tab, "PATCH");
    await addByDoubleClick(editor, "Square", 500, 520);
    await editor.inspects("square");
    await editor.select("sum");
    answer();
    await added(editor, "square");
    await editor.inspects("sum");
    assert.equal(await editor.tab.locator(".react-flow__node.selected").count(), 1);
    await editor.close();
  });

  check("a block that was selected while a note was added stays selected", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    const answer = await hold(editor.tab, "PATCH");
    await editor.toCanvas();
    await editor.tab.keyboard.press("n");
    await editor.tab.locator(".react-flow__node-note.selected").waitFor();
    await editor.select("sum");
    answer();
    await editor.caughtUp("logarithm.page.json");
    await editor.inspects("sum");
    await editor.close();
  });

  check("an edit that is on its way can be undone by the button, and saved", async () => {
    const { editor, events } = await openGated();
    await editor.select("sum");
    const answer = await hold(editor.tab, "PATCH");
    events.hold();
    assert.ok(await editor.button("Undo").isDisabled());
    await editor.toCanvas();
    await editor.tab.keyboard.press("Delete");
    await editor.block("sum").waitFor({ state: "detached" });
    await editor.eventually(async () => assert.ok(await editor.button(/^Undo/).isEnabled()));
    assert.ok(await editor.button("Save").isEnabled());
    await editor.button(/^Undo/).click();
    await editor.block("sum").waitFor();
    answer();
    events.release();
    await editor.caughtUp("logarithm.page.json");
    await editor.button("Redo: Remove sum").waitFor();
    await editor.block("sum").waitFor();
    await editor.close();
  });

  check("the canvas stays where it was moved to while a block was added", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    const answer = await hold(editor.tab, "PATCH");
    await editor.tab.keyboard.press("Control+Shift+B");
    const search = editor.tab.getByRole("searchbox", { name: "Search blocks" });
    await editor.eventually(async () => assert.ok(await search.evaluate((element) => element === document.activeElement)));
    await search.fill("Square");
    await editor.tab.getByRole("group", { name: "Blocks" }).getByRole("button", { name: /^Square\b/ }).first().click();
    await editor.block("square").waitFor();
    await pan(editor, 120, -90);
    const before = await view(editor);
    answer();
    await added(editor, "square");
    await editor.tab.waitForTimeout(300); // a move takes 200 ms
    assert.equal(await view(editor), before);
    await editor.close();
  });

  check("the canvas stays where it was moved to while blocks were arranged", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    const answer = await hold(editor.tab, "PATCH");
    await editor.command("Arrange");
    const at = await editor.block("x").evaluate((node) => node.style.transform);
    await editor.eventually(async () => assert.notEqual(await editor.block("x").evaluate((node) => node.style.transform), at));
    await pan(editor, 120, -90);
    const before = await view(editor);
    answer();
    await editor.caughtUp("xor.page.json");
    await editor.tab.waitForTimeout(300);
    assert.equal(await view(editor), before);
    await editor.close();
  });

  check("the focus stays where it was moved to after a command that leads elsewhere", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.select("sum");
    await editor.tab.clock.install();
    await editor.tab.clock.pauseAt(Date.now() + 60_000);
    const note = editor.inspector.getByLabel("Note");
    for (const key of ["F2", "Control+Shift+B", "Control+Shift+E"]) {
      await editor.tab.keyboard.press(key);
      await note.click();
      await editor.tab.clock.runFor(1000);
      assert.ok(await note.evaluate((element) => element === document.activeElement), `${key} took the focus`);
    }
    await editor.close();
  });

  check("the focus stays where it was moved to while a block was added", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    const answer = await hold(editor.tab, "PATCH");
    await addByDoubleClick(editor, "Square", 500, 520);
    await editor.inspects("square");
    const note = editor.inspector.getByLabel("Note");
    await note.fill("typed");
    answer();
    await added(editor, "square");
    assert.ok(await note.evaluate((element) => element === document.activeElement));
    assert.equal(await note.inputValue(), "typed");
    await editor.close();
  });

  check("what is typed while a block's new name is on its way stays, and the name is asked for once", async () => {
    const { editor, events } = await openGated();
    await editor.select("sum");
    const answer = await hold(editor.tab, "PATCH");
    events.hold();
    const id = editor.inspector.getByLabel("Id", { exact: true });
    const note = editor.inspector.getByLabel("Note");
    await id.fill("total");
    await editor.tab.keyboard.press("Enter");
    await note.click(); // the name loses the focus before the server has answered
    await editor.tab.keyboard.type("all of it");
    answer();
    events.release();
    await editor.block("total").waitFor();
    await editor.tab.waitForTimeout(300);
    assert.equal(await note.inputValue(), "all of it");
    assert.ok(await note.evaluate((element) => element === document.activeElement));
    assert.equal(await editor.tab.getByRole("alert").count(), 0);
    await id.focus();
    await editor.eventually(async () => assert.match(await editor.text("logarithm.page.json"), /all of it/));
    await editor.close();
  });

  check("a run that is being started says so, and is asked for once", async () => {
    const { editor, events } = await openGated();
    let asked = 0;
    editor.tab.on("request", (request) => (asked += Number(request.method() === "POST" && request.url().endsWith("/runs"))));
    const answer = await hold(editor.tab, "POST", "**/v1/runs");
    events.hold();
    await editor.button("Run").click();
    await editor.statusIs(/Starting/);
    assert.ok(await editor.button("Run").isDisabled());
    await editor.tab.keyboard.press("F5");
    answer();
    events.release();
    await editor.statusIs(/Done/);
    assert.equal(asked, 1);
    await editor.close();
  });

  check("dialogs say that they read", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    const files = await hold(editor.tab, "GET", "**/v1/files");
    await editor.tab.keyboard.press("Control+o");
    const open = editor.dialog("Open a page");
    await open.getByText("Reading…").waitFor();
    files();
    await open.getByRole("button", { name: /^xor\.page\.json/ }).first().waitFor();
    assert.equal(await open.getByText("Reading…").count(), 0);
    await editor.tab.keyboard.press("Escape");
    await editor.select("logs");
    const values = await hold(editor.tab, "GET", "**/v1/pages/*/value*");
    await editor.inspector.getByRole("button", { name: /nan/i }).click();
    const value = editor.dialog("logs.y");
    await value.getByText("Reading…").waitFor();
    await editor.tab.keyboard.press("Escape");
    await editor.inspector.getByRole("button", { name: "logs.y" }).first().click();
    await editor.tab.getByRole("menuitem", { name: "Feed in every run…" }).click();
    const feed = editor.dialog("Value of logs.y");
    await feed.getByText("Reading…").waitFor();
    values();
    await feed.getByRole("grid").waitFor();
    await editor.close();
  });

  check("a page that is being read says so, and is not called empty", async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const answer = await hold(context, "GET", "**/v1/pages/*/view");
    const tab = await context.newPage();
    await tab.addInitScript(() => localStorage.setItem("weft.editor.settings", JSON.stringify({ tourSeen: true, bottom: true, bottomTab: "faults", leftTab: "outline" })));
    await tab.goto(server.at("logarithm.page.json"));
    await tab.getByText("Opening the page…").first().waitFor();
    for (const wrong of ["An empty page", "Nothing is wrong with this page.", /\b0 blocks/]) assert.equal(await tab.getByText(wrong).count(), 0, `says ${wrong}`);
    answer();
    await tab.locator('.react-flow__node-block[data-id="sum"]').waitFor();
    await tab.getByText("Opening the page…").first().waitFor({ state: "detached" });
    await tab.getByText("Nothing is wrong with this page.").waitFor();
    await context.close();
  });

  check("a page that is being opened is named, and no start screen is shown before it", async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const tab = await context.newPage();
    await tab.addInitScript(() => localStorage.setItem("weft.editor.settings", JSON.stringify({ tourSeen: true })));
    const answer = await hold(tab, "POST", "**/v1/pages");
    await tab.goto(server.at("logarithm.page.json"));
    const opening = tab.getByText("Opening logarithm.page.json…");
    await opening.waitFor();
    assert.equal(await tab.getByRole("button", { name: "Take the tour" }).count(), 0);
    answer();
    await tab.locator('.react-flow__node-block[data-id="sum"]').waitFor();
    assert.equal(await opening.count(), 0);
    // another one, from the dialog
    const second = await hold(tab, "POST", "**/v1/pages");
    await tab.keyboard.press("Control+o");
    await tab.getByRole("dialog").getByRole("button", { name: /^xor\.page\.json/ }).first().click();
    await tab.getByText("Opening xor.page.json…").waitFor();
    second();
    await tab.getByRole("tab", { name: "xor", selected: true }).waitFor();
    await tab.getByText("Opening xor.page.json…").waitFor({ state: "detached" });
    await context.close();
  });

  check("a page that could not be read says so, and is read again when asked", async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    await context.route("**/v1/pages/*/view", (route) => route.abort());
    const tab = await context.newPage();
    await tab.addInitScript(() => localStorage.setItem("weft.editor.settings", JSON.stringify({ tourSeen: true })));
    await tab.goto(server.at("logarithm.page.json"));
    await tab.getByText("The page could not be read").waitFor();
    await context.unroute("**/v1/pages/*/view");
    await tab.getByRole("button", { name: "Try again" }).click();
    await tab.locator('.react-flow__node-block[data-id="sum"]').waitFor();
    assert.equal(await tab.getByText("The page could not be read").count(), 0);
    await context.close();
  });
});
