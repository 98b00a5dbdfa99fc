/** The reference of blocks: search, the list of all, and one block's page. */
import { useEffect, useMemo, useRef, useState } from "react";
import type { BlockSchema } from "@weft/client";
import { text } from "../texts";
import { Button, Icon, IconButton } from "../ui";
import { Markdown } from "./Markdown";
import { helpTexts } from "./texts";
import "./help.css";

export interface HelpPanelProps {
  blocks: readonly BlockSchema[];
  /** The block whose page is shown; undefined shows the list. */
  block: string | undefined;
  onBlock(block: string | undefined): void;
  /** The block's page as Markdown. */
  load(block: string): Promise<string>;
  /** Where given, blocks can be put on the page from here. */
  onAdd?(block: string): void;
}

/** Blocks that the words fit: by name first, then alias, then words of the summary. */
export function searchHelp(blocks: readonly BlockSchema[], search: string): readonly BlockSchema[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return blocks;
  const scored = blocks.flatMap((block) => {
    const name = block.block.toLowerCase(), aliases = (block.aliases ?? []).join(" ").toLowerCase();
    const all = `${name} ${aliases} ${block.category} ${block.summary}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return [];
    const first = words[0]!;
    return [{ block, score: name === first ? 0 : name.startsWith(first) ? 1 : name.includes(first) ? 2 : aliases.includes(first) ? 3 : 4 }];
  });
  return scored.sort((a, b) => a.score - b.score || a.block.block.localeCompare(b.block.block)).map((each) => each.block);
}

/** Mount it with F1; the search has the focus where no block is shown. */
export function HelpPanel({ blocks, block, onBlock, load, onAdd }: HelpPanelProps) {
  const [search, setSearch] = useState("");
  const found = useMemo(() => searchHelp(blocks.filter((each) => !each.internal), search), [blocks, search]);
  const open = (name: string | undefined) => {
    setSearch("");
    onBlock(name);
  };
  const listed = block === undefined || search !== "";
  return (
    <div className="w-help">
      <div className="w-help-tools">
        {!listed && <IconButton small icon="chevronLeft" label={helpTexts.contents} onClick={() => open(undefined)} />}
        <span className="w-help-search">
          <Icon name="search" size={14} />
          <input type="search" className="w-input" aria-label={helpTexts.search} placeholder={helpTexts.search} value={search} onChange={(event) => setSearch(event.target.value)} />
        </span>
        {!listed && onAdd && <Button small icon="plus" title={helpTexts.addHint} aria-label={helpTexts.addHint} onClick={() => onAdd(block)}>{helpTexts.add}</Button>}
      </div>
      <div className="w-visually-hidden" role="status">{search !== "" ? text(helpTexts.results, { count: found.length }) : ""}</div>
      {listed ? <List blocks={found} search={search} onOpen={open} /> : <Page block={block} load={load} onPage={(name) => open(name === "README" ? undefined : name)} />}
    </div>
  );
}

function List({ blocks, search, onOpen }: { blocks: readonly BlockSchema[]; search: string; onOpen(block: string): void }) {
  if (blocks.length === 0) return <p className="w-help-note">{text(helpTexts.noResults, { words: search })}</p>;
  const byCategory = new Map<string, BlockSchema[]>();
  for (const block of blocks) byCategory.set(search ? "" : block.category, [...(byCategory.get(search ? "" : block.category) ?? []), block]);
  return (
    <div className="w-help-page">
      {[...byCategory].sort(([a], [b]) => a.localeCompare(b)).map(([category, members]) => (
        <section key={category}>
          {category && <h3 className="w-help-category">{category}</h3>}
          <ul className="w-help-list">
            {members.map((each) => (
              <li key={each.block}>
                <button type="button" onClick={() => onOpen(each.block)}><b>{each.block}</b> <span>{each.summary}</span></button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Page({ block, load, onPage }: { block: string; load(block: string): Promise<string>; onPage(page: string): void }) {
  const [page, setPage] = useState<{ block: string; markdown?: string; problem?: string }>({ block: "" });
  const loader = useRef(load);
  loader.current = load;
  useEffect(() => {
    let live = true;
    loader.current(block).then(
      (markdown) => { if (live) setPage({ block, markdown }); },
      (error: unknown) => { if (live) setPage({ block, problem: error instanceof Error ? error.message : String(error) }); },
    );
    return () => { live = false; };
  }, [block]);
  if (page.block !== block) return <p className="w-help-note" role="status">{helpTexts.loading}</p>;
  if (page.problem !== undefined) return <p className="w-help-note" role="alert">{text(helpTexts.failed, { problem: page.problem })}</p>;
  return <article className="w-help-page" tabIndex={0} aria-label={block} key={block}><Markdown text={page.markdown ?? ""} onPage={onPage} /></article>;
}
