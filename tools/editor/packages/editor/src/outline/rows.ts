/** The rows of the outline: groups, blocks and ports, as many as are open. */
import type { SceneState } from "../overview";
import { text } from "../texts";
import type { TreeRow } from "../ui";
import { outlineTexts as t } from "./texts";

/** A port as the outline tells it. */
export interface OutlinePort {
  readonly port: string;
  /** Such as "float [2,3]". */
  readonly type?: string;
  /** Of inputs: the outputs that are wired to it. */
  readonly from?: readonly string[];
  /** Of inputs: a value that stands on the page. */
  readonly value?: string;
  /** Of outputs: the inputs that read it. */
  readonly to?: readonly string[];
}

/** A block as the outline tells it. */
export interface OutlineBlock {
  readonly id: string;
  readonly type: string;
  readonly category: string;
  readonly state?: SceneState;
  readonly fault?: "error" | "warning";
  readonly faultText?: string;
  readonly inputs: readonly OutlinePort[];
  readonly outputs: readonly OutlinePort[];
}

export type OutlineOrder = "page" | "category" | "type" | "faulty";

export type OutlineRow = TreeRow & (
  | { readonly kind: "group"; readonly count: number }
  | { readonly kind: "block"; readonly block: OutlineBlock }
  | { readonly kind: "input" | "output"; readonly block: OutlineBlock; readonly port: OutlinePort }
);

/** Blocks whose id, type or category has all of the words. */
export function searchBlocks(blocks: readonly OutlineBlock[], search: string): readonly OutlineBlock[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return blocks;
  return blocks.filter((block) => {
    const hay = `${block.id} ${block.type} ${block.category}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

function groupsOf(blocks: readonly OutlineBlock[], order: OutlineOrder): [name: string, blocks: OutlineBlock[]][] {
  const groups = new Map<string, OutlineBlock[]>(order === "faulty" ? [[t.faulty, []], [t.others, []]] : []);
  for (const block of blocks) {
    const name = order === "category" ? block.category : order === "type" ? block.type : block.fault ? t.faulty : t.others;
    const group = groups.get(name);
    if (group) group.push(block);
    else groups.set(name, [block]);
  }
  const list = [...groups].filter(([, members]) => members.length > 0);
  return order === "faulty" ? list : list.sort(([a], [b]) => a.localeCompare(b));
}

/**
 * All visible rows. `closed` has the groups that are closed, `open` the blocks whose ports show.
 */
export function outlineRows(
  blocks: readonly OutlineBlock[], order: OutlineOrder, closed: ReadonlySet<string>, open: ReadonlySet<string>, selection: ReadonlySet<string>,
): OutlineRow[] {
  const rows: OutlineRow[] = [];
  const addBlocks = (members: readonly OutlineBlock[], level: number) => members.forEach((block, i) => {
    const ports = block.inputs.length + block.outputs.length;
    const expanded = ports === 0 ? undefined : open.has(block.id);
    rows.push({ kind: "block", id: `b:${block.id}`, label: block.id, level, block, expanded, selected: selection.has(block.id), place: i + 1, siblings: members.length });
    if (expanded) rows.push(...portRows(block, level + 1));
  });
  if (order === "page") addBlocks(blocks, 1);
  else {
    const groups = groupsOf(blocks, order);
    groups.forEach(([name, members], i) => {
      const id = `g:${name}`;
      const expanded = !closed.has(id);
      rows.push({ kind: "group", id, label: name, level: 1, count: members.length, expanded, place: i + 1, siblings: groups.length });
      if (expanded) addBlocks(members, 2);
    });
  }
  return rows;
}

function portRows(block: OutlineBlock, level: number): OutlineRow[] {
  const siblings = block.inputs.length + block.outputs.length;
  const row = (kind: "input" | "output", port: OutlinePort, place: number): OutlineRow =>
    ({ kind, id: `${kind[0]}:${block.id}.${port.port}`, label: port.port, level, block, port, place, siblings });
  return [...block.inputs.map((port, i) => row("input", port, i + 1)), ...block.outputs.map((port, i) => row("output", port, block.inputs.length + i + 1))];
}

/** What is at the other end of a port. */
export function portState(row: OutlineRow & { port: OutlinePort }): string {
  const { from = [], value, to = [] } = row.port;
  if (row.kind === "output") return to.length > 0 ? text(t.readers, { readers: to.join(", ") }) : t.noReaders;
  return from.length > 0 ? text(t.wiredFrom, { from: from.join(", ") }) : value !== undefined ? text(t.value, { value }) : t.open;
}

/** What a screen reader says of a row. */
export function describeRow(row: OutlineRow): string {
  if (row.kind === "group") return text(t.group, { name: row.label, count: row.count });
  if (row.kind !== "block") {
    return text(row.kind === "input" ? t.input : t.output, { port: row.label, type: row.port.type ? ` ${row.port.type}` : "", state: portState(row) });
  }
  const { block } = row;
  return text(t.block, {
    id: block.id, type: block.type, inputs: block.inputs.length, outputs: block.outputs.length,
    state: block.state && block.state !== "idle" ? `, ${block.state}` : "", fault: block.fault ? `, ${block.fault}: ${block.faultText ?? ""}` : "",
  });
}
