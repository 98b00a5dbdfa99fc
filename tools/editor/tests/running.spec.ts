import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, until } from "./harness";

const scalar = (value: number): object => ({ dtype: "DT_FLOAT", shape: [], values: [value] });
/** 0/0 after two other blocks, and what comes of it. */
const nanPage = {
  weft: 1, page: "nan",
  blocks: [
    { id: "a", block: "Variable", inputs: { initvalues: scalar(0) } },
    { id: "n", block: "Negate", inputs: { x: "a.ref" } },
    { id: "q", block: "RealDiv", inputs: { x: "a.ref", y: "n.y" } },
    { id: "e", block: "Exp", inputs: { x: "q.z" } },
    { id: "run", block: "ClientSession", inputs: { fetch_outputs: ["e.y"] } },
  ],
  layout: { a: [40, 40], n: [240, 40], q: [440, 40], e: [640, 40], run: [840, 40] },
};
const faultyPage = {
  weft: 1, page: "faulty",
  blocks: [
    { id: "x", block: "Const", inputs: { value: scalar(1) } },
    { id: "y", block: "Negate", inputs: { x: "X.output" } },
    { id: "mystery", block: "NotABlock", inputs: { left: "y.y" } },
  ],
  layout: { x: [40, 40], y: [240, 40], mystery: [440, 40] },
};

let bench: Bench;
beforeAll(async () => void (bench = await Bench.start({ "nan.page.json": nanPage, "faulty.page.json": faultyPage })));
afterAll(async () => {
  expect(bench.failures).toEqual([]);
  await bench.close();
});

describe("running", () => {
  it("trains XOR with its loss plotted", async () => {
    const editor = await bench.window("xor.page.json");
    const panel = await editor.panel("Plots");
    await panel.getByRole("combobox", { name: /Value to plot/ }).fill("loss.output");
    await editor.press("Enter");
    await editor.runTimes(50);
    await editor.status().filter({ hasText: "Done" }).waitFor();
    await editor.tab.locator(".w-run-detail", { hasText: "run 50" }).waitFor();
    await panel.getByRole("button", { name: /table/i }).click();
    await until(async () => (await panel.getByRole("row").count()) > 10, "points in the table of the plot");
    await editor.context.close();
  });

  it("pauses on NaN, lets a value be replaced, and continues with it", async () => {
    const editor = await bench.window("nan.page.json");
    const panel = await editor.panel("Breakpoints");
    await panel.getByRole("button", { name: "Break on NaN and infinity" }).click();
    await panel.getByText("On NaN or infinity: any block").waitFor();
    await editor.press("F5");
    await editor.tab.locator(".w-run-status-paused").waitFor();
    await editor.select("q");
    await editor.tab.locator(".w-dock-right").getByRole("button", { name: "q.z" }).click();
    await editor.tab.getByRole("menuitem", { name: "Replace…" }).click();
    const dialog = editor.tab.getByRole("dialog");
    await dialog.locator("[role=grid] [role=gridcell]").first().dblclick();
    await editor.press("Control+a");
    await editor.tab.keyboard.type("2");
    await editor.press("Enter");
    await dialog.getByRole("button", { name: "Set value" }).click();
    await dialog.waitFor({ state: "detached" });
    await editor.press("F5");
    await editor.status().filter({ hasText: "Done" }).waitFor();
    await editor.select("e");
    await editor.tab.locator(".w-dock-right .w-port-value-line", { hasText: "7.38" }).waitFor();
    await editor.context.close();
  });

  it("shows faults on block and list, jumps there, and mends what has a name", async () => {
    const editor = await bench.window("faulty.page.json");
    await editor.block("y").locator(".w-block-badge-error").waitFor();
    await editor.block("mystery").locator(".w-block-unknown").waitFor();
    await editor.tab.getByRole("button", { name: /The page cannot run/ }).click();
    const row = editor.tab.locator(".w-dock-bottom .w-row", { hasText: "'X'" }).first();
    await row.locator(".w-row-main").click();
    await editor.tab.locator(".w-block-selected .w-block-id", { hasText: "y" }).waitFor();
    await row.getByRole("button", { name: /Replace by/ }).click();
    await editor.wire("y.x").waitFor({ state: "attached" });
    await editor.block("y").locator(".w-block-badge-error").waitFor({ state: "detached" });
    await editor.context.close();
  });

  it("finds a run in progress after a reload, and stops it", async () => {
    const editor = await bench.window("random_start.page.json");
    await editor.tab.getByRole("button", { name: "More ways to run" }).click();
    await editor.tab.getByRole("menuitem", { name: "Run until stopped" }).click();
    await editor.status().filter({ hasText: "Running" }).waitFor();
    await editor.tab.reload();
    await editor.status().filter({ hasText: "Running" }).waitFor();
    await editor.tab.locator(".w-page-tab", { hasText: "random_start" }).waitFor();
    await editor.press("Shift+F5");
    await editor.status().filter({ hasText: "Stopped" }).waitFor();
    await editor.context.close();
  });
});

describe("several windows", () => {
  it("see each other's edits and runs", async () => {
    const one = await bench.window("xor.page.json");
    const two = await bench.window("xor.page.json");
    await one.find("loss");
    await one.tab.locator(".w-inspector-id").fill("the_loss");
    await one.press("Enter");
    await two.find("the_loss");
    await two.press("F5");
    await one.tab.locator(".w-run-status-ok").waitFor();
    await one.context.close();
    await two.context.close();
  });

  it("say that the server is gone, and that a new one does not know them", async () => {
    const editor = await bench.window("xor.page.json");
    await bench.kill();
    await editor.tab.getByText("The server is gone").waitFor();
    await bench.serve();
    await editor.tab.getByText("does not know this window any more").waitFor({ timeout: 20_000 });
    await editor.tab.goto(`${bench.address}&page=xor.page.json`);
    await editor.tab.locator(".w-page-tab-selected", { hasText: "xor" }).waitFor();
    await editor.context.close();
  });
});
