import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, until, type Editor } from "./harness";

let bench: Bench;
beforeAll(async () => void (bench = await Bench.start()));
afterAll(async () => {
  expect(bench.failures).toEqual([]);
  await bench.close();
});

/** The page that is shown, as it would be saved. */
const texts = async (editor: Editor): Promise<{ blocks: { id: string; block: string; inputs?: Record<string, unknown> }[] }> => {
  await editor.press("Control+s");
  await until(async () => (await editor.tab.locator(".w-page-tab-selected .w-dirty").count()) === 0, "saved");
  return JSON.parse(bench.file(((await editor.tab.locator(".w-page-tab-selected [role=tab]").getAttribute("title")) ?? ""))) as never;
};

async function newPage(name: string): Promise<Editor> {
  const editor = await bench.window();
  await editor.tab.locator(".w-empty, .w-canvas").first().waitFor();
  await editor.press("Control+k");
  await editor.tab.keyboard.type("new page");
  await editor.press("Enter");
  await editor.tab.locator(".w-empty-page").waitFor();
  await editor.press("Control+Shift+s");
  await editor.tab.getByRole("textbox", { name: "File in the folder" }).fill(`${name}.page.json`);
  await editor.press("Enter");
  await editor.tab.locator(".w-page-tab-selected", { hasText: name }).waitFor();
  return editor;
}

describe("building a page", () => {
  it("works with the mouse: quick insert, wires, loose ends, undo", async () => {
    const editor = await newPage("mouse");
    await editor.add("const", 80, 80);
    await editor.block("const").waitFor();
    await editor.add("tanh", 420, 80);
    await editor.block("tanh").waitFor();
    await editor.drag("const.output", "tanh.x");
    await editor.wire("tanh.x").waitFor({ state: "attached" });

    const out = await editor.port("tanh.y").boundingBox();
    await editor.tab.mouse.move((out?.x ?? 0) + 5, (out?.y ?? 0) + 5);
    await editor.tab.mouse.down();
    await editor.tab.mouse.move((out?.x ?? 0) + 60, (out?.y ?? 0) + 220, { steps: 6 });
    await editor.tab.mouse.up();
    await editor.tab.locator(".w-quick-item").first().waitFor();
    await editor.tab.keyboard.type("square");
    await editor.press("Enter");
    await editor.wire("square.x").waitFor({ state: "attached" });

    const saved = await texts(editor);
    expect(saved.blocks.map((b) => b.block)).toEqual(["Const", "Tanh", "Square"]);
    expect(saved.blocks[2]?.inputs).toEqual({ x: "tanh.y" });
    await editor.press("Control+z");
    await editor.block("square").waitFor({ state: "detached" });
    await editor.press("Control+Shift+z");
    await editor.wire("square.x").waitFor({ state: "attached" });
    await editor.context.close();
  });

  it("works with the keyboard alone", async () => {
    const editor = await newPage("keyboard");
    const insert = async (type: string): Promise<void> => {
      await editor.press("Control+k");
      await editor.tab.keyboard.type("add block");
      await editor.press("Enter");
      await editor.tab.locator(".w-quick").waitFor();
      await editor.tab.keyboard.type(type);
      await editor.tab.locator(".w-quick-item").first().waitFor();
      await editor.press("Enter");
      await editor.tab.locator(".w-quick").waitFor({ state: "detached" });
    };
    const connect = async (block: string, to: string): Promise<void> => {
      await editor.find(block);
      await editor.press("Control+k");
      await editor.tab.keyboard.type("connect to");
      await editor.press("Enter");
      await editor.tab.getByRole("option", { name: to }).first().waitFor({ timeout: 5000 }).catch(async (e: Error) => { await editor.tab.screenshot({ path: "/tmp/core-fail.png" }); throw e; });
      await editor.tab.keyboard.type(to);
      await editor.press("Enter");
      await editor.wire(to).waitFor({ state: "attached" });
    };
    await insert("const");
    await insert("negate");
    await insert("exp");
    await connect("const", "negate.x");
    await connect("negate", "exp.x");
    const saved = await texts(editor);
    expect(saved.blocks.map((b) => [b.block, b.inputs?.["x"]])).toEqual([["Const", undefined], ["Negate", "const.output"], ["Exp", "negate.y"]]);
    await editor.context.close();
  });

  it("refuses a wrong wire and says why at the pointer", async () => {
    const editor = await newPage("wrong");
    await editor.add("const", 80, 80);
    await editor.block("const").waitFor();
    await editor.add("readfile", 420, 200);
    await editor.block("read_file").waitFor();
    await editor.drag("const.output", "read_file.filename", false);
    await editor.tab.locator(".w-wire-reason-bad").waitFor();
    expect(await editor.tab.locator(".w-wire-reason-bad").innerText()).toMatch(/string/i);
    await editor.tab.mouse.up();
    await editor.tab.waitForTimeout(300);
    expect(await editor.wire("read_file.filename").count()).toBe(0);
    await editor.context.close();
  });

  it("copies and pastes with wires among the copies, and takes all back to the same bytes", async () => {
    const before = bench.file("xor.page.json");
    const editor = await bench.window("xor.page.json");
    await editor.find("hidden");
    await editor.press("Control+a", "Control+c", "Control+v");
    await until(async () => /46 blocks/.test(await editor.tab.evaluate(() => document.querySelector(".w-dock-right")?.textContent ?? "")) || (await editor.tab.locator(".w-page-tab-selected .w-dirty").count()) > 0, "pasted");
    await editor.press("Control+z");
    await editor.tab.waitForTimeout(300);
    const text = await editor.tab.evaluate(async () => {
      const token = sessionStorage.getItem("weft.token");
      const headers = { Authorization: `Bearer ${token}` };
      const { pages } = (await (await fetch("/v1/pages", { headers })).json()) as { pages: { id: string; path: string }[] };
      const id = pages.find((p) => p.path === "xor.page.json")?.id;
      return (await fetch(`/v1/pages/${id}/text`, { headers })).text();
    });
    expect(text).toBe(before);
    await editor.context.close();
  });
});
