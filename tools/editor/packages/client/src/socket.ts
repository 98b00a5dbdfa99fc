import type { Diagnostic, Event, PageInfo, Sample } from "./types";
import { decodeSample } from "./frames";
import { WeftError } from "./http";

/** How the connection is. `refused`: the token is not (or no longer) the server's; only a new address helps. */
export type ConnectionState =
  | { state: "connecting" }
  | { state: "open"; client: string }
  | { state: "waiting"; attempt: number; retryAt: number }
  | { state: "refused" }
  | { state: "closed" };

export interface Hello {
  instance: string;
  client: string;
  resumed: boolean;
  version: string;
  lease_seconds: number;
  pages: PageInfo[];
}

type Call = { resolve: (answer: Record<string, unknown>) => void; reject: (error: WeftError) => void };

const beatEvery = 5000;
const retryDelays = [250, 500, 1000, 2000, 4000, 8000];

/**
 * The WebSocket with what makes it last: hello, heartbeat, reconnection with growing pauses, and calls that are answered. Subscriptions
 * are the matter of who holds it: `onHello` is called after each (re)connection.
 */
export class Socket {
  state: ConnectionState = { state: "closed" };
  onState: (state: ConnectionState) => void = () => {};
  onHello: (hello: Hello) => void = () => {};
  onEvent: (event: Event) => void = () => {};
  onSample: (sample: Sample) => void = () => {};
  /** Asked before each attempt to reconnect: whether the token still serves. */
  check: () => Promise<"ok" | "refused" | "unreachable"> = async () => "ok";

  private socket: WebSocket | null = null;
  private client: string | null = null;
  private nextId = 1;
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heartbeat: ReturnType<typeof setInterval> | undefined;
  private lastSent = 0;
  private lastBeat = 0;
  /** When the first ping since the server was heard last was sent; 0: none was. */
  private pinged = 0;
  private wanted = false;
  private readonly calls = new Map<number, Call>();

  constructor(private readonly url: string, private readonly token: string, private readonly name: string) {}

  open(): void {
    this.wanted = true;
    globalThis.document?.addEventListener("visibilitychange", this.seen);
    if (!this.socket) this.connect();
  }

  close(): void {
    this.wanted = false;
    globalThis.document?.removeEventListener("visibilitychange", this.seen);
    clearTimeout(this.timer);
    this.socket?.close(1000);
    this.drop();
    this.set({ state: "closed" });
  }

  /** Tries at once, where it waits for its next attempt. */
  retryNow(): void {
    if (this.state.state === "waiting") this.connect();
  }

  /** Sends a call and waits for its answer. Rejects with WeftError; status 0 where the connection is not there. */
  call<T = Record<string, unknown>>(op: string, body: Record<string, unknown> = {}): Promise<T> {
    if (this.state.state !== "open" || !this.socket) return Promise.reject(offline());
    const id = this.nextId++;
    this.send({ op, id, ...body });
    return new Promise<T>((resolve, reject) => this.calls.set(id, { resolve: resolve as Call["resolve"], reject }));
  }

  private send(message: Record<string, unknown>): void {
    this.lastSent = Date.now();
    this.socket?.send(JSON.stringify(message));
  }

  private connect(): void {
    clearTimeout(this.timer);
    if (this.socket) return;
    this.set({ state: "connecting" });
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.url, ["weft.v1", `weft.token.${this.token}`]);
    } catch {
      this.lost();
      return;
    }
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.send({ op: "hello", protocol: 1, name: this.name, features: [], ...(this.client ? { resume: this.client } : {}) });
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => {
      this.pinged = 0;
      if (typeof message.data === "string") this.text(message.data);
      else this.binary(message.data);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.lost();
    };
  }

  private text(data: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(data) as Record<string, unknown>;
    } catch {
      return;
    }
    switch (message["type"]) {
      case "hello":
        this.greeted(message as unknown as Hello);
        return;
      case "ok":
      case "error":
        this.answered(message);
        return;
      default:
        this.onEvent(message as unknown as Event);
    }
  }

  private binary(data: ArrayBuffer): void {
    const sample = decodeSample(data);
    if (sample) this.onSample(sample);
  }

  private greeted(hello: Hello): void {
    this.client = hello.client;
    this.attempt = 0;
    this.set({ state: "open", client: hello.client });
    clearInterval(this.heartbeat);
    this.lastBeat = Date.now();
    this.heartbeat = setInterval(() => this.beat(), beatEvery);
    this.onHello(hello);
  }

  /** Silence is a lost connection only where a ping was not answered: browsers let the timers of hidden tabs sleep. */
  private beat(): void {
    const now = Date.now();
    const late = now - this.lastBeat > 2 * beatEvery;
    this.lastBeat = now;
    if (late) this.pinged = 0;
    if (this.pinged && now - this.pinged >= 2 * beatEvery) {
      this.socket?.close(4000);
      this.lost();
    } else if (late || now - this.lastSent >= 0.9 * beatEvery) {
      this.ping();
    }
  }

  private ping(): void {
    this.pinged ||= Date.now();
    this.call("ping").catch(() => {});
  }

  /** The tab is seen again: what its timers missed is made up for. */
  private readonly seen = (): void => {
    if (document.visibilityState !== "visible") return;
    if (this.state.state === "open") this.ping();
    else this.retryNow();
  };

  private answered(message: Record<string, unknown>): void {
    const id = message["id"] as number;
    const call = this.calls.get(id);
    this.calls.delete(id);
    if (!call) return;
    if (message["type"] === "ok") call.resolve(message);
    else call.reject(new WeftError(422, message["error"] as Diagnostic));
  }

  private drop(): void {
    clearInterval(this.heartbeat);
    this.pinged = 0;
    if (this.socket) {
      this.socket.onclose = null;
      this.socket.onmessage = null;
      this.socket = null;
    }
    for (const call of this.calls.values()) call.reject(offline());
    this.calls.clear();
  }

  private lost(): void {
    this.drop();
    if (!this.wanted) return;
    const delay = retryDelays[Math.min(this.attempt, retryDelays.length - 1)] ?? 8000;
    this.attempt++;
    this.set({ state: "waiting", attempt: this.attempt, retryAt: Date.now() + delay });
    this.timer = setTimeout(() => void this.again(), delay);
  }

  private async again(): Promise<void> {
    const answer = await this.check();
    if (!this.wanted || this.socket) return;
    if (answer === "refused") this.set({ state: "refused" });
    else if (answer === "unreachable") this.lost();
    else this.connect();
  }

  private set(state: ConnectionState): void {
    this.state = state;
    this.onState(state);
  }
}

const offline = (): WeftError => new WeftError(0, { code: "internal", severity: "error", message: "The server is not connected." });
