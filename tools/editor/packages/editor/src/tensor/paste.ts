/** Text of spreadsheets, CSV and numpy's print as a table of cells. */

/** Rows of cells as texts. Rows may differ in length. */
export type Cells = string[][];

/**
 * The cells of text that was copied from a spreadsheet (tabs), of CSV (commas or semicolons, quotes as RFC 4180 has them), of columns apart
 * by spaces, or of JSON or brace lists.
 */
export function parseCells(text: string): Cells {
  const trimmed = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n").replace(/\n+$/, "");
  if (/^\s*[[{]/.test(trimmed)) {
    const nested = parseNested(trimmed);
    if (nested) return nested;
  }
  const separator = chooseSeparator(trimmed);
  if (separator === " ") return trimmed.split("\n").map((line) => line.trim().split(/\s+/));
  return splitQuoted(trimmed, separator);
}

function chooseSeparator(text: string): string {
  if (text.includes("\t")) return "\t";
  const bare = text.replace(/"[^"]*"/g, "");
  if (bare.includes(";")) return ";";
  if (bare.includes(",")) return ",";
  return /\S +\S/.test(bare) && /^[\s\d.eE+\-infa]*$/i.test(bare) ? " " : "\t";
}

function splitQuoted(text: string, separator: string): Cells {
  const rows: Cells = [[]];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const char = text[i]!;
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (char === '"' && cell.trim() === "") {
      cell = "";
      quoted = true;
    } else if (char === separator || char === "\n") {
      rows.at(-1)!.push(cell);
      cell = "";
      if (char === "\n") rows.push([]);
    } else {
      cell += char;
    }
  }
  rows.at(-1)!.push(cell);
  return rows;
}

/** [[1,2],[3,4]], {{1,2},{3,4}} and numpy's [[1. 2.]\n [3. 4.]]; deeper lists are laid out row by row. */
function parseNested(text: string): Cells | undefined {
  const rows: Cells = [];
  let row: string[] = [];
  let depth = 0;
  const tokens = /[[\]{}()]|"(?:[^"\\]|\\.)*"|[^\s,;[\]{}()"]+/g;
  for (const [token] of text.matchAll(tokens)) {
    if (/^[[{(]$/.test(token)) depth += 1;
    else if (/^[\]})]$/.test(token)) {
      depth -= 1;
      if (row.length > 0) rows.push(row);
      row = [];
    } else row.push(token.startsWith('"') ? unquoted(token) : token);
  }
  if (row.length > 0) rows.push(row);
  return depth === 0 && rows.length > 0 ? rows : undefined;
}

function unquoted(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token.slice(1, -1);
  }
}

/** A cell for CSV, in quotes where it needs them. */
export function csvCell(text: string, separator = ","): string {
  return /["\n\r]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as text; with tabs as separator it is what spreadsheets paste. */
export function cellsText(cells: Cells, separator = "\t"): string {
  return cells.map((row) => row.map((cell) => csvCell(cell, separator)).join(separator)).join("\n");
}
