import type { EdgeChange, NodeChange } from "@xyflow/react";
import type { Selection } from "./flow";

/**
 * The selection after React Flow's changes. It holds, and so lets go of, only what is in sight: where something is newly selected and does not
 * add to what is, the rest goes, too. `prefix`: of what the changes are about, as selections call it.
 */
export function selectionAfter(now: Selection, changes: readonly (NodeChange | EdgeChange)[], prefix: string, adds: boolean): Selection {
  const picks = changes.filter((change) => change.type === "select").map(({ id, selected }) => ({ id: prefix + id, selected }));
  const anew = !adds && picks.some(({ id, selected }) => selected && !now.has(id));
  const next = new Set(anew ? [] : now);
  for (const { id, selected } of picks) {
    if (selected) next.add(id);
    else next.delete(id);
  }
  return next;
}
