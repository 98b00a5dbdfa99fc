// Wrong wires are refused, with the reason at the pointer; edits are undone to the last byte.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";

const block = (id, type, inputs = {}, more = {}) => ({ id, block: type, ...more, inputs });
const floats = (shape, values) => ({ dtype: "DT_FLOAT", shape, values });
const wiring = {
  weft: 1, page: "wiring",
  blocks: [
    block("words", "Const", { value: { dtype: "DT_STRING", shape: [], values: ["a"] } }),
    block("a", "Const", { value: floats([2, 3], [1, 2, 3, 4, 5, 6]) }),
    block("b", "Const", { value: floats([2, 2], [1, 2, 3, 4]) }),
    block("mul", "MatMul", { a: "a.output" }),
    block("low", "Square"),
  ],
  layout: { words: [40, 40], a: [40, 160], b: [40, 280], mul: [360, 160], low: [360, 40] },
};

describe("wires", () => {
  const server = serve({ pages: [sample("xor"), { "wiring.page.json": wiring }] });

  check("of a wrong type is refused, with the reason at the pointer", async () => {
    const editor = await Editor.open(server, "wiring.page.json");
    await editor.drag("words.output", "low.x", { hold: true });
    const reason = editor.reason;
    await reason.waitFor();
    assert.match(await reason.innerText(), /DT_STRING|string/i);
    const [pointer, box] = [await editor.middle(editor.port("low.x")), await reason.boundingBox()];
    assert.ok(Math.hypot(box.x - pointer[0], box.y - pointer[1]) < 60, "the reason is at the pointer");
    const before = await editor.text("wiring.page.json");
    await editor.tab.mouse.up();
    await reason.waitFor({ state: "detached" });
    await editor.tab.waitForTimeout(200);
    assert.equal(await editor.text("wiring.page.json"), before, "nothing was wired");
    await editor.close();
  });

  check("of a wrong shape is refused, with both shapes", async () => {
    const editor = await Editor.open(server, "wiring.page.json");
    await editor.drag("b.output", "mul.b", { hold: true });
    await editor.reason.waitFor();
    const said = await editor.reason.innerText();
    assert.match(said, /3/);
    assert.match(said, /2/);
    await editor.tab.mouse.up();
    assert.equal(await editor.wire("mul.b").count(), 0);
    // and one that fits is taken
    await editor.drag("b.output", "low.x");
    await editor.wire("low.x").waitFor({ state: "attached" });
    await editor.tab.keyboard.press("Control+z");
    await editor.wire("low.x").waitFor({ state: "detached" });
    await editor.close();
  });

  check("inputs that fit light up while a wire is drawn", async () => {
    const editor = await Editor.open(server, "wiring.page.json");
    await editor.drag("a.output", "low.x", { hold: true });
    await editor.eventually(async () => assert.ok((await editor.marked()).includes("low.x")));
    await editor.tab.mouse.up();
    await editor.wire("low.x").waitFor({ state: "attached" });
    await editor.tab.keyboard.press("Control+z");
    await editor.wire("low.x").waitFor({ state: "detached" });
    // a constant takes any type; a square and a product take no words
    await editor.drag("words.output", "b.value", { hold: true });
    await editor.eventually(async () => assert.deepEqual((await editor.marked()).filter((port) => /^(low|mul|b)\./.test(port)), ["b.value"]));
    await editor.tab.mouse.move(640, 700);
    await editor.tab.mouse.up();
    await editor.close();
  });

  check("200 random edits, undone and redone, give the same bytes", async () => {
    // so large that the whole page is drawn as blocks
    const editor = await Editor.open(server, "xor.page.json", { viewport: { width: 2400, height: 1300 } });
    const { tab } = editor;
    const original = await server.read("xor.page.json");
    assert.equal(await editor.text("xor.page.json"), original);
    const id = await server.pageId("xor.page.json");
    const places = () => tab.locator(".react-flow__node-block").evaluateAll((nodes) => Object.fromEntries(nodes.map((node) => [node.dataset.id, node.style.transform])));
    await editor.toCanvas();
    await tab.keyboard.press("Home");
    await editor.eventually(async () => assert.equal(Object.keys(await places()).length, JSON.parse(original).blocks.length));
    const placed = await places();
    // most edits by the protocol, as another window makes them; some of each kind by the keyboard of this one
    const random = generator(7);
    let steps = 0;
    const edit = async (edits) => {
      await server.call("PATCH", `/pages/${id}`, { edits, label: `Edit ${++steps}` });
    };
    const view = () => server.call("GET", `/pages/${id}/view`);
    while (steps < 190) {
      const { blocks, wires } = await view();
      const pick = (list) => list[Math.floor(random() * list.length)];
      const one = pick(blocks);
      const kind = Math.floor(random() * 6);
      if (kind === 0) await edit([{ op: "add", block: { id: `n${steps}`, block: pick(["Add", "Square", "Const", "MatMul"]) }, layout: [Math.floor(random() * 2000), 500] }]);
      else if (kind === 1 && blocks.length > 8) await edit([{ op: "remove", block: one.id }]);
      else if (kind === 2) await edit([{ op: "move", block: one.id, layout: [Math.floor(random() * 2000), Math.floor(random() * 900)] }]);
      else if (kind === 3) await edit([{ op: "rename", block: one.id, to: `r${steps}` }]);
      else if (kind === 4 && wires.length) await edit([{ op: "disconnect", to: pick(wires)[1] }]);
      else if (kind === 5) await edit([{ op: "set", block: one.id, key: "note", value: `note ${steps}` }]);
    }
    await editor.toCanvas();
    await editor.caughtUp("xor.page.json");
    const count = async () => (await server.call("GET", `/pages/${id}`)).undo;
    const selected = editor.inspector.getByText(/blocks are selected/);
    await tab.keyboard.press("Control+a");
    await selected.waitFor();
    for (const key of ["Control+d", "Delete", "g"]) {
      const undo = await count();
      await tab.keyboard.press(key);
      await editor.eventually(async () => assert.equal(await count(), undo + 1, key));
      await editor.caughtUp("xor.page.json");
      if (key === "Control+d") await editor.eventually(async () => assert.ok(await editor.block("x").evaluate((node) => !node.classList.contains("selected"))));
      if (key === "Delete") await tab.keyboard.press("Control+a");
    }
    while ((await count()) < 200) {
      const undo = await count();
      await tab.keyboard.press("n");
      await tab.keyboard.press("Escape"); // out of its text
      await editor.eventually(async () => assert.equal(await count(), undo + 1));
    }
    const edited = await editor.text("xor.page.json");
    assert.notEqual(edited, original);
    for (const [key, field, want] of [["Control+z", "undo", original], ["Control+Shift+z", "redo", edited], ["Control+z", "undo", original]]) {
      let left = (await server.call("GET", `/pages/${id}`))[field];
      while (left > 0) {
        const now = left;
        for (let k = Math.min(10, left); k > 0; k--) await tab.keyboard.press(key);
        await editor.eventually(async () => assert.ok((left = (await server.call("GET", `/pages/${id}`))[field]) < now));
      }
      assert.equal(await editor.text("xor.page.json"), want, `after all ${field}`);
      // what the window shows is the page, although it shows each step before the server has confirmed it
      await editor.caughtUp("xor.page.json");
      const { blocks, wires } = await view();
      const shown = (selector) => tab.locator(selector).evaluateAll((nodes) => nodes.map((node) => node.dataset.id).sort());
      if (blocks.length < 60) await editor.eventually(async () => {
        await tab.keyboard.press("Home");  // again where blocks were still on their way: far off, the page is an overview without nodes
        assert.deepEqual(await shown(".react-flow__node-block"), blocks.map((block) => block.id).sort());
        assert.deepEqual(await shown(".react-flow__edge"), wires.map(([, to]) => to).sort());
        if (want === original) assert.deepEqual(await places(), placed);  // the page places none: what came back is where it was
      });
    }
    const { blocks } = await view();
    await tab.keyboard.press("Home");
    await editor.panel("Outline").click();
    await editor.eventually(async () => assert.equal(await tab.getByRole("treeitem").count() >= Math.min(blocks.length, 20), true));
    await editor.close();
  });
});

/** A small generator of numbers in [0, 1): the same ones each time. */
function generator(seed) {
  let state = seed;
  return () => ((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648);
}
