/** Values as enuSpace writes them: nested braces "{{1.5,3.5},{0.5f,1}}", or flat "1;2;3;4". */

/** The elements of a text as texts, and the shape that its braces say; without braces the shape is not said. */
export interface ParsedText {
  readonly elements: string[];
  readonly shape: number[] | undefined;
}

const TOKEN = /[{};,]|"(?:[^"\\]|\\.)*"|[^{};,"]+/y;

/** Undefined for braces that do not match, rows of different lengths, and quotes that are not closed. */
export function parseText(text: string): ParsedText | undefined {
  const elements: string[] = [];
  const shape: number[] = [];
  const counts: number[] = [];
  let braced = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[0].trim();
    if (token === undefined) return undefined;
    if (token === "{") {
      if (counts.length > 0) counts[counts.length - 1]! += 1;
      counts.push(0);
      braced = true;
    } else if (token === "}") {
      const count = counts.pop();
      if (count === undefined || (shape[counts.length] ?? count) !== count) return undefined;
      shape[counts.length] = count;
    } else if (token !== "" && token !== ";" && token !== ",") {
      if (braced && counts.length === 0) return undefined;
      if (counts.length > 0) counts[counts.length - 1]! += 1;
      elements.push(token);
    }
  }
  if (counts.length > 0 || (braced && shape.reduce((a, b) => a * b, 1) !== elements.length)) return undefined;
  return { elements, shape: braced ? shape : undefined };
}

/** The type that the text of a value tells, where nothing else does. */
export function typeOfText(elements: readonly string[]): string {
  if (elements.some((each) => each.includes('"'))) return "DT_STRING";
  if (elements.length > 0 && elements.every((each) => /^(true|false)$/i.test(each))) return "DT_BOOL";
  const numbers = elements.filter((each) => !/^[+-]?(inf|nan)/i.test(each));
  if (numbers.some((each) => /j/i.test(each))) return "DT_COMPLEX128";
  if (numbers.some((each) => /f$/i.test(each))) return "DT_FLOAT";
  return numbers.some((each) => /[.eE]/.test(each)) || numbers.length < elements.length ? "DT_DOUBLE" : "DT_INT32";
}

/** An element without its quotes; undefined where they cannot be read. */
export function unquoted(element: string): string | undefined {
  if (!element.startsWith('"')) return element;
  try {
    return String(JSON.parse(element));
  } catch {
    return undefined;
  }
}
