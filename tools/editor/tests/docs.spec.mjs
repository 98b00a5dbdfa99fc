// What docs/editor/README.md says is what there is.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { describe } from "node:test";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";

const folder = new URL("../../../docs/editor/", import.meta.url);
const text = readFileSync(new URL("README.md", folder), "utf8");

describe("docs/editor", () => {
  const server = serve({ pages: [sample("xor")] });

  check("the keyboard map is the editor's", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    await editor.blocks.first().waitFor();
    await editor.toCanvas();
    await editor.tab.keyboard.press("?");
    const shown = await editor.dialog("Keys").evaluate((dialog) => [...dialog.querySelectorAll("dl > div")].map(
      (row) => `| ${row.querySelector("dt").textContent} | ${[...row.querySelectorAll("kbd")].map((key) => `\`${key.textContent}\``).join(", ")} |`,
    ));
    assert.ok(shown.length > 30);
    assert.deepEqual(shown.filter((row) => !text.includes(row)), [], "rows that the page lacks");
    await editor.close();
  });

  check("its pictures are there, and small", async () => {
    const pictures = [...text.matchAll(/(?:!\[[^\]]*\]\(|src=")([\w-]+\.png)/g)].map((match) => match[1]);
    assert.equal(new Set(pictures).size, 12);
    for (const picture of pictures) assert.ok(statSync(new URL(picture, folder)).size < 250_000, picture);
  });
});
