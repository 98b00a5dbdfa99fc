// That nothing became slow by an order: limits that a busy machine keeps. tests/speed.mjs measures.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe } from "node:test";
import { fileURLToPath } from "node:url";
import { check, closeBrowser, launch } from "./lib/editor.mjs";
import { measureLarge } from "./lib/large.mjs";
import { bundle, coldStart } from "./lib/measure.mjs";
import { sample } from "./lib/server.mjs";

const files = process.env.WEFT_EDITOR_FILES || fileURLToPath(new URL("../dist", import.meta.url));

describe("speed", () => {
  before(launch);
  after(closeBrowser);

  check("the editor is small", (t) => {
    if (!existsSync(files)) return t.skip(`no ${files}`);
    const { main } = bundle(files);
    assert.ok(main < 400, `${main} KB gzipped`);
  });

  check("the first paint comes soon after the start of the program", async () => {
    await coldStart([sample("xor")]);
    const { painted } = await coldStart([sample("xor")]);
    assert.ok(painted < 4000, `${painted} ms`);
  });

  check("5,000 blocks open, move and are edited", async (t) => {
    const result = await measureLarge(1200);
    t.diagnostic(JSON.stringify(result));
    assert.deepEqual(result.errors, []);
    assert.ok(result.opening < 6000, `opening ${result.opening} ms`);
    for (const zoom of ["1", "0.15"]) {
      assert.ok(result[zoom].panning.fps >= 12, `panning at zoom ${zoom}: ${result[zoom].panning.fps} frames a second`);
      assert.ok(result[zoom].zooming.fps >= 12, `zooming at zoom ${zoom}: ${result[zoom].zooming.fps} frames a second`);
    }
    assert.ok(result.editing.median < 400, `an edit ${result.editing.median} ms`);
  });
});
