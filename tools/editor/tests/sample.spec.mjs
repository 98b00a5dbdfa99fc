// Another application that mounts the component in three lines (sample/main.tsx), built as such an application builds it.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe } from "node:test";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { check, Editor, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";

describe("the component in another application", () => {
  const files = mkdtempSync(join(tmpdir(), "weft-sample-"));
  const server = serve(async () => {
    await build({
      root: fileURLToPath(new URL("../sample", import.meta.url)), base: "./", plugins: [react()], logLevel: "error", worker: { format: "es" },
      build: { outDir: files, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
    });
    return { pages: [sample("xor")], files };
  });
  after(() => rm(files, { recursive: true, force: true }));

  check("shows a page, runs it, and changes it", async () => {
    const editor = await Editor.open(server, "xor.page.json");
    await editor.tab.getByRole("heading", { name: "Another application" }).waitFor();
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    const before = await editor.text("xor.page.json");
    await editor.toCanvas();
    await editor.tab.keyboard.press("n"); // a note
    await editor.eventually(async () => assert.notEqual(await editor.text("xor.page.json"), before));
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });
});
