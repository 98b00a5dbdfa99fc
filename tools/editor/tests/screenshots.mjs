// Makes docs/editor/*.png with the real program: node tests/screenshots.mjs [NAME...]
// Environment as for the tests (WEFT, WEFT_EDITOR_FILES). Pictures go through pngquant, where it is installed.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { closeBrowser, Editor, launch } from "./lib/editor.mjs";
import { faulty, logarithm, networks } from "./lib/pages.mjs";
import { sample, Server } from "./lib/server.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = process.env.PICTURES || join(root, "docs/editor");
const wanted = process.argv.slice(2);
const most = 250_000;

/** The whole page in sight, and the pointer where it shows no tip. */
async function settle(editor) {
  await editor.tab.mouse.move(640, 2);
  await editor.tab.waitForTimeout(600);
}

async function fit(editor) {
  await editor.tab.keyboard.press("Shift+1");
}

async function train(editor, times) {
  await editor.tab.keyboard.press("Control+F5");
  const steps = editor.dialog("Run N times");
  await steps.getByLabel("Times").fill(String(times));
  await steps.getByRole("button", { name: "Run" }).click();
  await editor.statusIs(/Done/, 60_000);
}

const look = { bottomHeight: 240 };
const shots = {
  async light(server) {
    const editor = await Editor.open(server, "xor.page.json", { settings: { ...look, right: true } });
    await train(editor, 200);
    await editor.find("hidden");
    await editor.tab.keyboard.press("Control+Shift+e");
    return editor;
  },
  async dark(server) {
    const editor = await Editor.open(server, "convolution.page.json", { colorScheme: "dark", settings: look });
    await editor.blocks.first().waitFor();
    await editor.tab.keyboard.press("F5");
    await editor.statusIs(/Done/);
    await editor.find((await editor.json("convolution.page.json")).blocks.find((b) => b.block === "Conv2D").id);
    return editor;
  },
  async empty(server) {
    return Editor.open(server, undefined);
  },
  async large(server) {
    const editor = await Editor.open(server, "large.page.json", { settings: { ...look, right: false, left: false } });
    await editor.button("Run").click();
    await editor.statusIs(/Done/, 60_000);
    await fit(editor);
    const { mouse } = editor.tab;
    await mouse.move(500, 380);
    for (let k = 0; k < 4; k++) {
      await mouse.wheel(0, -120);
      await editor.tab.waitForTimeout(100);
    }
    return editor;
  },
  async paused(server) {
    const editor = await Editor.open(server, "logarithm.page.json", { settings: { ...look, minimap: false } });
    await editor.show("Breakpoints");
    await editor.details.getByRole("button", { name: "Break on NaN and infinity" }).click();
    await editor.details.getByRole("checkbox", { name: /NaN or infinity/ }).waitFor();
    await editor.button("Run").click();
    await editor.statusIs(/nan/i);
    await editor.select("logs");
    await fit(editor);
    return editor;
  },
  async plots(server) {
    const editor = await Editor.open(server, "softmax_regression.page.json", { settings: { ...look, left: false, bottomHeight: 320, right: false } });
    await editor.show("Plots");
    const { blocks } = await editor.json("softmax_regression.page.json");
    const session = blocks.find((b) => b.block === "ClientSession");
    for (const name of session.inputs.fetch_outputs.slice(0, 2)) {
      await editor.details.getByRole("combobox", { name: /Value to plot/ }).fill(name);
      await editor.details.getByRole("button", { name: "Plot", exact: true }).click();
    }
    await train(editor, 300);
    await fit(editor);
    return editor;
  },
  async inspector(server) {
    const editor = await Editor.open(server, "xor.page.json", { settings: look });
    await train(editor, 300);
    await editor.find("x_w1");
    await editor.inspector.getByRole("button", { name: /\d.*\d/ }).last().click();
    await editor.dialog("x_w1.product").waitFor();
    return editor;
  },
  async faults(server) {
    const editor = await Editor.open(server, "faulty.page.json", { settings: look });
    await editor.button(/cannot run/).click();
    await editor.details.getByRole("button", { name: /near/ }).first().click();
    return editor;
  },
  async palette(server) {
    const editor = await Editor.open(server, "xor.page.json", { settings: look });
    await editor.find("x");
    const [x, y] = await editor.middle(editor.port("x.output"));
    await editor.tab.mouse.move(x, y);
    await editor.tab.mouse.down();
    await editor.tab.mouse.move(x + 60, y + 130, { steps: 6 });
    await editor.tab.mouse.up();
    const quick = editor.dialog("Add a block to x.output");
    await quick.getByRole("combobox").fill("so");
    await quick.getByRole("option").first().waitFor();
    return editor;
  },
  async outline(server) {
    const editor = await Editor.open(server, "xor.page.json", { colorScheme: "dark", settings: { ...look, leftTab: "outline", leftWidth: 340 } });
    await train(editor, 20);
    await editor.tab.getByRole("treeitem", { name: /^loss/ }).click();
    await editor.tab.getByRole("tree").press("ArrowRight");
    return editor;
  },
  async narrow(server) {
    const editor = await Editor.open(server, "xor.page.json", { viewport: { width: 420, height: 800 }, settings: look });
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    await editor.block("x").locator(".w-block-title").click();
    await editor.button("Inspector").click();
    return editor;
  },
  async zoomed(server) {
    const editor = await Editor.open(server, "xor.page.json", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, settings: look });
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    return editor;
  },
};

const names = { paused: "paused-at-a-breakpoint", narrow: "narrow-window", large: "large-page", zoomed: "zoomed-200-percent", empty: "empty", light: "light", dark: "dark", plots: "plots", inspector: "inspector", faults: "faults", palette: "palette", outline: "outline" };

mkdirSync(folder, { recursive: true });
const server = await Server.start({ pages: ["xor", "convolution", "softmax_regression"].map(sample) });
await server.write("logarithm.page.json", logarithm);
await server.write("faulty.page.json", faulty);
await server.write("large.page.json", networks(10, 12));
await launch();
let failed = 0;
for (const [name, make] of Object.entries(shots)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const path = join(folder, `${names[name]}.png`);
  try {
    // each picture begins with no page open
    await server.closePages();
    const editor = await make(server);
    await settle(editor);
    await editor.tab.screenshot({ path });
    await editor.context.close();
    try {
      execFileSync("pngquant", ["--force", "--skip-if-larger", "--quality", "70-98", "--output", path, path]);
    } catch (error) {
      if (error.code === "ENOENT") console.log("pngquant is not installed: pictures stay as they are");
    }
    const bytes = statSync(path).size;
    console.log(`${names[name]}.png ${Math.round(bytes / 1000)} KB`);
    if (bytes > most) throw new Error(`larger than ${most / 1000} KB`);
  } catch (error) {
    failed++;
    console.log(`${name}: ${String(error.message).slice(0, 400)}`);
  }
}
await closeBrowser();
await server.stop();
process.exitCode = failed ? 1 : 0;
