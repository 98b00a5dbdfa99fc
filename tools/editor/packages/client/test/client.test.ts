import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { decodeFrame, decodeSample, takeAccess, WeftClient, type Event } from "../src/index";

/** A WebSocket whose other end is the test. */
class FakeSocket {
  static all: FakeSocket[] = [];
  binaryType = "blob";
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  constructor(readonly url: string, readonly protocols: string[]) {
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close(): void {}
  says(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  /** Answers the last call of this kind. */
  answers(op: string, body: object = {}): void {
    const call = this.sent.filter((m) => m["op"] === op).at(-1);
    this.says({ type: "ok", id: call?.["id"], ...body });
  }
}

const last = (): FakeSocket => FakeSocket.all.at(-1) as FakeSocket;
const settle = async (): Promise<void> => {
  for (let k = 0; k < 5; k++) await Promise.resolve();
};

const clients: WeftClient[] = [];

function connected(instance = "i1"): WeftClient {
  const client = new WeftClient({ base: "http://127.0.0.1:1", token: "abc" });
  clients.push(client);
  client.start();
  last().onopen?.();
  last().says({ type: "hello", protocol: 1, instance, client: "c1", resumed: false, lease_seconds: 15, pages: [] });
  return client;
}

beforeEach(() => {
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.useFakeTimers();
});

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the token", () => {
  it("moves from the address into the tab's storage", () => {
    window.location.hash = "#token=0123&page=a%20b.page.json";
    expect(takeAccess()).toEqual({ token: "0123", page: "a b.page.json" });
    expect(window.location.hash).not.toContain("token");
    expect(takeAccess().token).toBe("0123");
  });

  it("goes in the subprotocol, not in the address", () => {
    connected();
    expect(last().url).toBe("ws://127.0.0.1:1/v1/ws");
    expect(last().protocols).toEqual(["weft.v1", "weft.token.abc"]);
  });
});

describe("calls of a page", () => {
  it("change the document one after the other, and look at it after the changes before them", async () => {
    const asked: { what: string; answer: (ok: boolean) => void }[] = [];
    vi.stubGlobal("fetch", (url: string, { method }: RequestInit) => new Promise((resolve) => asked.push({
      what: `${method} ${url.replace(/.*\/p1/, "")}`,
      answer: (ok) => resolve(new Response(JSON.stringify(ok ? {} : { error: { code: "x", severity: "error", message: "no" } }), { status: ok ? 200 : 422 })),
    })));
    const page = connected().page("p1");
    const refused = page.edit([]).catch(() => "refused");
    void page.undo();
    void page.text();
    expect(asked.map(({ what }) => what)).toEqual(["PATCH "]);
    asked[0]?.answer(false);
    expect(await refused).toBe("refused");
    await settle();
    expect(asked.map(({ what }) => what)).toEqual(["PATCH ", "POST /undo"]);
    asked[1]?.answer(true);
    for (let k = 0; k < 20 && asked.length < 3; k++) await settle();
    expect(asked[2]?.what).toBe("GET /text");
    void page.view();
    expect(asked[3]?.what).toBe("GET /view");
  });
});

describe("events of a page", () => {
  const changed = (seq: number): object => ({ type: "values.reset", page: "p1", seq });

  function follow(client: WeftClient, seq: number): { seen: number[]; gaps: number } {
    const heard = { seen: [] as number[], gaps: 0 };
    client.page("p1").follow(seq, {
      event: (event: Event) => heard.seen.push(event.seq ?? -1),
      gap: () => heard.gaps++,
      restarted: () => {},
    });
    return heard;
  }

  it("come once each and in order, whatever comes while they are replayed", async () => {
    const client = connected();
    const heard = follow(client, 10);
    expect(last().sent.at(-1)).toMatchObject({ op: "subscribe", topic: "page", from_seq: 11 });
    last().says(changed(12));
    last().says(changed(11));
    last().answers("subscribe", { gap: false });
    await settle();
    last().says(changed(12));
    last().says(changed(13));
    expect(heard.seen).toEqual([11, 12, 13]);
  });

  it("are asked for again where one is missing", async () => {
    const client = connected();
    const heard = follow(client, 1);
    last().answers("subscribe", { gap: false });
    await settle();
    last().says(changed(4));
    expect(last().sent.at(-1)).toMatchObject({ op: "subscribe", from_seq: 2 });
    last().says(changed(2));
    last().says(changed(3));
    last().answers("subscribe", { gap: false });
    await settle();
    expect(heard.seen).toEqual([2, 3, 4]);
  });

  it("tell of a gap where they are not kept any more", async () => {
    const client = connected();
    const heard = follow(client, 1);
    last().answers("subscribe", { gap: true });
    await settle();
    expect(heard.gaps).toBe(1);
  });

  it("are taken up after a lost connection", async () => {
    vi.stubGlobal("fetch", async () => new Response("{}", { status: 200, headers: { "Content-Type": "application/json" } }));
    const client = connected();
    follow(client, 5);
    last().answers("subscribe", { gap: false });
    await settle();
    last().onclose?.();
    expect(client.connection.state).toBe("waiting");
    await vi.advanceTimersByTimeAsync(300);
    expect(FakeSocket.all).toHaveLength(2);
    last().onopen?.();
    expect(last().sent[0]).toMatchObject({ op: "hello", resume: "c1" });
    last().says({ type: "hello", protocol: 1, instance: "i1", client: "c1", resumed: true, pages: [] });
    expect(last().sent.at(-1)).toMatchObject({ op: "subscribe", from_seq: 6 });
  });
});

it("says that the token is refused after a restart of the server", async () => {
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 401 }));
  const client = connected();
  last().onclose?.();
  await vi.advanceTimersByTimeAsync(300);
  expect(client.connection.state).toBe("refused");
});

describe("the heartbeat", () => {
  const pings = (): number => last().sent.filter((m) => m["op"] === "ping").length;

  it("takes silence for a loss only where a ping was not answered", async () => {
    const client = connected();
    for (let k = 0; k < 10; k++) {
      await vi.advanceTimersByTimeAsync(5000);
      last().answers("ping");
    }
    expect([client.connection.state, pings()]).toEqual(["open", 10]);
    await vi.advanceTimersByTimeAsync(15000);
    expect(client.connection.state).toBe("waiting");
  });

  it("asks anew where its timer came late, and when the tab is seen again", async () => {
    const client = connected();
    await vi.advanceTimersByTimeAsync(5000);
    for (let k = 0; k < 3; k++) {
      vi.setSystemTime(Date.now() + 60000);
      await vi.advanceTimersByTimeAsync(5000);
    }
    expect([client.connection.state, pings()]).toEqual(["open", 4]);
    document.dispatchEvent(new Event("visibilitychange"));
    expect(pings()).toBe(5);
    client.close();
    document.dispatchEvent(new Event("visibilitychange"));
    expect(pings()).toBe(5);
  });

  it("tries to connect at once when the tab is seen again", () => {
    connected();
    last().onclose?.();
    document.dispatchEvent(new Event("visibilitychange"));
    expect(FakeSocket.all).toHaveLength(2);
  });
});

it("asks for a renamed block's values by their new name", async () => {
  const client = connected();
  const page = client.page("p1");
  page.follow(1, { event: () => {}, gap: () => {}, restarted: () => {} });
  last().answers("subscribe", { gap: false });
  await settle();
  page.followValue("a.z", {}, () => {});
  page.followSummaries(["a.z", "b.z"]);
  last().says({ type: "page.changed", page: "p1", seq: 2, change: { renamed: [["a", "c"]] } });
  page.reconnected(false);
  expect(last().sent.slice(-2)).toMatchObject([{ topic: "summaries", names: ["c.z", "b.z"] }, { topic: "value", name: "c.z" }]);
});

describe("binary frames", () => {
  function frame(header: object, tail: ArrayBuffer): ArrayBuffer {
    let text = JSON.stringify(header);
    while ((4 + text.length) % 8) text += " ";
    const bytes = new Uint8Array(4 + text.length + tail.byteLength);
    new DataView(bytes.buffer).setUint32(0, text.length, true);
    bytes.set(new TextEncoder().encode(text), 4);
    bytes.set(new Uint8Array(tail), 4 + text.length);
    return bytes.buffer;
  }

  it("are read by their header", () => {
    const header = { type: "sample", sub: 3, tensors: [{ key: "value", dtype: "DT_FLOAT", shape: [2], offset: 104, bytes: 8 }] };
    let text = JSON.stringify(header);
    while ((4 + text.length) % 8) text += " ";
    const tensor = header.tensors[0];
    if (tensor) tensor.offset = 4 + text.length;
    const sample = decodeSample(frame(header, new Float32Array([1.5, NaN]).buffer));
    expect(sample?.sub).toBe(3);
    expect([...(sample?.value?.data as Float32Array)]).toEqual([1.5, NaN]);
  });

  it("may hold several samples", () => {
    const header = { type: "samples", sub: 3, run: 9, count: 2, tensors: [
      { key: "value", dtype: "DT_FLOAT", shape: [2], offset: 0, bytes: 8 }, { key: "run", dtype: "DT_INT64", shape: [2], offset: 0, bytes: 16 }] };
    for (let k = 0; k < 3; k++) {
      let text = JSON.stringify(header);
      while ((4 + text.length) % 8) text += " ";
      header.tensors.forEach((tensor, at) => (tensor.offset = 4 + text.length + 8 * at));
    }
    const tail = new Uint8Array(24);
    tail.set(new Uint8Array(new Float32Array([0.5, 0.25]).buffer), 0);
    tail.set(new Uint8Array(new BigInt64Array([8n, 9n]).buffer), 8);
    const sample = decodeSample(frame(header, tail.buffer));
    expect(sample?.batch).toEqual({ count: 2, runs: [8, 9] });
    expect([...(sample?.value?.data as Float32Array)]).toEqual([0.5, 0.25]);
  });

  it("that are cut are refused", () => {
    expect(() => decodeFrame(new ArrayBuffer(2))).toThrow(RangeError);
    expect(() => decodeFrame(frame({ type: "sample", tensors: [{ key: "value", dtype: "DT_INT64", shape: [9], offset: 0, bytes: 999 }] }, new ArrayBuffer(0)))).toThrow(RangeError);
  });
});
