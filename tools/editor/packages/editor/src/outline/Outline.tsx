/** Every block of a page as a tree, with all that can be done to it by keyboard: also what screen readers have in place of the canvas. */
import { useId, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { text } from "../texts";
import { Icon, Menu, Tree, type MenuItem } from "../ui";
import { describeRow, outlineRows, portState, searchBlocks, type OutlineBlock, type OutlineOrder, type OutlineRow } from "./rows";
import { RenameDialog } from "./RenameDialog";
import { outlineTexts as t } from "./texts";
import "./outline.css";

export interface OutlineProps {
  /** In page order. */
  blocks: readonly OutlineBlock[];
  selection: ReadonlySet<string>;
  onSelect(ids: readonly string[]): void;
  /** Shows the block on the canvas. */
  onReveal(id: string): void;
  /** The answer is what is wrong, or undefined. */
  onRename(id: string, to: string): Promise<string | undefined>;
  onDelete(ids: readonly string[]): void;
  /** Opens "connect to..." for a block, or for one of its ports. */
  onConnect(id: string, port?: { name: string; direction: "input" | "output" }): void;
  announce(message: string): void;
  readOnly?: boolean;
}

/** Search and order above, the tree below. */
export function Outline(props: OutlineProps) {
  const { blocks, selection, onSelect, onReveal, announce, readOnly } = props;
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<OutlineOrder>("page");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string>();
  const [renaming, setRenaming] = useState<string>();
  const [menu, setMenu] = useState<{ row: OutlineRow; at: { x: number; y: number } }>();
  const anchor = useRef<string | undefined>(undefined);
  const keysId = useId();
  const found = useMemo(() => searchBlocks(blocks, search), [blocks, search]);
  const rows = useMemo(() => outlineRows(found, order, closed, open, selection), [found, order, closed, open, selection]);

  const toggle = (id: string, expanded: boolean) => {
    const isGroup = id.startsWith("g:");
    const change = (set: ReadonlySet<string>, key: string, has: boolean) => { const next = new Set(set); if (has) next.add(key); else next.delete(key); return next; };
    if (isGroup) setClosed((set) => change(set, id, !expanded));
    else setOpen((set) => change(set, id.slice(2), expanded));
  };
  const between = (to: string) => {
    const ids = rows.filter((row) => row.kind === "block").map((row) => row.label);
    const [a, b] = [ids.indexOf(anchor.current ?? to), ids.indexOf(to)].sort((x, y) => x - y);
    return ids.slice(Math.max(0, a!), b! + 1);
  };
  const choose = (rowId: string, event: MouseEvent | KeyboardEvent) => {
    const row = rows.find((each) => each.id === rowId);
    if (!row) return;
    if (row.kind === "group") return toggle(row.id, !row.expanded);
    const { id } = row.block;
    const adds = event.ctrlKey || event.metaKey || ("key" in event && event.key === " ");
    if (event.shiftKey) return onSelect(between(id));
    anchor.current = id;
    if (!adds) {
      onSelect([id]);
      return onReveal(id);
    }
    onSelect(selection.has(id) ? [...selection].filter((each) => each !== id) : [...selection, id]);
  };
  const doomed = (row: OutlineRow) => (row.kind === "group" ? [] : selection.has(row.block.id) ? [...selection] : [row.block.id]);
  const remove = (row: OutlineRow) => {
    const ids = doomed(row);
    if (ids.length === 0) return;
    props.onDelete(ids);
    announce(text(t.deleted, { count: ids.length }));
  };
  const connect = (row: OutlineRow) => {
    if (row.kind === "block") props.onConnect(row.block.id);
    else if (row.kind !== "group") props.onConnect(row.block.id, { name: `${row.block.id}.${row.port.port}`, direction: row.kind });
  };
  const key = (event: KeyboardEvent, row: OutlineRow): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey || readOnly || row.kind === "group") return false;
    if (event.key === "F2" && row.kind === "block") setRenaming(row.block.id);
    else if ((event.key === "Delete" || event.key === "Backspace") && row.kind === "block") remove(row);
    else if (event.key === "c" || event.key === "C") connect(row);
    else return false;
    return true;
  };
  const items = (row: OutlineRow): MenuItem[] => {
    if (row.kind === "group") return [];
    const show: MenuItem = { label: t.select, icon: "target", shortcut: "Enter", onSelect: () => { onSelect([row.block.id]); onReveal(row.block.id); } };
    const wire: MenuItem = { label: t.connect, icon: "link", shortcut: "C", disabled: readOnly, onSelect: () => connect(row) };
    if (row.kind !== "block") return [show, wire];
    return [show, wire, "separator", { label: t.save, icon: "edit", shortcut: "F2", disabled: readOnly, onSelect: () => setRenaming(row.block.id) },
      { label: t.delete, icon: "trash", shortcut: "Delete", danger: true, disabled: readOnly, onSelect: () => remove(row) }];
  };
  const rename = async (to: string) => {
    const problem = await props.onRename(renaming!, to);
    if (problem === undefined) {
      announce(text(t.renamed, { id: renaming!, to }));
      setActive(`b:${to}`);
      setRenaming(undefined);
    }
    return problem;
  };
  return (
    <div className="w-outline">
      <div className="w-outline-tools">
        <span className="w-outline-search">
          <Icon name="search" size={14} />
          <input type="search" className="w-input" placeholder={t.searchHint} aria-label={t.search} value={search}
            onChange={(event) => { setSearch(event.target.value); announce(text(t.found, { count: searchBlocks(blocks, event.target.value).length })); }} />
        </span>
        <select className="w-select" aria-label={t.order} value={order} onChange={(event) => setOrder(event.target.value as OutlineOrder)}>
          <option value="page">{t.byPage}</option>
          <option value="category">{t.byCategory}</option>
          <option value="type">{t.byType}</option>
          <option value="faulty">{t.faultyFirst}</option>
        </select>
      </div>
      <p id={keysId} className="w-visually-hidden">{t.keys}</p>
      <div className="w-outline-tree">
        <Tree
          rows={rows} label={`${t.label}. ${t.keys}`} active={active ?? rows[0]?.id} onActive={setActive} onToggle={toggle} onChoose={choose} onKey={key} multiselect
          onMenu={(row, at) => { if (row.kind !== "group") setMenu({ row, at }); }} describe={describeRow} renderRow={(row) => <Row row={row} />}
          empty={blocks.length === 0 ? t.none : text(t.noneFound, { words: search })}
        />
      </div>
      {menu && <Menu label={menu.row.label} items={items(menu.row)} at={menu.at} onClose={() => setMenu(undefined)} />}
      {renaming !== undefined && <RenameDialog id={renaming} onRename={rename} onClose={() => setRenaming(undefined)} />}
    </div>
  );
}

function Row({ row }: { row: OutlineRow }) {
  if (row.kind === "group") return <><span className="w-outline-group">{row.label}</span>{" "}<span className="w-badge">{row.count}</span></>;
  if (row.kind !== "block") {
    return (
      <>
        <span className="w-outline-arrow" aria-hidden="true">{row.kind === "input" ? "→" : "←"}</span>
        <span>{row.label}</span>{" "}
        {row.port.type && <span className="w-outline-type">{row.port.type}</span>}{" "}
        <span className="w-outline-wire">{portState(row)}</span>
      </>
    );
  }
  const { block } = row;
  return (
    <>
      <span className={`w-outline-dot w-outline-${block.state ?? "idle"}`} aria-hidden="true" />
      <span className="w-outline-id">{block.id}</span>{" "}
      <span className="w-outline-type">{block.type}</span>
      {block.fault && <span className={`w-outline-fault w-outline-fault-${block.fault}`} title={block.faultText}><Icon name={block.fault} size={14} /></span>}
    </>
  );
}
