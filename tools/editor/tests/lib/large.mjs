// A window with the page of 5,000 blocks, and everything that is measured on it.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Editor, launch } from "./editor.mjs";
import { badges, editing, editingMore, keepSockets, opening, panning, zoomTo, zooming } from "./measure.mjs";
import { Server } from "./server.mjs";

const maker = fileURLToPath(new URL("../../../make_page.py", import.meta.url));

/** The text of a page of about this many blocks. */
export const largePage = (count = 5000) => execFileSync("/usr/bin/python3", [maker, "grid", String(count)], { maxBuffer: 1 << 27 });

/** Measures the editor on 5,000 blocks; each for `ms`. */
export async function measureLarge(ms) {
  const server = await Server.start();
  await server.write("large.page.json", largePage());
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await keepSockets(context);
  const editor = await Editor.open(server, undefined, { context });
  const result = { opening: await opening(editor, "large.page.json") };
  const page = await server.pageId("large.page.json");
  const { blocks } = await server.call("GET", `/pages/${page}/view`);
  result.blocks = blocks.length;
  const end = await badges(editor, page, blocks.map((block) => block.id));
  for (const zoom of [0.15, 1]) {
    if (zoom === 1) {
      // where blocks are dense
      await editor.find(blocks[Math.floor(blocks.length / 2)].id);
    }
    result[zoom] = { zoom: await zoomTo(editor, zoom), panning: await panning(editor, ms), zooming: await zooming(editor, ms) };
  }
  await end();
  await zoomTo(editor, 1);
  const [block, beside] = blocks.slice(Math.floor(blocks.length / 2));
  await editor.find(block.id);
  result.editing = await editing(editor);
  await editor.caughtUp("large.page.json");
  await server.call("PATCH", `/pages/${page}`, { edits: [{ op: "disconnect", to: `${beside.id}.x` }] });
  await editor.find(block.id);
  result.edits = await editingMore(editor, block.id, beside.inputs.x, `${beside.id}.x`);
  result.errors = editor.errors;
  await context.close();
  await server.stop();
  return result;
}
