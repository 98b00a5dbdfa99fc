/**
 * All texts that users read, in one place, so that they can be translated. Values are put in by `text`.
 * Helpers of one folder keep theirs in an object of that name.
 */
export const texts = {
  app: { name: "Weft" },
  common: { cancel: "Cancel", ok: "OK", close: "Close", delete: "Delete", rename: "Rename", search: "Search" },
};

/** Puts values into a text: text("{n} blocks", {n: 3}). */
export function text(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}
