import { Http, WeftError } from "./http";
import { PageApi } from "./page";
import { Socket, type ConnectionState, type Hello } from "./socket";
import type {
  BlockSchema, Diagnostic, Event, ExampleInfo, FileInfo, PageInfo, RecoveryInfo, Sample, Schema, ServerInfo,
} from "./types";

export interface ClientOptions {
  /** Where the server is: "http://127.0.0.1:8080"; by default where the page comes from. */
  base?: string;
  token: string;
  /** What other clients see of this one. */
  name?: string;
}

/** What opens a page: a file of the folder, an example, a template, or its text. */
export type PageSource = { path: string } | { example: string } | { template: string; name?: string } | { text: string; name?: string };

type EventListener = (event: Event) => void;

/**
 * A client of one server: its calls, and its events with reconnection and replay. Needs no framework. `start` connects; `close` ends.
 * Listeners are called in the order of the events, never during a call of the client.
 */
export class WeftClient {
  readonly http: Http;
  readonly socket: Socket;
  connection: ConnectionState = { state: "closed" };
  hello: Hello | null = null;
  private readonly eventListeners = new Set<EventListener>();
  private readonly stateListeners = new Set<(state: ConnectionState) => void>();
  private readonly pages = new Map<string, PageApi>();

  constructor(options: ClientOptions) {
    const base = (options.base ?? globalThis.location?.origin ?? "").replace(/\/$/, "");
    this.http = new Http(base, options.token);
    this.socket = new Socket(`${base.replace(/^http/, "ws")}/v1/ws`, options.token, options.name ?? "editor");
    this.socket.onState = (state) => this.setState(state);
    this.socket.onHello = (hello) => this.greeted(hello);
    this.socket.onEvent = (event) => this.dispatch(event);
    this.socket.onSample = (sample) => this.sampled(sample);
    this.socket.check = () => this.probe();
  }

  start(): void {
    this.socket.open();
  }

  close(): void {
    this.socket.close();
  }

  onConnection(listener: (state: ConnectionState) => void): () => void {
    this.stateListeners.add(listener);
    return () => this.stateListeners.delete(listener);
  }

  /** Events of all pages that are followed, and those that belong to none. */
  onEvent(listener: EventListener): () => void {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  }

  /** Calls and events of a page that is open on the server. One object for each page. */
  page(id: string): PageApi {
    let page = this.pages.get(id);
    if (!page) this.pages.set(id, (page = new PageApi(this, id)));
    return page;
  }

  // ---- the server ------------------------------------------------------------------------------------------------------

  info(): Promise<ServerInfo> {
    return this.http.get("/info");
  }

  async schema(): Promise<Schema> {
    return { blocks: await this.http.get<BlockSchema[]>("/schema") };
  }

  async help(block: string): Promise<string> {
    return (await this.http.get<{ markdown: string }>(`/blocks/${encodeURIComponent(block)}/help`)).markdown;
  }

  files(): Promise<{ folder: string; files: FileInfo[]; cut: boolean }> {
    return this.http.get("/files");
  }

  readFile(path: string): Promise<ArrayBuffer> {
    return this.http.request("GET", "/file", { query: { path }, accept: "bytes" });
  }

  writeFile(path: string, bytes: ArrayBuffer | Blob, overwrite = false): Promise<{ path: string; bytes: number }> {
    return this.http.request("PUT", "/file", { query: { path, overwrite: overwrite ? 1 : undefined }, bytes });
  }

  async examples(): Promise<ExampleInfo[]> {
    return (await this.http.get<{ examples: ExampleInfo[] }>("/examples")).examples;
  }

  async templates(): Promise<ExampleInfo[]> {
    return (await this.http.get<{ templates: ExampleInfo[] }>("/templates")).templates;
  }

  async openPages(): Promise<PageInfo[]> {
    return (await this.http.get<{ pages: PageInfo[] }>("/pages")).pages;
  }

  open(source: PageSource): Promise<PageInfo> {
    return this.http.post("/pages", source);
  }

  async recovery(): Promise<RecoveryInfo[]> {
    return (await this.http.get<{ recovery: RecoveryInfo[] }>("/recovery")).recovery;
  }

  /** Opens a page with the edits that were kept; `missing_edits` of them could not be made. */
  recover(id: string): Promise<PageInfo & { missing_edits: number }> {
    return this.http.post(`/recovery/${id}/open`);
  }

  forgetRecovery(id: string): Promise<void> {
    return this.http.request("DELETE", `/recovery/${id}`);
  }

  validate(text: string, name = "pasted"): Promise<{ name: string; blocks: number; diagnostics: Diagnostic[] }> {
    return this.http.post("/validate", { text, name });
  }

  // ---- the connection --------------------------------------------------------------------------------------------------

  private setState(state: ConnectionState): void {
    this.connection = state;
    for (const listener of [...this.stateListeners]) listener(state);
  }

  private greeted(hello: Hello): void {
    const restarted = this.hello !== null && this.hello.instance !== hello.instance;
    this.hello = hello;
    this.http.clientId = hello.client;
    if (restarted) this.dispatch({ type: "bye", reason: "restarted" });
    for (const page of this.pages.values()) page.reconnected(restarted);
    this.dispatch({ type: "pages", pages: hello.pages });
  }

  private dispatch(event: Event): void {
    if (event.page !== undefined) this.pages.get(event.page)?.received(event);
    if (event.type === "value.lost") for (const page of this.pages.values()) page.valueLost(event.sub);
    for (const listener of [...this.eventListeners]) listener(event);
  }

  private sampled(sample: Sample): void {
    this.pages.get(sample.page)?.sampled(sample);
  }

  /** Before a reconnection: a server that was started anew takes another token, and says so only to calls. */
  private async probe(): Promise<"ok" | "refused" | "unreachable"> {
    try {
      await this.info();
      return "ok";
    } catch (error) {
      if (error instanceof WeftError && error.status === 401) return "refused";
      return error instanceof WeftError && error.status > 0 ? "ok" : "unreachable";
    }
  }
}
