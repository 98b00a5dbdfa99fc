// What goes wrong is said: files that are no pages, a server that is gone, connections that break.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, launch, serve } from "./lib/editor.mjs";
import { logarithm } from "./lib/pages.mjs";
import { breakable } from "./lib/slow.mjs";

/** Drops files on the canvas, or where it would be. */
const drop = (editor, ...files) => editor.tab.evaluate((list) => {
  const data = new DataTransfer();
  for (const [name, text] of list) data.items.add(new File([text], name));
  (document.querySelector(".w-canvas") ?? document.querySelector(".w-empty")).dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, files);

const alerts = (editor) => editor.tab.getByRole("region", { name: "Notifications" }).getByRole("alert");

describe("wrong", () => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
  const server = serve({ pages: [{ "logarithm.page.json": logarithm, "letter.page.json": "Dear reader", "picture.svg": picture }] });

  check("a file that is no page is refused by its name, from the list and by dropping it", async () => {
    const editor = await Editor.open(server);
    await editor.tab.keyboard.press("Control+o");
    await editor.dialog("Open a page").getByRole("button", { name: /^letter/ }).first().click();
    await alerts(editor).filter({ hasText: "“letter.page.json” was not opened: " }).waitFor();
    await drop(editor, ["torn.page.json", "{]"]);
    await alerts(editor).filter({ hasText: "“torn” was not opened: " }).waitFor();
    await drop(editor, ["photo.png", "1"]);
    await alerts(editor).filter({ hasText: "“photo.png” is no page" }).waitFor();
    await drop(editor, ["one.page.json", JSON.stringify({ ...logarithm, page: "one" })], ["two.json", JSON.stringify({ ...logarithm, page: "two" })]);
    for (const name of [/^one/, /^two/]) await editor.tab.getByRole("tab", { name }).waitFor();
    await editor.canvas.waitFor();
    await drop(editor, ["weights.npy", "1"]);
    await alerts(editor).filter({ hasText: "“weights.npy” is no page" }).waitFor();
    await editor.close();
  });

  check("an SVG without blocks is told to be a picture", async () => {
    const editor = await Editor.open(server);
    await editor.tab.keyboard.press("Control+o");
    await editor.dialog("Open a page").getByRole("button", { name: /^picture.svg/ }).first().click();
    await alerts(editor).filter({ hasText: "“picture.svg” was not opened: " }).filter({ hasText: "found a picture" }).waitFor();
    await editor.close();
  });

  check("a server that is gone is told once, and the list of files says why it is empty", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.select("sum");
    await editor.context.route("**/v1/**", (route) => route.abort());
    for (const key of ["F9", "F5", "Control+d"]) await editor.tab.keyboard.press(key);
    const gone = alerts(editor).filter({ hasText: "The server does not answer." });
    await gone.first().waitFor();
    await editor.tab.waitForTimeout(500);
    assert.equal(await gone.count(), 1);
    assert.equal(await editor.blocks.count(), 4, "what was not done is not shown");
    await editor.tab.keyboard.press("Control+o");
    await editor.dialog("Open a page").getByText("The server does not answer.").waitFor();
    await editor.close();
  });

  check("a connection that broke comes back, with what happened meanwhile", async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const connection = await breakable(context);
    const editor = await Editor.open(server, "logarithm.page.json", { context });
    const page = await server.pageId("logarithm.page.json");
    await editor.select("sum");
    connection.cut();
    await editor.tab.getByText("The server is gone").waitFor();
    await server.call("PATCH", `/pages/${page}`, { edits: [{ op: "add", block: { id: "late", block: "Square", inputs: { x: "logs.y" } }, layout: [500, 240] }] });
    const run = await server.call("POST", "/runs", { page, steps: 1 });
    connection.mend();
    await editor.tab.getByText("The server is gone").waitFor({ state: "detached" });
    await editor.block("late").waitFor();
    await editor.statusIs(/Done/);
    assert.ok(run.id);
    await editor.inspects("sum");
    // and it goes on
    await editor.tab.keyboard.press("Control+z");
    await editor.block("late").waitFor({ state: "detached" });
    await editor.close();
  });
});
