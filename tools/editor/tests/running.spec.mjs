// Pages are run, watched and debugged.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";
import { faulty, logarithm } from "./lib/pages.mjs";

/** All of the page is brought into sight: only what is seen is drawn. */
async function lossIsDone(editor) {
  await editor.block("x").waitFor();
  await editor.toCanvas();
  await editor.tab.keyboard.press("Home");
  await editor.block("loss").locator(".w-block-state-done").waitFor();
}

describe("running", () => {
  const server = serve({ pages: [sample("xor"), { "logarithm.page.json": logarithm, "stepped.page.json": logarithm, "faulty.page.json": faulty }] });

  check("training with a live plot of the loss", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    await editor.show("Plots");
    await editor.details.getByRole("combobox", { name: /Value to plot/ }).fill("loss.output");
    await editor.details.getByRole("button", { name: "Plot", exact: true }).click();
    await editor.tab.keyboard.press("Control+F5");
    const steps = editor.dialog("Run N times");
    await steps.getByLabel("Times").fill("400");
    await steps.getByLabel(/Pause between runs/).fill("5"); // in all two seconds, in which "Running" is seen
    await steps.getByRole("button", { name: "Run" }).click();
    // points arrive while it runs
    await editor.statusIs(/Running/);
    const chart = editor.details.getByRole("group", { name: /Trend of loss\.output/ });
    await chart.locator("canvas").first().waitFor();
    await editor.statusIs(/Done/, 30_000);
    assert.match(await editor.status.innerText(), /run 400/);
    await editor.details.getByRole("button", { name: "Show as a table" }).click();
    await editor.eventually(async () => {
      const rows = await editor.details.getByRole("table").first().getByRole("row").allInnerTexts();
      const numbers = rows.map((row) => Number(row.split(/\s+/).at(-1))).filter(Number.isFinite);
      assert.ok(numbers.length > 10, `${rows.length} rows`);
      assert.ok(numbers.at(-1) < 0.2 && numbers.at(-1) < numbers[0] || numbers[0] < numbers.at(-1), "the loss falls");
    });
    // the inspector shows the value of the last run, the block the beginning of it
    const { values } = await server.call("POST", `/pages/${await server.pageId("xor.page.json")}/values`, { names: ["loss.output"] });
    await editor.command("Find block…");
    await editor.dialog("Find block").getByRole("combobox").fill("loss");
    await editor.tab.keyboard.press("Enter");
    const { text, first } = values["loss.output"];
    await editor.inspector.getByRole("button", { name: text }).waitFor();
    await editor.block("loss").getByText(new RegExp(`^${first[0].toPrecision(2).replace(".", "\\.")}`)).waitFor();
    await editor.close();
  });

  check("a reload in the middle of a run finds everything as it was", async () => {
    const editor = await Editor.open(server, "xor.page.json", { viewport: { width: 2400, height: 1300 } });
    await editor.block("x").waitFor();
    await editor.tab.keyboard.press("Home");
    await editor.button("More ways to run").click();
    await editor.tab.getByRole("menuitem", { name: "Run until stopped" }).click();
    await editor.statusIs(/Running/);
    await editor.tab.reload();
    await editor.ready();
    await editor.statusIs(/Running[\s\S]*run \d+/);
    assert.equal(new URL(editor.tab.url()).hash.includes("token"), false, "the token is not in the address");
    await editor.button("Pause").click();
    await editor.statusIs(/Paused/);
    await editor.tab.reload();
    await editor.ready();
    await editor.statusIs(/Paused/);
    await editor.button("Continue").click();
    await editor.statusIs(/Running/);
    await editor.button("Stop").click();
    await editor.statusIs(/Stopped|Done/);
    // a step that was stopped on its way leaves blocks that were not reached: this one ends
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await lossIsDone(editor);
    await editor.tab.reload();
    await editor.ready();
    await lossIsDone(editor);
    await editor.close();
  });

  check("a breakpoint on NaN; the value replaced; the run continued", async () => {
    const editor = await Editor.open(server, "logarithm.page.json");
    await editor.show("Breakpoints");
    await editor.details.getByRole("button", { name: "Break on NaN and infinity" }).click();
    await editor.details.getByRole("checkbox", { name: /NaN or infinity/ }).waitFor();
    await editor.button("Run").click();
    await editor.statusIs(/nan/i);
    await editor.eventually(async () => assert.match(await editor.block("logs").innerHTML(), /paused here/));
    await editor.select("logs");
    await editor.inspector.getByRole("button", { name: "logs.y" }).first().click();
    await editor.tab.getByRole("menuitem", { name: "Replace…" }).click();
    const value = editor.dialog("Value of logs.y");
    await value.getByRole("grid").focus();
    await editor.tab.keyboard.type("0\n");
    await value.getByRole("button", { name: "Set value" }).click();
    await value.waitFor({ state: "detached" });
    await editor.button("Continue").click();
    await editor.statusIs(/Done/);
    // log of [-1, 1] is [NaN, 0]: with the first replaced by 0 the sum is 0
    await editor.block("sum").getByText("0", { exact: true }).waitFor();
    await editor.close();
  });

  check("a value can be replaced as long as the run is paused, also in a menu or dialog that is open", async () => {
    const editor = await Editor.open(server, "stepped.page.json");
    const page = await server.pageId("stepped.page.json");
    const pausedRun = () => server.call("POST", "/runs", { page, steps: 2, paused: true, session: "run" });
    await editor.select("logs");
    await editor.inspector.getByRole("button", { name: "logs.y" }).first().click();
    const replace = editor.tab.getByRole("menuitem", { name: "Replace…" });
    const disabled = (wanted) => editor.eventually(async () => assert.equal(await replace.getAttribute("aria-disabled"), wanted));
    await disabled("true");
    const { id: first } = await pausedRun();
    await disabled("false");
    await server.call("POST", `/runs/${first}/cancel`, {});
    await disabled("true");
    const { id: second } = await pausedRun();
    await disabled("false");
    await replace.click();
    const value = editor.dialog("Value of logs.y");
    const set = value.getByRole("button", { name: "Set value" });
    assert.ok(await set.isEnabled());
    await server.call("POST", `/runs/${second}/cancel`, {});
    await value.getByText("The run is no longer paused").waitFor();
    assert.ok(await set.isDisabled());
    await value.getByRole("button", { name: "Cancel" }).click();
    await editor.close();
  });

  check("a breakpoint on a block: paused there, stepped, values on the way", async () => {
    const editor = await Editor.open(server, "stepped.page.json");
    await editor.show("Breakpoints");
    await editor.block("logs").getByRole("button", { name: "Pause before logs" }).click();
    await editor.details.getByRole("checkbox", { name: /logs/ }).waitFor();
    await editor.button("Run").click();
    await editor.statusIs(/logs/);
    await editor.eventually(async () => assert.match(await editor.block("logs").innerHTML(), /paused here/));
    await editor.button("Step one block").click();
    await editor.eventually(async () => assert.match(await editor.block("sum").innerHTML(), /paused here/));
    await editor.select("logs");
    await editor.inspector.getByText(/nan/i).first().waitFor();
    await editor.button("Continue").click();
    await editor.statusIs(/Done/);
    await editor.block("logs").getByRole("button", { name: "Do not pause before logs" }).click();
    await editor.details.getByText(/No breakpoints/).waitFor();
    await editor.close();
  });

  check("faults: a badge, the list that goes there, a fix by a name", async () => {
    const editor = await Editor.open(server, "faulty.page.json");
    await editor.button(/cannot run/).click();
    const list = editor.details.getByRole("tabpanel", { name: "Faults" });
    await list.getByRole("listitem").first().waitFor();
    await editor.block("far").getByRole("button", { name: /findings/ }).waitFor({ state: "detached" });
    await list.getByRole("button", { name: /far/ }).first().click();
    await editor.block("far").getByRole("button", { name: /findings/ }).waitFor();
    await editor.inspector.getByLabel("Id", { exact: true }).waitFor();
    assert.equal(await editor.inspector.getByLabel("Id", { exact: true }).inputValue(), "far");
    await list.getByRole("button", { name: /^Replace by/ }).first().click();
    await editor.eventually(async () => assert.equal(await list.getByRole("button", { name: /^Replace by/ }).count(), 1));
    await list.getByRole("button", { name: /^Replace by/ }).first().click();
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.close();
  });
});
