import type { Diagnostic } from "./types";

/** A refusal of the server, or that it cannot be reached (status 0). */
export class WeftError extends Error {
  override readonly name = "WeftError";
  constructor(readonly status: number, readonly diagnostic: Diagnostic, readonly others: Diagnostic[] = [], readonly revision?: number) {
    super(diagnostic.message);
  }

  /** The server was not reached. */
  get offline(): boolean {
    return this.status === 0;
  }
}

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>;
  json?: unknown;
  bytes?: BodyInit;
  contentType?: string;
  ifMatch?: number;
  signal?: AbortSignal;
  accept?: "json" | "text" | "bytes" | "blob";
}

/** Calls below /v1 with the token. Every failure is a WeftError. */
export class Http {
  /** The id of the WebSocket, which events and breakpoints name. */
  clientId: string | null = null;
  /** Called when the server refuses the token. */
  onUnauthorized: (() => void) | null = null;

  constructor(readonly base: string, readonly token: string) {}

  url(path: string, query: RequestOptions["query"] = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const text = search.toString();
    return `${this.base}/v1${path}${text ? `?${text}` : ""}`;
  }

  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
    let body: BodyInit | undefined = options.bytes;
    if (options.json !== undefined) {
      headers["Content-Type"] = "application/json";
      body = typeof options.json === "string" ? options.json : JSON.stringify(options.json);
    } else if (body !== undefined) {
      headers["Content-Type"] = options.contentType ?? "application/octet-stream";
    }
    if (options.ifMatch !== undefined) headers["If-Match"] = `"${options.ifMatch}"`;
    if (this.clientId) headers["Weft-Client"] = this.clientId;
    let response: Response;
    try {
      response = await fetch(this.url(path, options.query), { method, headers, body, signal: options.signal, cache: "no-store" });
    } catch (cause) {
      if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
      throw new WeftError(0, { code: "internal", severity: "error", message: "The server does not answer." });
    }
    if (!response.ok) throw await this.failure(response);
    if (response.status === 204) return undefined as T;
    if (options.accept === "text") return (await response.text()) as T;
    if (options.accept === "bytes") return (await response.arrayBuffer()) as T;
    if (options.accept === "blob") return (await response.blob()) as T;
    return (await response.json()) as T;
  }

  get<T>(path: string, query?: RequestOptions["query"], signal?: AbortSignal): Promise<T> {
    return this.request<T>("GET", path, { query, signal });
  }

  post<T>(path: string, json: unknown = {}, options: RequestOptions = {}): Promise<T> {
    return this.request<T>("POST", path, { ...options, json });
  }

  private async failure(response: Response): Promise<WeftError> {
    if (response.status === 401) this.onUnauthorized?.();
    let diagnostic: Diagnostic = { code: "internal", severity: "error", message: `The server answered ${response.status}.` };
    let others: Diagnostic[] = [];
    let revision: number | undefined;
    try {
      const body = (await response.json()) as { error?: Diagnostic & { others?: Diagnostic[] }; revision?: number };
      if (body.error) {
        diagnostic = body.error;
        others = body.error.others ?? [];
      }
      revision = body.revision;
    } catch {
      // the answer of something in between: its status is all there is
    }
    return new WeftError(response.status, diagnostic, others, revision);
  }
}
