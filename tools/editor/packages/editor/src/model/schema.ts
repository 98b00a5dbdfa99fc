import type { BlockSchema, PortSchema, Schema } from "@weft/client";

/** A block type found by a search. */
export interface PaletteHit {
  schema: BlockSchema;
  score: number;
  /** Why, where it is not the name: the alias, or "summary". */
  by?: string;
}

/** The palette: block types by name and alias, and the search over them. */
export class SchemaIndex {
  readonly blocks: BlockSchema[];
  readonly categories: Map<string, BlockSchema[]>;
  private readonly byName = new Map<string, BlockSchema>();
  private readonly words: { schema: BlockSchema; name: string; aliases: string[]; summary: string }[];

  constructor(schema: Schema) {
    this.blocks = schema.blocks;
    for (const block of schema.blocks) for (const alias of block.aliases ?? []) this.byName.set(alias, block);
    for (const block of schema.blocks) this.byName.set(block.block, block);
    this.categories = new Map();
    for (const block of schema.blocks) {
      if (block.internal) continue;
      const list = this.categories.get(block.category);
      if (list) list.push(block);
      else this.categories.set(block.category, [block]);
    }
    for (const list of this.categories.values()) list.sort((a, b) => a.block.localeCompare(b.block));
    this.words = schema.blocks.filter((b) => !b.internal).map((b) => ({
      schema: b,
      name: b.block.toLowerCase(),
      aliases: (b.aliases ?? []).map((a) => a.toLowerCase()),
      summary: `${b.summary} ${b.category.replace(/_/g, " ")}`.toLowerCase(),
    }));
  }

  /** The block type of a name or alias; undefined where there is none. */
  get(name: string): BlockSchema | undefined {
    return this.byName.get(name);
  }

  /** Finds block types by name, alias and words of the summary, best first. Without a query: all, by name. */
  search(query: string, limit = 60): PaletteHit[] {
    const wanted = query.trim().toLowerCase();
    if (!wanted) return this.words.map(({ schema }) => ({ schema, score: 0 })).sort(byScore).slice(0, limit);
    const parts = wanted.split(/\s+/);
    const hits: PaletteHit[] = [];
    for (const entry of this.words) {
      const hit = score(entry, wanted, parts);
      if (hit) hits.push(hit);
    }
    return hits.sort(byScore).slice(0, limit);
  }
}

function byScore(a: PaletteHit, b: PaletteHit): number {
  return b.score - a.score || a.schema.block.length - b.schema.block.length || a.schema.block.localeCompare(b.schema.block);
}

function score(
  entry: { schema: BlockSchema; name: string; aliases: string[]; summary: string }, wanted: string, parts: string[],
): PaletteHit | undefined {
  const { schema, name, aliases, summary } = entry;
  if (name === wanted) return { schema, score: 100 };
  const alias = aliases.find((a) => a === wanted);
  if (alias) return { schema, score: 95, by: schema.aliases?.[aliases.indexOf(alias)] };
  if (name.startsWith(wanted)) return { schema, score: 80 };
  if (name.includes(wanted)) return { schema, score: 60 };
  const near = aliases.findIndex((a) => a.includes(wanted));
  if (near >= 0) return { schema, score: 50, by: schema.aliases?.[near] };
  if (parts.every((part) => name.includes(part) || summary.includes(part))) return { schema, score: 30, by: "summary" };
  if (wanted.length >= 3 && isSubsequence(wanted, name)) return { schema, score: 20 };
  return undefined;
}

function isSubsequence(needle: string, hay: string): boolean {
  let at = 0;
  for (const letter of hay) if (letter === needle[at]) at++;
  return at === needle.length;
}

/** Whether the port takes or gives a list. */
export const isList = (port: PortSchema): boolean => Boolean(port.list || port.list_length_attr || port.type_list_attr);
