// The real program, started on a free port with a folder and a state folder of its own.
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
/** The program: WEFT, or the release build. */
export const program = process.env.WEFT || join(root, "build/release/bin/weft");
/** The editor's files, where they are not to be those inside the program. */
const files = process.env.WEFT_EDITOR_FILES;

/** A page of the repository's samples. */
export const sample = (name) => join(root, "graphs", `${name}.page.json`);

/** A server and its folder. `pages`: paths to copy into it, and what is written there as {name: text or object}. */
export class Server {
  static async start(options) {
    const server = new Server();
    await server.start(options);
    return server;
  }

  /** Starts it; `options` are more arguments of `weft serve`. `inside`: with the editor that is inside the program, whatever WEFT_EDITOR_FILES says. */
  async start({ pages = [], options = [], inside = false, files: own = files } = {}) {
    this.files = inside ? undefined : own;
    this.home = await mkdtemp(join(tmpdir(), "weft-editor-"));
    this.folder = join(this.home, "pages");
    this.options = options;
    await mkdir(this.folder);
    for (const page of pages) {
      if (typeof page === "string") await cp(page, join(this.folder, basename(page)));
      else for (const [name, content] of Object.entries(page)) await this.write(name, content);
    }
    await this.spawn();
  }

  /** Starts the program (again) in the same folder. */
  async spawn(more = []) {
    const editor = this.files ? ["--editor", this.files] : [];
    const child = spawn(program, ["serve", this.folder, ...editor, ...this.options, ...more], {
      env: { ...process.env, XDG_STATE_HOME: join(this.home, "state") }, stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    this.said = "";
    this.address = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`weft serve printed no address in 20 s: ${this.said}`)), 20_000);
      const take = (chunk) => {
        this.said += chunk;
        const address = /https?:\/\/\S+#token=[0-9a-f]+\S*/.exec(this.said)?.[0];
        if (address) { clearTimeout(timer); resolve(address); }
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("error", reject);
      child.on("exit", (code) => reject(new Error(`weft serve ended with ${code}: ${this.said}`)));
    });
    this.token = /token=([0-9a-f]+)/.exec(this.address)[1];
    this.origin = new URL(this.address).origin;
  }

  /** The address of the editor on a page of the folder. */
  at(page) {
    return `${this.origin}/#token=${this.token}${page ? `&page=${encodeURIComponent(page)}` : ""}`;
  }

  /** Ends the program at once, as a crash does. */
  async kill(signal = "SIGKILL") {
    const { child } = this;
    if (!child) return;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async stop() {
    await this.kill("SIGTERM");
    if (this.home) await rm(this.home, { recursive: true, force: true });
  }

  read(name) {
    return readFile(join(this.folder, name), "utf8");
  }

  async write(name, content) {
    const path = join(this.folder, name);
    await mkdir(dirname(path), { recursive: true });
    const raw = typeof content === "string" || Buffer.isBuffer(content);
    await writeFile(path, raw ? content : `${JSON.stringify(content, null, 2)}\n`);
  }

  /** A call of the protocol. */
  async call(method, path, body) {
    const answer = await fetch(`${this.origin}/v1${path}`, {
      method, headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    const value = answer.headers.get("content-type")?.startsWith("application/json") && !path.endsWith("/text") ? JSON.parse(text) : text;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return value;
  }

  /** Closes all pages with what was not saved. */
  async closePages() {
    for (const { id } of (await this.call("GET", "/pages")).pages) await this.call("DELETE", `/pages/${id}?discard=1`);
  }

  /** The id of the page that is open by this path, or the first. */
  async pageId(path) {
    const { pages } = await this.call("GET", "/pages");
    return pages.find((page) => page.path === path || !path)?.id;
  }
}
