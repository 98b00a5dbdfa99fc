// What ships: the editor's files that are inside the program, with nothing beside it.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { check, Editor, launch, serve } from "./lib/editor.mjs";
import { sample } from "./lib/server.mjs";

describe("the editor inside the program", () => {
  const server = serve({ pages: [sample("xor")], inside: true });

  check("runs a page, arranges it in its worker, and asks no other address", async (t) => {
    const page = await (await fetch(server.origin)).text();
    if (page.includes("The editor is not in this build")) return t.skip("the program was built without the editor (tools/editor/build, then the program)");
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const asked = [];
    context.on("request", (request) => asked.push(request.url()));
    const editor = await Editor.open(server, "xor.page.json", { context });
    const { tab } = editor;
    assert.ok(asked.includes(`${server.origin}/`));
    await editor.button("Run").click();
    await editor.statusIs(/Done/);
    const before = await editor.text("xor.page.json");
    await tab.keyboard.press("Control+Shift+a"); // elk, which comes when it is needed
    await editor.eventually(async () => assert.notEqual(await editor.text("xor.page.json"), before), 60_000);
    assert.ok(asked.some((url) => /elk/i.test(url)), "the worker came from the program");
    const others = asked.filter((url) => !url.startsWith(`${server.origin}/`) && !url.startsWith("blob:") && !url.startsWith("data:"));
    assert.deepEqual(others, []);
    await editor.close();
  });

  check("has the licences of what is in it", async (t) => {
    const answer = await fetch(`${server.origin}/licenses.txt`);
    if (answer.status === 404) return t.skip("the program was built without the editor");
    const text = await answer.text();
    for (const name of ["react", "@xyflow/react", "uplot", "elkjs"]) assert.match(text, new RegExp(name, "i"), name);
  });
});
