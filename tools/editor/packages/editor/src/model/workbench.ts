import { WeftError, type ConnectionState, type Event, type PageInfo, type PageSource, type RecoveryInfo, type ServerInfo, type WeftClient } from "@weft/client";
import { Cell } from "./emitter";
import type { Clip } from "./clipboard";
import { Notifications } from "../ui";
import { PageEditor, type Notice } from "./pageEditor";
import { SchemaIndex } from "./schema";
import { plural, text, texts } from "../texts";
import { loadSettings, type Settings } from "./settings";

/** The dialogs of the editor; one at a time. */
export type DialogName =
  | "open" | "saveAs" | "connect" | "override" | "feed" | "setVariable" | "saveState" | "restoreState" | "keys" | "commands" | "find" | "breakpoint" | "steps" | "tour" | "recovery" | "about" | "closePage" | "changedOnDisk" | null;

/** Where the quick insert is open: at a place of the page, perhaps at the end of a loose wire. */
export interface QuickInsert {
  /** In the window. */
  at: { x: number; y: number };
  /** On the page. */
  place: { x: number; y: number };
  /** The port that the new block is to be wired to. */
  wire?: { port: string; side: "source" | "target" };
}

/** What the pointer shows while a wire is dragged. */
export interface WireHint {
  x: number;
  y: number;
  text: string;
  bad: boolean;
}

/**
 * The editor as a whole: the server, the pages that are open in tabs, and what is on the screen. Components read its cells.
 */
export class Workbench {
  readonly connection: Cell<ConnectionState>;
  readonly server = new Cell<ServerInfo | null>(null);
  readonly schema = new Cell<SchemaIndex | null>(null);
  readonly pages = new Cell<PageInfo[]>([]);
  readonly tabs = new Cell<string[]>([]);
  /** Pages that the server was asked to open and has not yet. */
  readonly opening = new Cell<readonly { name: string }[]>([]);
  readonly active = new Cell<PageEditor | null>(null);
  readonly notifications = new Notifications();
  readonly dialog = new Cell<DialogName>(null);
  /** What the dialog is about: a block id, a page id. */
  dialogSubject: string | null = null;
  readonly quick = new Cell<QuickInsert | null>(null);
  readonly wireHint = new Cell<WireHint | null>(null);
  readonly recovery = new Cell<RecoveryInfo[]>([]);
  readonly restarted = new Cell<boolean>(false);
  readonly settings: Cell<Settings> = loadSettings();
  readonly helpFor = new Cell<string | null>(null);
  readonly inspect = new Cell<string | null>(null);
  clip: Clip | null = null;
  /** Shows blocks in the canvas; set by the canvas that is mounted. */
  reveal: (ids: string[], zoom?: boolean) => void = () => {};
  private readonly editors = new Map<string, PageEditor>();
  /** Pages that the server's last list had. */
  private listed: ReadonlySet<string> = new Set();

  constructor(readonly client: WeftClient) {
    this.connection = new Cell(client.connection);
    client.onConnection((state) => {
      this.connection.set(state);
      if (state.state === "open") for (const editor of this.editors.values()) if (editor.failure.get() !== null) void this.read(editor);
    });
    client.onEvent((event) => this.receive(event));
  }

  /** Connects, and opens `page` (a path of the folder), or what the command line named. */
  async start(page?: string | null): Promise<void> {
    this.client.start();
    // all at once: each call takes its time where the server is far away
    const asked = page ? this.client.open({ path: page }) : undefined;
    asked?.catch(() => {}); // told below
    const [info, schema, open] = await Promise.all([this.client.info(), this.client.schema(), this.client.openPages()]);
    this.server.set(info);
    this.schema.set(new SchemaIndex(schema));
    this.pages.set(open);
    const wanted = page ?? info.open;
    if (wanted) await this.open({ path: wanted }, asked);
    else if (open[0]) await this.show(open[0].id);
    if (!(await this.offerRecovery()) && !this.settings.get().tourSeen && isXor(this.active.get())) this.dialog.set("tour");
  }

  // ---- pages -----------------------------------------------------------------------------------------------------------

  async open(source: PageSource, asked = this.client.open(source)): Promise<void> {
    const entry = { name: nameOf(source) };
    const end = (): void => this.opening.update((list) => list.filter((other) => other !== entry));
    this.opening.update((list) => [...list, entry]);
    try {
      const info = await asked;
      this.pages.update((pages) => (pages.some((p) => p.id === info.id) ? pages : [...pages, info]));
      const shown = this.show(info.id, info);
      end();
      await shown;
    } catch (error) {
      end();
      const { message, hint } = error instanceof WeftError ? error.diagnostic : { message: String(error), hint: undefined };
      this.toast({ kind: "error", text: text(texts.app.notOpened, { name: entry.name, reason: message }), detail: hint });
    }
  }

  async show(id: string, given?: PageInfo): Promise<void> {
    const schema = this.schema.get();
    if (!schema) return;
    let editor = this.editors.get(id);
    if (!editor) {
      const info = given ?? this.pages.get().find((p) => p.id === id) ?? (await this.client.page(id).info());
      editor = new PageEditor(this.client.page(id), info, schema);
      editor.notify = (notice) => this.toast(notice);
      this.editors.set(id, editor);
      this.tabs.update((tabs) => (tabs.includes(id) ? tabs : [...tabs, id]));
      this.active.set(editor);
      await this.read(editor);
    } else {
      this.active.set(editor);
    }
  }

  /** Reads a page (again). */
  async read(editor: PageEditor): Promise<void> {
    await editor.load().catch((error: unknown) => this.report(error));
  }

  editor(id: string): PageEditor | undefined {
    return this.editors.get(id);
  }

  /** Closes a page here and on the server. False where it has edits that are not saved, and `discard` is not given. */
  async closePage(id: string, discard = false): Promise<boolean> {
    try {
      await this.client.page(id).close(discard);
      this.forget(id);
      return true;
    } catch (error) {
      if (error instanceof WeftError && error.status === 409 && !discard) return false;
      if (error instanceof WeftError && error.status === 404) this.forget(id);
      else this.report(error);
      return true;
    }
  }

  private forget(id: string): void {
    this.editors.get(id)?.dispose();
    this.editors.delete(id);
    this.pages.update((pages) => pages.filter((p) => p.id !== id));
    const tabs = this.tabs.get().filter((tab) => tab !== id);
    this.tabs.set(tabs);
    if (this.active.get()?.id !== id) return;
    const next = tabs.at(-1);
    this.active.set(null);
    if (next) void this.show(next);
  }

  async save(options: { path?: string; overwrite?: boolean; force?: boolean } = {}): Promise<boolean> {
    const editor = this.active.get();
    if (!editor) return false;
    if (!options.path && !editor.info.get().path) {
      this.dialog.set("saveAs");
      return false;
    }
    try {
      editor.info.set(await editor.api.save(options));
      this.announce(text(texts.app.saved, { path: editor.info.get().path ?? "" }));
      return true;
    } catch (error) {
      if (error instanceof WeftError && error.diagnostic.code === "aborted") this.dialog.set("changedOnDisk");
      else if (error instanceof WeftError && error.diagnostic.code === "already_exists") throw error;
      else this.report(error);
      return false;
    }
  }

  /** Takes back edits that an earlier start of the server left. The page as the file has it, which may be open, gives way. False where some could not be made. */
  async recover(entry: RecoveryInfo): Promise<boolean> {
    const asSaved = entry.path === null ? undefined : (await this.client.openPages()).find((page) => page.path === entry.path);
    if (asSaved && !(await this.closePage(asSaved.id))) throw new Error(text(texts.dialogs.recoverEdited, { name: entry.path ?? entry.name }));
    const info = await this.client.recover(entry.id);
    this.pages.update((pages) => (pages.some((p) => p.id === info.id) ? pages : [...pages, info]));
    const missing = info.missing_edits ?? 0;
    if (missing) this.toast({ kind: "warning", text: plural(missing, texts.dialogs.missingOne, texts.dialogs.missingMany), stays: true });
    await this.show(info.id, info);
    return missing === 0;
  }

  private receive(event: Event): void {
    if (event.type === "pages") {
      this.pages.set(event.pages);
      const open = new Set(event.pages.map((p) => p.id));
      // A list may be older than the answer that opened a page: only one that has been listed is missed.
      if (!this.restarted.get()) for (const id of this.tabs.get()) if (!open.has(id) && this.listed.has(id)) this.forget(id);
      this.listed = open;
      for (const info of event.pages) this.editors.get(info.id)?.info.update((now) => ({ ...now, dirty: info.dirty, path: info.path, name: info.name, on_disk: info.on_disk }));
    } else if (event.type === "bye" && event.reason === "restarted") {
      this.restarted.set(true);
      void this.reopen();
    }
  }

  /** After a restart of the server with the same token: the pages are opened again; unsaved edits come from its journal. */
  private async reopen(): Promise<void> {
    const infos = this.tabs.get().flatMap((id) => this.editors.get(id)?.info.get() ?? []);
    const shown = this.active.get()?.info.get().path;
    for (const id of [...this.tabs.get()]) this.forget(id);
    this.restarted.set(false);
    for (const info of infos) if (info.path) await this.open({ path: info.path });
    const again = this.pages.get().find((p) => p.path === shown);
    if (again) await this.show(again.id);
    await this.offerRecovery();
  }

  /** Asks what is to become of the unsaved edits of an earlier start; false where there are none. */
  private async offerRecovery(): Promise<boolean> {
    const recovery = await this.client.recovery().catch(() => []);
    this.recovery.set(recovery);
    if (recovery.length) this.dialog.set("recovery");
    return recovery.length > 0;
  }

  // ---- the screen ------------------------------------------------------------------------------------------------------

  set<K extends keyof Settings>(name: K, value: Settings[K]): void {
    this.settings.update((settings) => ({ ...settings, [name]: value }));
  }

  ask(dialog: DialogName, subject: string | null = null): void {
    this.dialogSubject = subject;
    this.dialog.set(dialog);
  }

  toast({ kind, text, detail, stays }: Notice): void {
    this.notifications.show(kind, detail ? `${text} (${detail})` : text, undefined, stays);
  }

  /** Says something to screen readers. */
  announce(text: string): void {
    this.notifications.announce(text);
  }

  readonly report = (error: unknown): void => {
    const diagnostic = error instanceof WeftError ? error.diagnostic : undefined;
    this.toast({ kind: "error", text: diagnostic?.message ?? (error instanceof Error ? error.message : String(error)), detail: diagnostic?.hint });
  };

  /** For calls that take time: shows blocks as `reveal` does, unless the user has moved the canvas or gone to another page since this call. */
  revealLater(): Workbench["reveal"] {
    const page = this.active.get();
    const looks = page?.looks;
    return (ids, zoom) => {
      if (page && this.active.get() === page && page.looks === looks) this.reveal(ids, zoom);
    };
  }

  /** Plots a value of the page that is shown, and opens the plots. */
  plot(name: string): void {
    this.active.get()?.plots.add(name);
    this.settings.update((s) => ({ ...s, bottom: true, bottomTab: "plots" }));
  }
}

/** What a page is called before it is open. */
function nameOf(source: PageSource): string {
  if ("path" in source) return source.path;
  return ("name" in source ? source.name : undefined) ?? ("example" in source ? source.example : texts.dialogs.empty);
}

/** The page of the tour. */
export const isXor = (editor: PageEditor | null): boolean => /^xor\b/.test(editor?.info.get().name ?? "");
