// Prints how fast the editor is: node tests/speed.mjs (on a machine that does nothing else; WEFT and WEFT_EDITOR_FILES as for the tests)
import { fileURLToPath } from "node:url";
import { closeBrowser } from "./lib/editor.mjs";
import { measureLarge } from "./lib/large.mjs";
import { bundle, coldStart } from "./lib/measure.mjs";
import { sample } from "./lib/server.mjs";

const files = process.env.WEFT_EDITOR_FILES || fileURLToPath(new URL("../dist", import.meta.url));
const rows = [];
const row = (what, value, wanted, good) => rows.push([what, value, wanted, good ? "" : "missed"]);

const sizes = bundle(files);
row("scripts and styles, gzipped, without elk", `${sizes.main} KB`, "< 400 KB", sizes.main < 400);
row("elk, when blocks are arranged first", `${sizes.elk} KB`, "", true);
await coldStart([sample("xor")]);
const cold = [];
for (let k = 0; k < 3; k++) cold.push(await coldStart([sample("xor")]));
cold.sort((a, b) => a.painted - b.painted);
row("start of the program to first paint", `${cold[1].painted} ms (served after ${cold[1].served})`, "< 1000 ms", cold[1].painted < 1000);
const large = await measureLarge(5000);
row(`opening ${large.blocks} blocks`, `${large.opening} ms`, "< 1500 ms", large.opening < 1500);
for (const zoom of ["1", "0.15"]) {
  for (const [what, value] of [["panning", large[zoom].panning], ["zooming", large[zoom].zooming]]) {
    row(`${what} at zoom ${zoom}, 5 % of the badges change 10 times a second`, `${value.fps} frames/s, worst ${value.worst} ms`, ">= 50 frames/s", value.fps >= 50);
  }
}
for (const [what, { median, worst }] of Object.entries({ "copied, undone and done again": large.editing, ...large.edits })) {
  row(`an edit is shown: a block ${what}`, `${median} ms, worst ${worst} ms`, "< 50 ms", median < 50);
}
await closeBrowser();

const widths = [0, 1, 2].map((k) => Math.max(...rows.map((r) => r[k].length)));
for (const r of rows) console.log(r.map((cell, k) => cell.padEnd(widths[k] ?? 0)).join("  ").trimEnd());
if (large.errors.length) console.log(large.errors.join("\n"));
