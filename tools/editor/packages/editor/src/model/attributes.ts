import type { Attrs } from "@weft/client";

/**
 * The settings of a block in short: "NHWC · strides 1 2 2 1". Types are left out, as the wires show them.
 * Only for display: what is stored is never written from this.
 */
export function attributeSummary(attrs: Attrs | undefined): string {
  const pairs = attributePairs(attrs).filter(([name]) => !/^(T|dtype|N|T[A-Z]\w*|out_type|DstT|SrcT)$/.test(name));
  const text = pairs.map(([name, value]) => (/^[A-Z_]{3,}$/.test(value) ? value : `${name} ${value}`)).join(" · ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** Names (without enuSpace's trailing "_") and values of settings as they are written. */
export function attributePairs(attrs: Attrs | undefined): [string, string][] {
  if (!attrs) return [];
  if (typeof attrs === "object") {
    return Object.entries(attrs).map(([name, value]) => [bare(name), typeof value === "string" ? value : JSON.stringify(value)]);
  }
  return attrs.split(";").map((part) => part.trim()).filter(Boolean).map((part): [string, string] => {
    const equals = part.indexOf("=");
    return equals < 0 ? [bare(part), ""] : [bare(part.slice(0, equals).trim()), part.slice(equals + 1).trim()];
  });
}

const bare = (name: string): string => name.replace(/_$/, "");
