import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { BlockSchema } from "@weft/client";
import { addBlock } from "../actions/edit";
import { freePlace } from "../actions/place";
import { dragType, dropBlock } from "../actions/drop";
import { focusSoon } from "../actions/focus";
import { categoryColor, categoryTitle } from "../model/names";
import { useCell, useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Icon } from "../ui";
import { useTouchDrag } from "./touchDrag";
import "./palette.css";

const t = texts.palette;

/** All block types by category, and a search over names, aliases and what they do. */
export function Palette() {
  const workbench = useWorkbench();
  const schema = useCell(workbench.schema);
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(["core"]));
  const list = useRef<HTMLDivElement>(null);
  const hits = useMemo(() => (query.trim() && schema ? schema.search(query, 80) : null), [query, schema]);
  useTouchDrag(list, schema !== null, {
    pick: (element) => element.closest<HTMLElement>("[data-type]")?.dataset["type"],
    dropped: (type, at) => void dropBlock(workbench, type, at),
  });
  if (!schema) return null;

  const insert = async (block: BlockSchema): Promise<void> => {
    const page = workbench.active.get();
    if (!page) return;
    const reveal = workbench.revealLater();
    const id = await addBlock(page, block.block, freePlace(page), { show: (added) => reveal([added]) });
    if (id) workbench.announce(text(t.add, { block: id, summary: block.summary }));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && hits?.[0] && (event.target as Element).tagName === "INPUT") void insert(hits[0].schema);
    if (event.key === "Escape") {
      setQuery("");
      focusSoon(".w-palette input");
    }
    moveFocus(event, list.current);
  };
  const toggle = (category: string): void => setOpen((now) => {
    const next = new Set(now);
    if (!next.delete(category)) next.add(category);
    return next;
  });
  return (
    <div className="w-palette" onKeyDown={onKey}>
      <div className="w-search">
        <Icon name="search" size={14} />
        <input type="search" className="w-input" placeholder={t.searchHint} aria-label={t.search} value={query} onChange={(event) => setQuery(event.target.value)} />
      </div>
      <div ref={list} className="w-palette-list" role="group" aria-label={t.name}>
        {hits
          ? hits.map(({ schema: block, by }) => <Item key={block.block} block={block} by={by} onAdd={insert} />)
          : [...schema.categories].sort(byTitle).map(([category, blocks]) => (
            <section key={category}>
              <button type="button" className="w-palette-category" aria-expanded={open.has(category)} onClick={() => toggle(category)}>
                <Icon name={open.has(category) ? "chevronDown" : "chevronRight"} size={12} />
                <span className="w-palette-dot" style={{ background: categoryColor(category) }} />
                {categoryTitle(category)}
                <span className="w-palette-count">{blocks.length}</span>
              </button>
              {open.has(category) && blocks.map((block) => <Item key={block.block} block={block} onAdd={insert} />)}
            </section>
          ))}
        {hits?.length === 0 && <p className="w-hint w-pad">{text(t.none, { query })}</p>}
      </div>
    </div>
  );
}

function Item({ block, by, onAdd }: { block: BlockSchema; by?: string; onAdd: (block: BlockSchema) => void }) {
  return (
    <button
      type="button" className="w-palette-item" draggable data-type={block.block} title={block.summary}
      onClick={() => onAdd(block)}
      onDragStart={(event) => {
        event.dataTransfer.setData(dragType, block.block);
        event.dataTransfer.effectAllowed = "copy";
      }}
    >
      <span className="w-palette-dot" style={{ background: categoryColor(block.category) }} />
      <span className="w-palette-name">{block.block}</span>
      <span className="w-palette-summary">{by && by !== "summary" ? text(t.alias, { alias: by }) : block.summary}</span>
    </button>
  );
}

const byTitle = ([a]: [string, unknown], [b]: [string, unknown]): number => (a === "core" ? -1 : b === "core" ? 1 : categoryTitle(a).localeCompare(categoryTitle(b)));

/** Arrow keys go from one button of a list to the next. */
export function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const items = [...(list?.querySelectorAll<HTMLElement>("button") ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = event.key === "ArrowDown" ? items[at + 1] : at <= 0 ? null : items[at - 1];
  event.preventDefault();
  if (next) next.focus();
  else if (event.key === "ArrowUp") list?.parentElement?.querySelector("input")?.focus();
}
