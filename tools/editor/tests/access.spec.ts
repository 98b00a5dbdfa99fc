import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, type Editor } from "./harness";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let bench: Bench;
beforeAll(async () => void (bench = await Bench.start()));
afterAll(async () => {
  expect(bench.failures).toEqual([]);
  await bench.close();
});

/** Serious findings of axe, in short. */
async function findings(editor: Editor): Promise<string[]> {
  await editor.tab.evaluate(axeSource);
  return editor.tab.evaluate(async () => {
    const axe = (window as unknown as { axe: { run: (options: object) => Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe;
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
      .flatMap((v) => v.nodes.slice(0, 5).map((n) => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary.replace(/\s+/g, " ").slice(0, 240)}`));
  });
}

describe.each(["light", "dark"] as const)("axe, %s", (colorScheme) => {
  it("finds nothing serious on a page, in panels and dialogs", async () => {
    const editor = await bench.window("xor.page.json", { colorScheme });
    await editor.press("F5");
    await editor.status().filter({ hasText: "Done" }).waitFor();
    await editor.find("hidden");
    const seen: Record<string, string[]> = { canvas: await findings(editor) };
    for (const panel of ["Faults", "Plots", "Values", "Breakpoints", "Variables", "Log"]) {
      await editor.panel(panel);
      seen[panel] = await findings(editor);
    }
    for (const [name, key] of [["open", "Control+o"], ["commands", "Control+k"], ["find", "Control+f"], ["keys", "?"], ["steps", "Control+F5"]] as const) {
      await editor.press(key);
      await editor.tab.locator("dialog[open]").waitFor();
      seen[name] = await findings(editor);
      await editor.press("Escape");
      await editor.tab.locator("dialog[open]").waitFor({ state: "detached" });
    }
    await editor.tab.locator(".w-dock-left").getByRole("tab", { name: "Outline" }).click();
    seen["outline"] = await findings(editor);
    await editor.press("F1");
    await editor.tab.locator(".w-help-dock").waitFor();
    seen["help"] = await findings(editor);
    expect(Object.fromEntries(Object.entries(seen).filter(([, list]) => list.length))).toEqual({});
    await editor.context.close();
  });
});

describe("small windows", () => {
  it.each([["200 %", 700, 450], ["a phone", 390, 780]])("%s: nothing lies outside, and docks open over the canvas", async (_name, width, height) => {
    const editor = await bench.window("xor.page.json", { viewport: { width, height }, hasTouch: true });
    const wide = await editor.tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBeLessThanOrEqual(0);
    await editor.tab.locator(".w-run").click();
    await editor.tab.locator(".w-dock-toggle", { hasText: "Inspector" }).click();
    await editor.tab.locator(".w-over-right .w-inspector").waitFor();
    await editor.tab.locator(".w-over-close").click({ position: { x: 10, y: 10 } });
    await editor.tab.locator(".w-over-right").waitFor({ state: "detached" });
    await editor.context.close();
  });
});
