/** Markdown of the block reference as React elements. */
import { useMemo, type ReactNode } from "react";
import { IconButton } from "../ui";
import { linkOf, parseMarkdown, type Inline, type Node } from "./markdown";
import { helpTexts } from "./texts";
import "./help.css";

export interface MarkdownProps {
  text: string;
  /** A link to another page of the reference was followed: "Add", or "README" for the list of all. */
  onPage?(page: string): void;
  /** Level of the outermost heading; 2 unless given. */
  headingLevel?: number;
}

/** Text never becomes HTML: every element is made here. */
export function Markdown({ text, onPage, headingLevel = 2 }: MarkdownProps) {
  const nodes = useMemo(() => parseMarkdown(text), [text]);
  return <div className="w-help-text">{nodes.map((node, i) => <Block key={i} node={node} onPage={onPage} shift={headingLevel - 1} />)}</div>;
}

function Block({ node, onPage, shift }: { node: Node; onPage?(page: string): void; shift: number }): ReactNode {
  const inline = (parts: readonly Inline[]) => <Parts parts={parts} onPage={onPage} />;
  switch (node.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, node.level + shift)}` as "h2";
      return <Heading>{inline(node.children)}</Heading>;
    }
    case "paragraph": return <p>{inline(node.children)}</p>;
    case "code": return (
      <div className="w-help-code">
        <IconButton small icon="copy" label={helpTexts.copyCode} onClick={() => void navigator.clipboard?.writeText(node.text)} />
        <pre tabIndex={0}><code>{node.text}</code></pre>
      </div>
    );
    case "list": {
      const List = node.ordered ? "ol" : "ul";
      return <List>{node.items.map((item, i) => <li key={i}>{inline(item)}</li>)}</List>;
    }
    case "table": return (
      <div className="w-help-table" tabIndex={0}>
        <table>
          <thead><tr>{node.head.map((cell, i) => <th key={i} scope="col">{inline(cell)}</th>)}</tr></thead>
          <tbody>{node.rows.map((row, r) => <tr key={r}>{node.head.map((_, i) => <td key={i}>{inline(row[i] ?? [])}</td>)}</tr>)}</tbody>
        </table>
      </div>
    );
  }
}

function Parts({ parts, onPage }: { parts: readonly Inline[]; onPage?(page: string): void }): ReactNode {
  return parts.map((part, i) => {
    switch (part.kind) {
      case "text": return part.text;
      case "code": return <code key={i}>{part.text}</code>;
      case "strong": return <strong key={i}><Parts parts={part.children} onPage={onPage} /></strong>;
      case "em": return <em key={i}><Parts parts={part.children} onPage={onPage} /></em>;
      case "link": return <Link key={i} target={part.target} onPage={onPage}><Parts parts={part.children} onPage={onPage} /></Link>;
    }
  });
}

function Link({ target, onPage, children }: { target: string; onPage?(page: string): void; children: ReactNode }) {
  const link = linkOf(target);
  if (link && "page" in link) return <button type="button" className="w-link" onClick={() => onPage?.(link.page)}>{children}</button>;
  if (link) return <a href={link.href} target="_blank" rel="noreferrer noopener">{children}</a>;
  return <>{children}</>;
}
