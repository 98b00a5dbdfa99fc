// Windows and servers come and go: several windows on a page, a server that is killed, pages of others.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "node:test";
import { check, Editor, launch, serve } from "./lib/editor.mjs";
import { design } from "./lib/pages.mjs";
import { sample } from "./lib/server.mjs";

describe("together", () => {
  const server = serve({ pages: [sample("xor"), { "design.svg": design }] });

  check("two windows on one page see each other's edits and runs", async () => {
    const one = await Editor.open(server, "xor.page.json");
    const two = await Editor.open(server, "xor.page.json");
    await one.find("loss");
    await one.inspector.getByLabel("Id", { exact: true }).fill("the_loss");
    await one.tab.keyboard.press("Enter");
    await two.find("the_loss");
    await two.tab.keyboard.press("F5");
    await one.statusIs(/Done/);
    const value = async (editor) => (await editor.block("the_loss").locator(".w-port-value").innerText());
    await one.eventually(async () => assert.equal(await value(one), await value(two)));
    // the second takes back what the first did
    await two.tab.keyboard.press("Control+z");
    await one.block("loss").waitFor();
    // breakpoints are everyone's
    await one.block("loss").getByRole("button", { name: "Pause before loss" }).click();
    await two.show("Breakpoints");
    await two.details.getByRole("checkbox", { name: /loss/ }).waitFor();
    await two.details.getByRole("button", { name: /^Remove:/ }).click();
    await one.block("loss").getByRole("button", { name: "Pause before loss", exact: true }).waitFor(); // the other name ends like it
    await one.close();
    await two.close();
  });

  check("a page stays that was opened while the server's list of pages was on its way", async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 } });
    await context.routeWebSocket(/./, (socket) => {
      const above = socket.connectToServer();
      socket.onMessage((message) => above.send(message));
      above.onMessage((message) => setTimeout(() => socket.send(message), 1000));
    });
    const editor = await Editor.open(server, "xor.page.json", { context });
    await editor.tab.waitForTimeout(1500); // the list has come by then
    assert.ok(await editor.canvas.isVisible());
    await editor.close();
  });

  check("a server that is killed and started again: unsaved edits are recovered", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    const { tab } = editor;
    const saved = await server.read("xor.page.json");
    await editor.find("squared");
    await editor.inspector.getByLabel("Note").fill("kept over a crash");
    await editor.inspector.getByLabel("Id", { exact: true }).focus();
    await editor.eventually(async () => assert.match(await editor.text("xor.page.json"), /kept over a crash/));
    const edited = await editor.text("xor.page.json");
    await server.kill("SIGKILL");
    await tab.getByText("The server is gone").waitFor();
    const port = new URL(server.origin).port;
    await server.spawn(["--port", port]);
    await tab.getByText("does not know this window any more").waitFor({ timeout: 30_000 });
    assert.equal(await server.read("xor.page.json"), saved, "the file is as it was saved");
    // the new address, in the same tab
    await tab.goto(server.at("xor.page.json"));
    await editor.ready();
    const offer = editor.dialog("Unsaved edits were kept");
    await offer.getByText("xor.page.json").waitFor();
    await offer.getByRole("button", { name: "Recover" }).click();
    await editor.eventually(async () => assert.equal(await editor.text("xor.page.json"), edited));
    await editor.find("squared");
    assert.equal(await editor.inspector.getByLabel("Note").inputValue(), "kept over a crash");
    await tab.keyboard.press("Control+s");
    await editor.eventually(async () => assert.equal(await server.read("xor.page.json"), edited));
    await editor.close();
  });

  check("a file that another program changed is not overwritten unasked", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    const mine = await server.read("xor.page.json");
    await editor.find("hidden");
    await editor.inspector.getByLabel("Note").fill("mine");
    await editor.inspector.getByLabel("Id", { exact: true }).focus();
    await editor.eventually(async () => assert.match(await editor.text("xor.page.json"), /"mine"/));
    const theirs = mine.replace(/"page": "xor"/, '"page": "theirs"');
    await server.write("xor.page.json", theirs);
    await editor.tab.keyboard.press("Control+s");
    const dialog = editor.dialog("The file was changed by another program");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await server.read("xor.page.json"), theirs);
    await editor.tab.keyboard.press("Control+s");
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await editor.eventually(async () => assert.match(await server.read("xor.page.json"), /"mine"/));
    await editor.close();
  });

  check("an enuSpace page opens in its places, runs, and is saved as it was", async () => {
    const editor = await Editor.open(server, "design.svg");
    for (const id of ["ID_A", "ID_B", "ID_MUL", "ID_SUM", "ID_RUN"]) await editor.block(id).waitFor();
    const at = async (id) => editor.middle(editor.block(id));
    const [a, b, mul, sum] = [await at("ID_A"), await at("ID_B"), await at("ID_MUL"), await at("ID_SUM")];
    assert.ok(a[0] < mul[0] && mul[0] < sum[0] && a[1] < b[1], "blocks are where the page has them");
    await editor.wire("ID_MUL.b").waitFor({ state: "attached" });
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.select("ID_SUM");
    await editor.inspector.getByRole("button", { name: /9.*49/ }).waitFor();
    assert.deepEqual(await readFile(join(server.folder, "design.svg")), design, "opening and running change nothing");
    await editor.close();
  });

  check("an unknown block stays as a placeholder", async () => {
    const page = { weft: 1, page: "foreign", blocks: [{ id: "odd", block: "SomeoneElses", inputs: { in: { text: "7" } }, extra: { kept: true } }], layout: { odd: [40, 40] } };
    await server.write("foreign.page.json", page);
    const text = await server.read("foreign.page.json");
    const editor = await Editor.open(server, "foreign.page.json");
    await editor.block("odd").getByText("unknown").waitFor();
    await editor.select("odd");
    await editor.inspector.getByText("It is kept as it is.").waitFor();
    assert.equal(await editor.text("foreign.page.json"), text);
    await editor.close();
  });
});
