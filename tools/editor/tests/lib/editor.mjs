// The editor as a user meets it: parts by roles and names.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { Server } from "./server.mjs";

let browser;
const open = new Set();
const results = fileURLToPath(new URL("../../test-results/", import.meta.url));

/** A test that leaves pictures of its windows in test-results/ when it fails, and closes them in any case. */
export function check(name, body) {
  test(name, async (t) => {
    try {
      await body(t);
    } catch (error) {
      await mkdir(results, { recursive: true });
      let k = 0;
      for (const editor of open) {
        const path = `${results}${name.replace(/[^a-z0-9]+/gi, "-")}${k++ ? `-${k}` : ""}.png`;
        await editor.tab.screenshot({ path }).catch(() => {});
        t.diagnostic(`window: ${path}${editor.errors.length ? `; it said: ${editor.errors.join("\n")}` : ""}`);
      }
      throw error;
    } finally {
      for (const editor of open) await editor.context.close().catch(() => {});
      open.clear();
    }
  });
}

/** The browser of this test process. */
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    // root in a container has no sandbox; without a GPU, frames are drawn by the processor
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--disable-dev-shm-usage"],
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/**
 * A server and the browser for the tests of a file, from their start to their end. `options` are those of Server.start, or make them. Each test
 * finds the pages as the folder has them, without the edits and runs of the one before.
 */
export function serve(options) {
  const server = new Server();
  before(async () => {
    await server.start(typeof options === "function" ? await options() : options);
    await launch();
  });
  beforeEach(() => server.closePages());
  after(async () => {
    await closeBrowser();
    await server.stop();
  });
  return server;
}

/** One window with the editor in it. */
export class Editor {
  /** Opens `page` of the server in a new window; `options` are those of Playwright's contexts. `tour`: show it as to a first-time user. */
  static async open(server, page, { context, tour = false, settings = {}, ...options } = {}) {
    const own = context ?? (await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", reducedMotion: "reduce", ...options }));
    const editor = new Editor();
    open.add(editor);
    editor.server = server;
    editor.context = own;
    editor.errors = [];
    const tab = (editor.tab = await own.newPage());
    tab.setDefaultTimeout(15_000);
    tab.on("pageerror", (error) => editor.errors.push(String(error)));
    tab.on("console", (message) => {
      // what the network says of calls that are refused or lost is no fault of the editor
      if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text())) editor.errors.push(message.text());
    });
    const chosen = { tourSeen: !tour, ...settings };
    await tab.addInitScript((given) => {
      const key = "weft.editor.settings";
      if (!localStorage.getItem(key)) localStorage.setItem(key, JSON.stringify(given));
    }, chosen);
    await tab.goto(server.at(page));
    await editor.ready();
    // keys mean something once the page is there
    if (page) await editor.canvas.waitFor();
    if (page) await tab.locator(".react-flow__node-block, .w-canvas[data-far] canvas").first().waitFor();
    return editor;
  }

  /** Waits until the editor has connected. */
  async ready() {
    await this.tab.getByRole("toolbar", { name: "Weft editor" }).waitFor();
    await this.tab.getByText("Connecting…").waitFor({ state: "detached" });
  }

  async close() {
    assert.deepEqual(this.errors, [], "errors of the window");
    open.delete(this);
    await this.context.close();
  }

  // ---- parts -------------------------------------------------------------------------------------------------------------
  button(name, options = {}) { return this.tab.getByRole("button", { name, exact: typeof name === "string", ...options }); }
  dialog(name) { return this.tab.getByRole("dialog", name === undefined ? {} : { name }); }
  panel(name) { return this.tab.getByRole("tab", { name }); }
  get canvas() { return this.tab.locator(".react-flow").first(); }
  get status() { return this.tab.getByRole("group", { name: "Run" }).getByRole("status"); }
  get inspector() { return this.tab.getByRole("complementary", { name: "Inspector" }); }
  get details() { return this.tab.getByRole("complementary", { name: "Details" }); }
  get blocks() { return this.tab.locator("[data-id].react-flow__node-block"); }
  /** A block by its id. */
  block(id) { return this.tab.locator(`.react-flow__node-block[data-id="${id}"]`); }
  /** A port's handle, such as "a.z". */
  port(name) { return this.tab.locator(`[data-port="${name}"]`); }
  wire(to) { return this.tab.locator(`.react-flow__edge[data-id="${to}"]`); }
  get reason() { return this.tab.locator(".w-wire-reason"); }
  /** What screen readers were told last. */
  get told() { return this.tab.locator(".w-shell > [role=status][aria-live]"); }

  /** Ports that are marked as fitting the wire that is drawn. */
  marked() {
    return this.tab.locator("[data-port]").evaluateAll((handles) => handles.filter((h) => h.matches(".w-fits, [data-fits]")).map((h) => h.dataset.port));
  }

  // ---- doing -------------------------------------------------------------------------------------------------------------
  /** Runs a command by its title in the command palette. */
  async command(title) {
    await this.tab.keyboard.press("Control+k");
    const box = this.dialog("Commands").getByRole("combobox");
    await box.fill(title);
    await this.dialog("Commands").getByRole("option", { name: title }).first().waitFor();
    await box.press("Enter");
  }

  /** Waits until the window shows the page as the server has it: what it would undo, and how often. */
  async caughtUp(path) {
    const id = await this.server.pageId(path);
    await this.eventually(async () => {
      const { undo, undo_label: label } = await this.server.call("GET", `/pages/${id}`);
      const button = this.button(undo ? `Undo: ${label}` : "Undo");
      assert.equal(await button.isEnabled({ timeout: 200 }), undo > 0);
    });
  }

  /** Gives the canvas the focus by its key: single letters are keys there alone. */
  async toCanvas() {
    await this.tab.keyboard.press("Control+Shift+e");
    await this.eventually(async () => assert.ok(await this.tab.evaluate(() => Boolean(document.activeElement?.closest(".w-canvas")))));
  }

  /** Adds a block by double clicking an empty place of the canvas. */
  async insert(type, x, y) {
    const before = await this.blocks.count();
    const told = await this.told.textContent();
    await this.tab.mouse.dblclick(x, y);
    const box = this.dialog("Add a block").getByRole("combobox");
    await box.fill(type);
    await this.dialog("Add a block").getByRole("option", { selected: true }).filter({ hasText: type }).first().waitFor();
    await box.press("Enter");
    // it is shown before the server has it, and told with the answer
    await this.eventually(async () => {
      const now = await this.told.textContent();
      assert.ok(now !== told && /^Add /.test(now), `told: ${now}`);
      assert.equal(await this.blocks.count(), before + 1);
    });
  }

  /** Where the middle of a locator is in the window. */
  async middle(locator) {
    const box = await locator.boundingBox();
    assert.ok(box, "is in sight");
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  /** Draws a wire by the mouse, and holds it over the other end if `hold`. */
  async drag(from, to, { hold = false } = {}) {
    const [ax, ay] = await this.middle(this.port(from));
    const [bx, by] = await this.middle(this.port(to));
    const { mouse } = this.tab;
    await mouse.move(ax, ay);
    await mouse.down();
    await mouse.move((ax + bx) / 2, (ay + by) / 2, { steps: 4 });
    await mouse.move(bx, by, { steps: 4 });
    if (!hold) await mouse.up();
  }

  /** Selects a block by a click on its head. */
  async select(id) {
    await this.block(id).locator(".w-block-title").click();
    await this.inspects(id);
  }

  /** Waits until the inspector shows this block: it may show another yet. */
  inspects(id) {
    return this.eventually(async () => assert.equal(await this.inspector.getByLabel("Id", { exact: true }).inputValue({ timeout: 500 }), id));
  }

  /** Gives an input of the selected block a value, by its table: cells are pasted as from a spreadsheet. */
  async setValue(name, { dtype, shape, values }) {
    await this.inspector.getByRole("button", { name: new RegExp(`(Set a value|Edit value): ${name.replace(/[.[\]]/g, "\\$&")}$`) }).click();
    const dialog = this.dialog(`Value of ${name}`);
    const type = dialog.getByRole("combobox", { name: "Type" });
    if ((await type.inputValue()) !== dtype) await type.selectOption(dtype);
    const field = dialog.getByRole("textbox", { name: "Shape" });
    await field.fill(shape.join(", "));
    await field.press("Enter");
    const grid = dialog.getByRole("grid");
    const columns = shape.at(-1) ?? 1;
    await this.eventually(async () => assert.equal(Number(await grid.getAttribute("aria-colcount")), columns + 1));
    await grid.focus();
    const rows = Array.from({ length: values.length / columns }, (_, k) => values.slice(k * columns, (k + 1) * columns).join("\t"));
    await this.tab.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, rows.join("\n"));
    await dialog.getByRole("button", { name: "Set value" }).click();
    await dialog.waitFor({ state: "detached" });
  }

  /** Goes to a block by the find dialog; it is selected then. */
  async find(id) {
    const dialog = this.dialog("Find block");
    const box = dialog.getByRole("combobox");
    await this.eventually(async () => {
      if (!(await dialog.isVisible())) await this.tab.keyboard.press("Control+f");
      await box.fill("", { timeout: 500 });
      await box.fill(id);
      await dialog.getByRole("option").filter({ hasText: id }).first().waitFor({ timeout: 500 });
    });
    await box.press("Enter");
    await this.block(id).waitFor();
    await this.inspects(id);
  }

  /** Opens a panel of the lower dock. */
  async show(panel) {
    if (!(await this.details.isVisible())) await this.tab.keyboard.press("Control+2");
    await this.details.getByRole("tab", { name: panel }).click();
    await this.details.getByRole("tabpanel", { name: panel }).waitFor();
  }

  // ---- asking ------------------------------------------------------------------------------------------------------------
  /** The page as the server would save it. */
  async text(path) {
    return this.server.call("GET", `/pages/${await this.server.pageId(path)}/text`);
  }

  async json(path) { return JSON.parse(await this.text(path)); }

  /** Repeats a check until it holds. */
  async eventually(check, ms = 15_000) {
    const end = Date.now() + ms;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  statusIs(pattern, ms) {
    return this.eventually(async () => assert.match(await this.status.innerText(), pattern), ms);
  }
}
