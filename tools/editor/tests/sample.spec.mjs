// Another application that mounts the component in three lines (sample/main.tsx), built as such an application builds it.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { check, closeBrowser, Editor, launch } from "./lib/editor.mjs";
import { sample, Server } from "./lib/server.mjs";

describe("the component in another application", () => {
  let server, files;
  before(async () => {
    files = await mkdtemp(join(tmpdir(), "weft-sample-"));
    await build({
      root: fileURLToPath(new URL("../sample", import.meta.url)), base: "./", plugins: [react()], logLevel: "error", worker: { format: "es" },
      build: { outDir: files, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
    });
    server = await Server.start({ pages: [sample("xor")], files });
    await launch();
  });
  after(async () => {
    await closeBrowser();
    await server?.stop();
    await rm(files, { recursive: true, force: true });
  });

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
