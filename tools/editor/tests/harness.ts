import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from "playwright-core";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = process.env["WEFT"] ?? join(root, "build/release/bin/weft");
const chromiumPath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** The real program, serving a folder of its own with the sample pages, and a browser. */
export class Bench {
  address = "";
  port = 0;
  readonly failures: string[] = [];
  private process: ChildProcess | null = null;

  private constructor(readonly folder: string, readonly state: string, readonly browser: Browser) {}

  static async start(pages: Record<string, unknown> = {}): Promise<Bench> {
    const folder = mkdtempSync(join(tmpdir(), "weft-editor-"));
    const state = mkdtempSync(join(tmpdir(), "weft-state-"));
    cpSync(join(root, "graphs"), folder, { recursive: true, filter: (file) => !/expected|README|\.svg$/.test(file) });
    for (const [name, page] of Object.entries(pages)) writeFileSync(join(folder, name), typeof page === "string" ? page : JSON.stringify(page));
    const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
    const bench = new Bench(folder, state, browser);
    await bench.serve();
    return bench;
  }

  /** Starts the program; a second time on the same port, with another token. */
  async serve(): Promise<void> {
    const args = ["serve", this.folder, "--port", String(this.port), "--editor", join(root, "tools/editor/dist")];
    const child = spawn(program, args, { env: { ...process.env, XDG_STATE_HOME: this.state } });
    this.process = child;
    this.address = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stdout.on("data", (data: Buffer) => {
        said += data.toString();
        const found = /http:\/\/\S+#token=[0-9a-f]+/.exec(said)?.[0];
        if (found) resolve(found);
      });
      child.on("error", reject);
      child.on("exit", (code) => reject(new Error(`${program} ended with ${code}: ${said}`)));
    });
    this.port = Number(new URL(this.address).port);
  }

  /** Ends the program at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.state, { recursive: true, force: true });
  }

  /** A window on a page (a path in the folder); without: as a new user sees it. */
  async window(page?: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Editor> {
    const context = await this.browser.newContext({ viewport: { width: 1400, height: 900 }, permissions: ["clipboard-read", "clipboard-write"], reducedMotion: "reduce", ...options });
    await context.addInitScript(() => {
      if (!localStorage.getItem("weft.editor.settings")) localStorage.setItem("weft.editor.settings", JSON.stringify({ tourSeen: true }));
    });
    const tab = await context.newPage();
    tab.on("pageerror", (error) => this.failures.push(error.message));
    await tab.goto(page ? `${this.address}&page=${encodeURIComponent(page)}` : this.address);
    await tab.locator(".w-toolbar").waitFor();
    if (page) await tab.locator(".w-page-tab-selected").waitFor();
    return new Editor(tab, context);
  }

  file(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }
}

/** What a person does in a window of the editor. */
export class Editor {
  constructor(readonly tab: Page, readonly context: BrowserContext) {}

  block(id: string): Locator {
    return this.tab.locator(`.react-flow__node[data-id="${id}"]`);
  }

  port(name: string): Locator {
    return this.tab.locator(`.w-handle[data-port="${name}"]`);
  }

  wire(to: string): Locator {
    return this.tab.locator(`.react-flow__edge[data-id="${to}"]`);
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.tab.keyboard.press(key);
  }

  /** Adds a block by double clicking the canvas at a place of it and typing. */
  async add(type: string, x: number, y: number): Promise<void> {
    const box = await this.tab.locator(".w-canvas").boundingBox();
    await this.tab.mouse.dblclick((box?.x ?? 0) + x, (box?.y ?? 0) + y);
    await this.tab.locator(".w-quick").waitFor();
    await this.tab.keyboard.type(type);
    await this.tab.locator(".w-quick-item").first().waitFor();
    await this.press("Enter");
    await this.tab.locator(".w-quick").waitFor({ state: "detached" });
  }

  /** Drags from one port to another; with `drop` false it stays over the second. */
  async drag(from: string, to: string, drop = true): Promise<void> {
    const a = await this.port(from).boundingBox();
    const b = await this.port(to).boundingBox();
    if (!a || !b) throw new Error(`${from} or ${to} is not in sight`);
    await this.tab.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await this.tab.mouse.down();
    await this.tab.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2 + 4, { steps: 4 });
    await this.tab.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 4 });
    if (drop) await this.tab.mouse.up();
  }

  /** Clicks a block's title. */
  async select(id: string): Promise<void> {
    await this.block(id).locator(".w-block-title").click();
  }

  /** Goes to a block by the find dialog. */
  async find(id: string): Promise<void> {
    await this.press("Control+f");
    await this.tab.keyboard.type(id);
    await this.press("Enter");
    await this.block(id).waitFor();
  }

  /** Opens a panel of the bottom dock. */
  async panel(name: string): Promise<Locator> {
    if ((await this.tab.locator(".w-dock-bottom").count()) === 0) await this.press("Control+2");
    await this.tab.locator(".w-dock-bottom").getByRole("tab", { name }).click();
    return this.tab.locator(".w-dock-bottom [role=tabpanel]");
  }

  /** Runs N times. */
  async runTimes(n: number): Promise<void> {
    await this.press("Control+F5");
    await this.tab.getByRole("textbox", { name: "Times" }).fill(String(n));
    await this.press("Enter");
  }

  status(): Locator {
    return this.tab.locator(".w-run-word");
  }
}

/** Waits until something is as expected. */
export async function until(check: () => Promise<boolean> | boolean, what: string, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    if (await check()) return;
    if (Date.now() > end) throw new Error(`did not happen in ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
