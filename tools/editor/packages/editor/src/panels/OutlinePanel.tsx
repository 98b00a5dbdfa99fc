import { useMemo, useRef } from "react";
import type { Block } from "@weft/client";
import { removeBlocks, rename } from "../actions/edit";
import type { PageEditor } from "../model/pageEditor";
import { typeText } from "../model/names";
import { useCell, useCellPart, usePage, useStructure, useWorkbench } from "../model/react";
import { Outline, type OutlineBlock } from "../outline";

/** Every block of the page as a tree: for screen readers, for the keyboard, and to find things. */
export function OutlinePanel() {
  const page = usePage();
  const workbench = useWorkbench();
  const version = useStructure();
  const ticks = useCell(page.runs.tick);
  const running = useCellPart(page.runs.run, (run) => run?.state === "running");
  // while a page runs, the rows are made anew at every fourth change of states alone; the last change counts
  const tick = running ? Math.floor(ticks / 4) : ticks;
  const selection = useCell(page.selection);
  const made = useRef(new Map<string, Made>());
  const blocks = useMemo(() => outlineBlocks(page, made.current), [page, version, tick]);
  const readOnly = useCell(workbench.server)?.read_only ?? false;
  return (
    <div className="w-outline-panel">
      <Outline
        blocks={blocks} selection={selection} readOnly={readOnly} announce={(message) => workbench.announce(message)}
        onSelect={(ids) => page.select(ids)} onReveal={(id) => workbench.reveal([id])}
        onRename={async (id, to) => {
          let problem: string | undefined;
          await rename(workbench, page, id, to, (reason) => (problem = reason.message));
          return problem;
        }}
        onDelete={(ids) => void removeBlocks(workbench, page, [...ids])} onConnect={(id, port) => workbench.ask("connect", port ? `${id}.${port.name}` : id)}
      />
    </div>
  );
}

/** A row as it was made, and of which version of its block. */
interface Made {
  version: number;
  block: Block;
  row: OutlineBlock;
}

/** The rows of all blocks; those that are the same as before are the same objects. */
function outlineBlocks(page: PageEditor, made: Map<string, Made>): OutlineBlock[] {
  const { model, runs } = page;
  const rows = [...model.blocks.values()].map((block) => {
    const version = model.version(block.id);
    const before = made.get(block.id);
    const same = before?.version === version && before.block === block;
    if (same && before.row.state === runs.state(block.id)) return before.row;
    const row = same ? { ...before.row, state: runs.state(block.id) } : outlineBlock(page, block);
    made.set(block.id, { version, block, row });
    return row;
  });
  if (made.size > rows.length * 2) made.clear();
  return rows;
}

function outlineBlock(page: PageEditor, block: Block): OutlineBlock {
  const { model, runs } = page;
  const schema = model.schema.get(block.block);
  const faults = model.faultsOf(block.id);
  const rows = model.shape(block.id).rows.filter((row) => !row.more);
  return {
    id: block.id, type: block.block, category: schema?.category ?? "", state: runs.state(block.id),
    fault: faults.some((f) => f.severity === "error") ? "error" : faults.length ? "warning" : undefined, faultText: faults[0]?.message,
    inputs: rows.filter((row) => row.side === "in").map((row) => {
      const wire = model.wireAt(`${block.id}.${row.name}`);
      return { port: row.name, type: wire && typeText(model.types.get(wire.from)), from: wire ? [wire.from] : [], value: row.literal };
    }),
    outputs: rows.filter((row) => row.side === "out").map((row) => ({
      port: row.name, type: typeText(model.types.get(`${block.id}.${row.name}`)), to: [...(model.readersOf(block.id).get(row.name) ?? [])],
    })),
  };
}
