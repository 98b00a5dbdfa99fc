import { useEffect, useState } from "react";
import { arrange, type ArrangeBlock, type ArrangeWire } from "../../packages/editor/src/arrange";

/** Times the worker: ?n=1000; window.arranged tells the milliseconds. */
export function ArrangePart() {
  const [said, setSaid] = useState("arranging");
  useEffect(() => {
    const n = Number(new URLSearchParams(location.search).get("n") ?? 200);
    const blocks: ArrangeBlock[] = Array.from({ length: n }, (_, i) => ({ id: `b${i}`, x: 0, y: 0, width: 180, height: 80, inputs: [{ port: "x", y: 40 }, { port: "y", y: 60 }], outputs: [{ port: "z", y: 40 }] }));
    const wires: ArrangeWire[] = [];
    for (let i = 1; i < n; ++i) for (const [port, from] of [["x", i - 1 - ((i * 7) % Math.min(i, 12))], ["y", i - 1 - ((i * 13) % Math.min(i, 40))]] as const) if (port === "x" || i % 3 === 0) wires.push({ id: `${i}${port}`, from: `b${from}`, fromPort: "z", to: `b${i}`, toPort: port });
    const begin = performance.now();
    const cancel = arrange(blocks, wires);
    setTimeout(() => cancel.cancel(), 5);
    void cancel.result.then(() => setSaid("not cancelled"), (error: Error) => arrange(blocks, wires).result.then((done) => {
      (window as { arranged?: unknown }).arranged = { ms: performance.now() - begin, places: done.places.size, bends: done.bends.size, first: error.name };
      setSaid(JSON.stringify((window as { arranged?: unknown }).arranged));
    }));
  }, []);
  return <p>{said}</p>;
}
