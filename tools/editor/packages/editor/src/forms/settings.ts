/**
 * Attribute text ("data_format_ = NHWC;epsilon_ = 0.001f;") as settings, and changes of one setting that keep all other bytes. Splits as the
 * engine does: a value ends at a ';' that the end or another `name =` follows, outside of braces, brackets and quotes.
 */

/** One setting. Places count in UTF-16 units of the text. */
export interface Setting {
  /** As written, with the '_' at its end; empty for text that is no setting. */
  readonly name: string;
  /** Without spaces at its ends. */
  readonly value: string;
  readonly begin: number;
  /** After the separator that follows. */
  readonly end: number;
  readonly valueBegin: number;
  /** Brackets or quotes do not match, or there is no `name =`. */
  readonly faulty: boolean;
}

const isSpace = (char: string | undefined) => char !== undefined && /[ \t\n\r\v\f]/.test(char);
const isName = (char: string | undefined) => char !== undefined && /[A-Za-z0-9_]/.test(char);
const MAX_DEPTH = 8;

/** Tracks whether a place is inside braces, brackets or quotes. */
export class Nesting {
  private open = "";
  private quoted = false;
  private escaped = false;

  /** False where the character closes what is not open, or nests too deep. */
  take(char: string): boolean {
    if (this.quoted) {
      if (this.escaped) this.escaped = false;
      else if (char === "\\") this.escaped = true;
      else if (char === '"') this.quoted = false;
      return true;
    }
    if (char === '"') this.quoted = true;
    else if (char === "{" || char === "[") {
      if (this.open.length === MAX_DEPTH) return false;
      this.open += char;
    } else if (char === "}" || char === "]") {
      if (this.open.at(-1) !== (char === "}" ? "{" : "[")) return false;
      this.open = this.open.slice(0, -1);
    }
    return true;
  }

  get top(): boolean {
    return this.open === "" && !this.quoted;
  }
}

function skipSeparators(text: string, at: number): number {
  while (isSpace(text[at]) || text[at] === ";") ++at;
  return at;
}

/** Where a name at `at` ends, and where its value begins; no `value` where no '=' follows. */
function nameAt(text: string, at: number): { end: number; value?: number } {
  let end = at;
  while (isName(text[end])) ++end;
  let after = end;
  while (isSpace(text[after])) ++after;
  return end === at || text[after] !== "=" ? { end } : { end, value: after + 1 };
}

/** Where the value from `start` on ends, where the next setting begins, and whether it is balanced. */
function valueAt(text: string, start: number): { end: number; next: number; faulty: boolean } {
  const nesting = new Nesting();
  let at = start;
  while (at < text.length) {
    if (text[at] !== ";" || !nesting.top) {
      if (!nesting.take(text[at]!)) {
        const stop = text.indexOf(";", at);
        const end = stop < 0 ? text.length : stop;
        return { end, next: end, faulty: true };
      }
      ++at;
      continue;
    }
    const next = skipSeparators(text, at);
    const name = nameAt(text, next);
    if (next === text.length || name.value !== undefined) return { end: at, next, faulty: false };
    at = name.end;
  }
  return { end: text.length, next: text.length, faulty: !nesting.top };
}

/** All settings of the text, in its order. */
export function splitSettings(text: string): Setting[] {
  const settings: Setting[] = [];
  for (let at = skipSeparators(text, 0); at < text.length; at = skipSeparators(text, at)) {
    const begin = at;
    const name = nameAt(text, at);
    if (name.value === undefined) {
      const stop = text.indexOf(";", begin);
      at = stop < 0 ? text.length : stop;
      settings.push({ name: "", value: text.slice(begin, at).trim(), begin, end: at, valueBegin: begin, faulty: true });
      continue;
    }
    const { end, next, faulty } = valueAt(text, name.value);
    let first = name.value, last = end;
    while (first < last && isSpace(text[first])) ++first;
    while (last > first && isSpace(text[last - 1])) --last;
    settings.push({ name: text.slice(begin, name.end), value: text.slice(first, last), begin, end: next, valueBegin: first, faulty });
    at = next;
  }
  return settings;
}

/** Whether a name as written is that of the attribute: a '_' at the end is ignored. */
export function namesAttr(written: string, attr: string): boolean {
  return written === attr || written === `${attr}_`;
}

/** The first setting of the attribute. */
export function findSetting(text: string, attr: string): Setting | undefined {
  return splitSettings(text).find((setting) => setting.name !== "" && namesAttr(setting.name, attr));
}

/** The text with the attribute's first setting changed, added at the end, or removed (`value` undefined). All other bytes are kept. */
export function withSetting(text: string, attr: string, value: string | undefined): string {
  const found = findSetting(text, attr);
  if (value === undefined) return found ? text.slice(0, found.begin) + text.slice(found.end) : text;
  if (found) return text.slice(0, found.valueBegin) + value + text.slice(found.valueBegin + found.value.length);
  const needsEnd = text.trim() !== "" && !text.trimEnd().endsWith(";");
  return `${text}${needsEnd ? ";" : ""}${attr}_ = ${value};`;
}

/** The elements of list text, with or without braces; undefined where brackets or quotes do not match or an element is empty. */
export function splitList(text: string): string[] | undefined {
  const inner = isBraced(text.trim()) ? text.trim().slice(1, -1) : text.trim();
  if (inner.trim() === "") return [];
  const nesting = new Nesting();
  const elements: string[] = [];
  let start = 0;
  for (let i = 0; i <= inner.length; ++i) {
    const end = i === inner.length;
    if (end || ((inner[i] === "," || inner[i] === ";") && nesting.top)) {
      elements.push(inner.slice(start, i).trim());
      start = i + 1;
    } else if (!nesting.take(inner[i]!)) return undefined;
  }
  return nesting.top && elements.every((element) => element !== "") ? elements : undefined;
}

function isBraced(text: string): boolean {
  if (!text.startsWith("{") || !text.endsWith("}") || text.length < 2) return false;
  const nesting = new Nesting();
  for (let i = 0; i < text.length; ++i) {
    if (!nesting.take(text[i]!)) return false;
    if (nesting.top) return i + 1 === text.length;
  }
  return false;
}

/** The text of a string setting: what stands in quotes is a JSON string. Undefined where that cannot be read. */
export function unquote(value: string): string | undefined {
  if (!value.startsWith('"')) return value;
  try {
    const text: unknown = JSON.parse(value);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A string as a setting's value: in quotes where it could be taken for something else. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_./:-]+$/.test(text) ? text : JSON.stringify(text);
}
