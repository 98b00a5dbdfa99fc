// For everyone: what axe-core finds, both themes, 200 % zoom, narrow windows, touch.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { faulty } from "./lib/pages.mjs";
import { sample } from "./lib/server.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical findings in what is on the screen, in short. `rules`: these alone. */
async function findings(editor, where, into, rules) {
  if (!(await editor.tab.evaluate(() => "axe" in globalThis))) await editor.tab.evaluate(axeSource);
  const found = await editor.tab.evaluate(async (only) => {
    const { violations } = await globalThis.axe.run({ resultTypes: ["violations"], ...(only ? { runOnly: only } : {}) });
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
      .flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary.replace(/\s+/g, " ").slice(0, 240)}`));
  }, rules);
  if (found.length) into[where] = found;
}

describe("looks", () => {
  const server = serve({ pages: [sample("xor"), { "faulty.page.json": faulty }] });

  for (const colorScheme of ["light", "dark"]) {
    check(`axe-core finds nothing serious, ${colorScheme}`, async () => {
      const seen = {};
      // what differs between the themes is contrast
      const look = (where) => findings(editor, where, seen, colorScheme === "dark" ? ["color-contrast"] : undefined);
      const editor = await Editor.open(server, undefined, { colorScheme });
      const { tab } = editor;
      // what is read from the server is looked at once it is there
      await tab.locator(".w-gallery section").nth(1).waitFor();
      await look("empty");
      await tab.keyboard.press("Control+o");
      await editor.dialog("Open a page").getByRole("button", { name: "faulty.page.json" }).click();
      await editor.block("near").waitFor();
      await editor.show("Faults");
      await look("faults");
      await tab.keyboard.press("Control+o");
      const file = editor.dialog("Open a page").getByRole("button", { name: "xor.page.json" });
      await file.waitFor();
      await editor.dialog("Open a page").locator(".w-cards").last().getByRole("button").first().waitFor();
      await look("open dialog");
      await file.click();
      await editor.block("x_w1").waitFor();  // the other page has a block x, too
      await tab.keyboard.press("F5");
      await editor.statusIs(/Done/);
      await editor.find("hidden");
      const value = editor.inspector.getByTitle(/^of run/).last();
      await value.waitFor();
      await look("canvas and inspector");
      for (const [panel, read] of [["Plots"], ["Values", "hidden.y"], ["Breakpoints"], ["Variables", "b1"], ["Log"]]) {
        await editor.show(panel);
        if (read) await editor.details.getByRole("row").filter({ hasText: read }).first().waitFor();
        await look(panel);
      }
      for (const [name, key] of [["commands", "Control+k"], ["find", "Control+f"], ["keys", "?"], ["steps", "Control+F5"], ["breakpoint", "Shift+F9"], ["connect", "w"]]) {
        await editor.toCanvas();
        await tab.keyboard.press(key);
        await editor.dialog().first().waitFor();
        if (name === "connect") await editor.dialog().locator("#w-choices [role=option]").first().waitFor();
        await look(name);
        if (name === "commands") {
          await tab.keyboard.type("no such command");
          await editor.dialog().getByText("Nothing matches").waitFor();
          await look("no command");
          await tab.keyboard.press("Escape"); // empties the field
        }
        await tab.keyboard.press("Escape");
        await editor.dialog().first().waitFor({ state: "detached" });
      }
      await value.click();
      await editor.dialog().getByRole("grid").waitFor();
      await look("value");
      await tab.keyboard.press("Escape");
      await editor.panel("Outline").click();
      await tab.getByRole("tree").waitFor();
      await look("outline");
      await tab.keyboard.press("F1");
      await tab.getByRole("article", { name: "Tanh" }).waitFor();
      await look("help");
      assert.deepEqual(seen, {});
      await editor.close();
    });
  }

  const sizes = [["200 % zoom of a small screen", { width: 683, height: 384 }, 2], ["a narrow window", { width: 480, height: 800 }, 1], ["a phone", { width: 360, height: 740 }, 2]];
  for (const [name, viewport, deviceScaleFactor] of sizes) {
    check(`${name}: all is in reach, nothing lies outside`, async () => {
      const editor = await Editor.open(server, "xor.page.json", { viewport, deviceScaleFactor });
      const { tab } = editor;
      await editor.blocks.first().waitFor();
      const outside = () => tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok((await outside()) <= 0, "no scroll bar across");
      const run = await editor.button("Run").boundingBox();
      assert.ok(run && run.x >= 0 && run.x + run.width <= viewport.width, "Run is in sight");
      await editor.button("Run").click();
      await editor.statusIs(/Done/);
      await tab.getByRole("button", { name: "Inspector" }).click();
      await editor.inspector.waitFor();
      const box = await editor.inspector.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width + 1 && box.width >= 200, JSON.stringify(box));
      await tab.getByRole("button", { name: "Close", exact: true }).last().click({ position: { x: 8, y: 8 } });
      await editor.inspector.waitFor({ state: "detached" });
      // every button of the bar at the top that is shown lies in the window
      for (const button of await tab.getByRole("toolbar", { name: "Weft editor" }).getByRole("button").all()) {
        if (!(await button.isVisible())) continue;
        const at = await button.boundingBox();
        assert.ok(at.x >= 0 && at.x + at.width <= viewport.width + 1, await button.getAttribute("aria-label"));
      }
      await editor.close();
    });
  }

  check("touch: blocks are added, moved and wired by a finger", async () => {
    const editor = await Editor.open(server, undefined, { viewport: { width: 1000, height: 700 }, hasTouch: true });
    const { tab } = editor;
    await tab.keyboard.press("Control+k");
    await tab.keyboard.type("New page");
    await tab.keyboard.press("Enter");
    await tab.getByText("An empty page").waitFor();
    for (const type of ["Const", "Square"]) {
      await tab.getByRole("searchbox", { name: "Search blocks" }).tap();
      await tab.getByRole("searchbox", { name: "Search blocks" }).fill(type);
      await tab.getByRole("button", { name: new RegExp(`(Add )?${type}\\b`) }).first().tap();
      await editor.block(type.toLowerCase()).waitFor();
      // told with the server's answer, which brings the block into the middle
      await editor.eventually(async () => assert.match(await editor.told.textContent(), new RegExp(`^Add ${type.toLowerCase()}: `)));
    }
    const touch = await tab.context().newCDPSession(tab);
    const drag = async (from, to) => {
      const points = Array.from({ length: 17 }, (_, k) => [from[0] + ((to[0] - from[0]) * k) / 16, from[1] + ((to[1] - from[1]) * k) / 16]);
      for (const [k, [x, y]] of points.entries()) await touch.send("Input.dispatchTouchEvent", { type: k ? "touchMove" : "touchStart", touchPoints: [{ x, y }] });
      await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    };
    const head = await editor.middle(editor.block("square").locator(".w-block-title"));
    await drag(head, [head[0] + 160, head[1] + 120]);
    await editor.eventually(async () => assert.ok(Math.abs((await editor.middle(editor.block("square").locator(".w-block-title")))[1] - head[1] - 120) < 24));
    await drag(await editor.middle(editor.port("const.output")), await editor.middle(editor.port("square.x")));
    await editor.wire("square.x").waitFor({ state: "attached" });
    // out of the list of blocks: to the side at once, downwards after a hold
    await tab.getByRole("searchbox", { name: "Search blocks" }).fill("Tanh");
    const item = tab.getByRole("group", { name: "Blocks" }).getByRole("button", { name: /^Tanh\b/ }).first();
    await item.waitFor();
    await drag(await editor.middle(item), [560, 240]);
    await editor.block("tanh").waitFor();
    const [x, y] = await editor.middle(editor.block("tanh"));
    assert.ok(Math.hypot(x - 600, y - 260) < 100, `it lies where it was dropped, not at ${x}, ${y}`);
    assert.equal(await tab.locator(".w-drag-ghost").count(), 0);
    assert.equal(await editor.blocks.count(), 3, "a drag is no tap");
    await editor.close();
  });
});
