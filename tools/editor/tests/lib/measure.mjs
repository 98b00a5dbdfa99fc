// How fast the editor is on a page of 5,000 blocks. Each function gives plain numbers.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { launch } from "./editor.mjs";
import { Server } from "./server.mjs";

/** From the start of the program to the first paint of the editor, in ms, with a browser that is running already. */
export async function coldStart(pages) {
  const browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const tab = await context.newPage();
  await tab.goto("about:blank");
  const begin = Date.now();
  const server = await Server.start({ pages });
  const served = Date.now() - begin;
  await tab.goto(server.at(), { waitUntil: "commit" });
  const loaded = await tab.evaluate(() => new Promise((resolve) => {
    const look = () => {
      const paint = performance.getEntriesByName("first-contentful-paint")[0];
      if (paint) resolve(performance.timeOrigin + paint.startTime);
      else setTimeout(look, 5);
    };
    look();
  }));
  await context.close();
  await server.stop();
  return { served, painted: Math.round(loaded - begin) };
}

/** From asking for a page to its blocks on the screen, in ms. */
export async function opening(editor, path) {
  await editor.tab.keyboard.press("Control+o");
  const file = editor.dialog("Open a page").getByRole("button", { name: path });
  await file.waitFor();
  return editor.tab.evaluate((name) => new Promise((resolve) => {
    const button = [...document.querySelectorAll("dialog button")].find((b) => b.textContent.includes(name));
    const begin = performance.now();
    button.click();
    const look = () => {
      const far = document.querySelector(".w-canvas[data-far] canvas");
      const near = document.querySelectorAll(".react-flow__node-block").length > 0;
      const title = document.querySelector("[role=tab][aria-selected=true]")?.textContent ?? "";
      if (!document.querySelector("dialog[open]") && title.includes(name.split(".")[0]) && (far || near)) requestAnimationFrame(() => setTimeout(() => resolve(Math.round(performance.now() - begin))));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }), path);
}

/** Sets the zoom by the wheel over the middle of the canvas. */
export async function zoomTo(editor, wanted) {
  const box = await editor.canvas.boundingBox();
  await editor.tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let k = 0; k < 200; k++) {
    const now = await zoomOf(editor);
    if (Math.abs(Math.log(now / wanted)) < 0.03) return now;
    const step = Math.max(-240, Math.min(240, Math.log2(now / wanted) * 500));
    await editor.tab.mouse.wheel(0, step);
    await editor.tab.waitForTimeout(40);
  }
  return zoomOf(editor);
}

export function zoomOf(editor) {
  return editor.tab.locator(".react-flow__viewport").first().evaluate((element) => new DOMMatrix(getComputedStyle(element).transform).a);
}

/** Frames a second while something is done, and the longest time between two frames in ms. */
async function frames(editor, ms, act) {
  await editor.tab.evaluate(() => {
    const times = (globalThis.frameTimes = []);
    const tick = (now) => {
      times.push(now);
      if (globalThis.frameTimes === times) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const end = Date.now() + ms;
  for (let k = 0; Date.now() < end; k++) await act(k);
  const times = await editor.tab.evaluate(() => {
    const { frameTimes } = globalThis;
    globalThis.frameTimes = undefined;
    return frameTimes;
  });
  const gaps = times.slice(1).map((time, k) => time - times[k]);
  return { fps: Math.round(((times.length - 1) / (times.at(-1) - times[0])) * 1000), worst: Math.round(Math.max(...gaps)) };
}

/** Panning by the mouse, to and fro. */
export async function panning(editor, ms = 3000) {
  const box = await editor.canvas.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + 40];
  await editor.tab.mouse.move(x, y);
  await editor.tab.mouse.down({ button: "middle" });
  const result = await frames(editor, ms, (k) => editor.tab.mouse.move(x + 240 * Math.sin(k / 12), y + 120 * Math.sin(k / 17)));
  await editor.tab.mouse.up({ button: "middle" });
  return result;
}

/** Zooming by the wheel, in and out. */
export async function zooming(editor, ms = 3000) {
  const box = await editor.canvas.boundingBox();
  await editor.tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  return frames(editor, ms, (k) => editor.tab.mouse.wheel(0, k % 10 < 5 ? -8 : 8));
}

/** Keeps the sockets that a window opens, so that `badges` can speak to them; before the window is loaded. */
export function keepSockets(context) {
  return context.addInitScript(() => {
    const sockets = (globalThis.weftSockets = []);
    globalThis.WebSocket = class extends WebSocket {
      constructor(...given) {
        super(...given);
        sockets.push(this);
      }
    };
  });
}

/** Ticks of a run as the server sends them, ten a second, each changing the badges of a share of the blocks. Call the result to end them. */
export async function badges(editor, page, ids, share = 0.05) {
  await editor.tab.evaluate(({ blocks, count, id }) => {
    const socket = globalThis.weftSockets.at(-1);
    const run = {
      id: `${id}r999`, page: id, target: "page", state: "running", outcome: null, error: null, mode: "RUN", by: null, started: new Date().toISOString(), elapsed_ms: 0, revision: 1,
      sessions: [{ id: "", state: "running", mode: "RUN", runs: 1, steps_left: -1, elapsed_ms: 0, outdated_page: false, pause: null }],
    };
    let [at, round] = [0, 0];
    globalThis.weftBadges = setInterval(() => {
      const states = {};
      for (let k = 0; k < count; k++) states[blocks[(at + k * 19) % blocks.length]] = { progress: round % 2 ? "ended" : "began", run: round };
      at = (at + count * 19) % blocks.length;
      round++;
      socket.onmessage({ data: JSON.stringify({ type: "run.tick", page: id, run, blocks: states, fraction: null, runs_per_second: 10 }) });
    }, 100);
  }, { blocks: ids, count: Math.round(ids.length * share), id: page });
  return () => editor.tab.evaluate(() => clearInterval(globalThis.weftBadges));
}

/** From an event of the user to the end of the frame in which `look` (run in the window with `given`) finds something else than before, in ms. */
async function shown(editor, event, look, given, act) {
  await editor.tab.evaluate(({ kind, source, given }) => {
    const look = new Function(`return (${source})`)();
    globalThis.weftShown = new Promise((resolve) => {
      let begin = 0;
      const before = look(given);
      addEventListener(kind, () => (begin = performance.now()), { capture: true, once: true });
      const tick = () => {
        if (begin && look(given) !== before) requestAnimationFrame(() => resolve(performance.now() - begin));
        else requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    });
  }, { kind: event, source: String(look), given });
  await act();
  const taken = await editor.tab.evaluate(() => Promise.race([globalThis.weftShown, new Promise((resolve) => setTimeout(() => resolve(null), 10_000))]));
  assert.notEqual(taken, null, "the edit is shown within 10 seconds");
  await editor.tab.waitForTimeout(120);
  return taken;
}

const middle = (taken) => {
  const sorted = taken.toSorted((a, b) => a - b);
  return { median: Math.round(sorted[sorted.length >> 1]), worst: Math.round(sorted.at(-1)) };
};

/** From a key press to the frame that shows the edit, in ms: the median of some. A copy of a block is there and gone. */
export async function editing(editor, times = 9) {
  const taken = [];
  const before = await editor.blocks.count();
  // the first edit of a page that places no blocks also writes all places; what is measured is a copy being there and gone
  for (const k of [1, 2]) {
    await editor.tab.keyboard.press("Control+d");
    await editor.eventually(async () => assert.equal(await editor.blocks.count(), before + k));
  }
  await editor.tab.waitForTimeout(1000);
  const count = () => document.querySelectorAll(".react-flow__node-block").length;
  for (let k = 0; k < times; k++) {
    const keys = k % 2 ? ["Control", "Shift", "z"] : ["Control", "z"];
    for (const key of keys.slice(0, -1)) await editor.tab.keyboard.down(key);
    taken.push(await shown(editor, "keydown", count, null, () => editor.tab.keyboard.press("z")));
    for (const key of keys.slice(0, -1).reverse()) await editor.tab.keyboard.up(key);
  }
  return middle(taken);
}

/** Other edits of the block `id`, which is selected and in sight, each as `editing`: moved, coloured, wired from `from` by the mouse, removed. */
export async function editingMore(editor, id, from, to, times = 5) {
  const { tab } = editor;
  const at = (node) => document.querySelector(`.react-flow__node[data-id="${node}"]`)?.style.transform;
  const color = (node) => document.querySelector(`.react-flow__node[data-id="${node}"] .w-block`)?.style.getPropertyValue("--block");
  const wire = (end) => document.querySelector(`.react-flow__edge[data-id="${end}"]`)?.querySelector("path")?.id;
  const taken = { moved: [], coloured: [], wired: [], removed: [] };
  const swatches = editor.inspector.getByRole("group", { name: "Colour" }).getByRole("button");
  for (let k = 0; k < times; k++) {
    await editor.block(id).focus();
    taken.moved.push(await shown(editor, "keydown", at, id, () => tab.keyboard.press(k % 2 ? "ArrowLeft" : "ArrowRight")));
    await swatches.nth(k % 2).scrollIntoViewIfNeeded();
    const [x, y] = await editor.middle(swatches.nth(k % 2));
    await tab.mouse.move(x, y);
    taken.coloured.push(await shown(editor, "pointerdown", color, id, () => tab.mouse.click(x, y)));
    await editor.toCanvas();
    await tab.keyboard.press("Control+z");
    await tab.waitForTimeout(120);
    const free = tab.locator(`.react-flow__edge[data-id="${to}"]`);
    await free.waitFor({ state: "detached" });
    await editor.drag(from, to, { hold: true });
    await tab.waitForTimeout(200);
    taken.wired.push(await shown(editor, "pointerup", wire, to, () => tab.mouse.up()));
    await tab.keyboard.press("Control+z");
    await free.waitFor({ state: "detached" });
    await editor.find(id);
    await editor.toCanvas();
    taken.removed.push(await shown(editor, "keydown", at, id, () => tab.keyboard.press("Delete")));
    await tab.keyboard.press("Control+z");
    await editor.block(id).waitFor();
    await editor.find(id);
  }
  return Object.fromEntries(Object.entries(taken).map(([what, times]) => [what, middle(times)]));
}

/** Sizes of the editor's scripts and styles in KB, gzipped; those of arranging apart. */
export function bundle(folder) {
  let [main, elk] = [0, 0];
  for (const name of readdirSync(join(folder, "assets"))) {
    if (!/\.(js|css)$/.test(name)) continue;
    const bytes = readFileSync(join(folder, "assets", name));
    const size = gzipSync(bytes, { level: 9 }).length;
    if (/elk/i.test(name)) elk += size;
    else main += size;
  }
  return { main: Math.round(main / 1000), elk: Math.round(elk / 1000) };
}
