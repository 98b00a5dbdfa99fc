/**
 * The part of Markdown that the block reference is written in, as a tree: headings, paragraphs, lists, tables, fenced code, and inside of
 * lines code, bold, italics and links. What is not known stays text; nothing here makes HTML.
 */

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly target: string; readonly children: readonly Inline[] };

export type Node =
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: "table"; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] };

const HEADING = /^(#{1,6}) +(.*?) *#*$/;
const ITEM = /^ {0,3}([-*+]|\d+[.)]) +(.*)$/;
const FENCE = /^```(\S*)/;
const TABLE_RULE = /^\|?[ :|-]*-[ :|-]*\|?$/;

/** The document as a list of nodes. */
export function parseMarkdown(text: string): Node[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const nodes: Node[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    if (line.trim() === "") at += 1;
    else at = readNode(lines, at, nodes);
  }
  return nodes;
}

function readNode(lines: readonly string[], at: number, nodes: Node[]): number {
  const line = lines[at]!;
  const heading = HEADING.exec(line);
  if (heading) {
    nodes.push({ kind: "heading", level: heading[1]!.length, children: parseInline(heading[2]!) });
    return at + 1;
  }
  if (FENCE.test(line)) return readFence(lines, at, nodes);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1]?.trim() ?? "") && lines[at + 1]!.includes("|")) return readTable(lines, at, nodes);
  if (ITEM.test(line)) return readList(lines, at, nodes);
  return readParagraph(lines, at, nodes);
}

function readFence(lines: readonly string[], at: number, nodes: Node[]): number {
  let end = at + 1;
  while (end < lines.length && !lines[end]!.startsWith("```")) ++end;
  nodes.push({ kind: "code", language: FENCE.exec(lines[at]!)![1]!, text: lines.slice(at + 1, end).join("\n") });
  return end + 1;
}

function readTable(lines: readonly string[], at: number, nodes: Node[]): number {
  const head = splitRow(lines[at]!).map(parseInline);
  let end = at + 2;
  const rows: Inline[][][] = [];
  for (; end < lines.length && lines[end]!.includes("|"); ++end) rows.push(splitRow(lines[end]!).map(parseInline));
  nodes.push({ kind: "table", head, rows });
  return end;
}

/** The cells of a line; `\|` and what stands in code is no border. */
function splitRow(line: string): string[] {
  const cells: string[] = [];
  let cell = "", code = false;
  const body = line.trim().replace(/^\|/, "");
  for (let i = 0; i < body.length; ++i) {
    if (body[i] === "\\" && body[i + 1] === "|") cell += body[++i];
    else if (body[i] === "|" && !code) {
      cells.push(cell.trim());
      cell = "";
    } else {
      if (body[i] === "`") code = !code;
      cell += body[i];
    }
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

function readList(lines: readonly string[], at: number, nodes: Node[]): number {
  const items: string[] = [];
  const ordered = /^\s*\d/.test(lines[at]!);
  let end = at;
  for (; end < lines.length; ++end) {
    const item = ITEM.exec(lines[end]!);
    if (item) items.push(item[2]!);
    else if (/^\s+\S/.test(lines[end]!) && items.length > 0) items[items.length - 1] += ` ${lines[end]!.trim()}`;
    else break;
  }
  nodes.push({ kind: "list", ordered, items: items.map(parseInline) });
  return end;
}

function readParagraph(lines: readonly string[], at: number, nodes: Node[]): number {
  let end = at + 1;
  while (end < lines.length && lines[end]!.trim() !== "" && !HEADING.test(lines[end]!) && !FENCE.test(lines[end]!) && !ITEM.test(lines[end]!)) ++end;
  nodes.push({ kind: "paragraph", children: parseInline(lines.slice(at, end).map((line) => line.trim()).join(" ")) });
  return end;
}

const LONGEST_LINE = 20_000;

/** The parts of a line. What is not closed stays text; lines of absurd length are text as a whole. */
export function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  const plain = (piece: string) => {
    const before = parts.at(-1);
    if (piece === "") return;
    if (before?.kind === "text") parts[parts.length - 1] = { kind: "text", text: before.text + piece };
    else parts.push({ kind: "text", text: piece });
  };
  if (text.length > LONGEST_LINE) return [{ kind: "text", text }];
  let last = 0;
  for (let at = 0; at < text.length;) {
    const found = readInline(text, at);
    if (!found) {
      at += 1;
      continue;
    }
    plain(text.slice(last, at));
    if (typeof found.part === "string") plain(found.part);
    else parts.push(found.part);
    last = at = found.end;
  }
  plain(text.slice(last));
  return parts;
}

/** What begins at a place, other than text. */
function readInline(text: string, at: number): { part: Inline | string; end: number } | undefined {
  switch (text[at]) {
    case "\\": return /[\\`*_{}[\]()#+\-.!|<>]/.test(text[at + 1] ?? "") ? { part: text[at + 1]!, end: at + 2 } : undefined;
    case "`": return readCode(text, at);
    case "*": return text[at + 1] === "*" ? readEmphasis(text, at, "**", "strong") : readEmphasis(text, at, "*", "em");
    case "[": return readLink(text, at);
    default: return undefined;
  }
}

function readCode(text: string, at: number): { part: Inline | string; end: number } {
  let begin = at;
  while (text[begin] === "`") ++begin;
  const fence = text.slice(at, begin);
  const close = text.indexOf(fence, begin);
  if (close < 0) return { part: fence, end: begin };
  return { part: { kind: "code", text: text.slice(begin, close).trim() }, end: close + fence.length };
}

function readEmphasis(text: string, at: number, mark: string, kind: "strong" | "em"): { part: Inline; end: number } | undefined {
  const begin = at + mark.length;
  const close = text.indexOf("*", begin);
  const inside = text.slice(begin, close);
  if (close < 0 || inside.trim() !== inside || inside === "" || !text.startsWith(mark, close)) return undefined;
  return { part: { kind, children: parseInline(inside) }, end: close + mark.length };
}

function readLink(text: string, at: number): { part: Inline; end: number } | undefined {
  const middle = text.indexOf("](", at);
  const close = middle < 0 ? -1 : text.indexOf(")", middle);
  const label = text.slice(at + 1, middle), target = text.slice(middle + 2, close);
  if (close < 0 || label.includes("[") || /\s/.test(target)) return undefined;
  return { part: { kind: "link", target, children: parseInline(label) }, end: close + 1 };
}

/** Where a link leads: another page of the reference, or an address that may be opened. Anything else is no link. */
export function linkOf(target: string): { page: string } | { href: string } | undefined {
  const page = /^(?:\.\/)?([A-Za-z0-9_]+)\.md(?:#.*)?$/.exec(target);
  if (page) return { page: page[1]! };
  return /^https?:\/\//i.test(target) ? { href: target } : undefined;
}
