/** Arranging by elk, unmodified, in a worker that is loaded when it is first asked for. */
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import { fromElk, toElk, type ArrangeBlock, type ArrangeOptions, type ArrangeWire, type Arrangement } from "./graph";

/** An arrangement in the making. */
export interface Arranging {
  /** Rejects with an Error named "AbortError" when cancelled. */
  readonly result: Promise<Arrangement>;
  cancel(): void;
}

function cancelled(): Error {
  const error = new Error("arranging was cancelled");
  error.name = "AbortError";
  return error;
}

/**
 * Places the blocks in columns by their wires. Give it a part of the page, and only that part moves, about where it is. The page stays usable
 * meanwhile; 5,000 blocks take about ten seconds.
 */
export function arrange(blocks: readonly ArrangeBlock[], wires: readonly ArrangeWire[], options?: ArrangeOptions): Arranging {
  let stop: (() => void) | undefined;
  let over = false;
  const result = new Promise<Arrangement>((resolve, reject) => {
    const end = () => {
      over = true;
      stop = undefined;
    };
    stop = () => {
      end();
      reject(cancelled());
    };
    void import("elkjs/lib/elk-api").then(async ({ default: Elk }) => {
      if (over) return;
      const elk = new Elk({ workerFactory: () => new Worker(workerUrl) });
      stop = () => {
        end();
        elk.terminateWorker();
        reject(cancelled());
      };
      try {
        const graph = await elk.layout(toElk(blocks, wires, options));
        if (!over) resolve(fromElk(graph, blocks));
      } finally {
        end();
        elk.terminateWorker();
      }
    }).catch(reject);
  });
  return { result, cancel: () => stop?.() };
}
