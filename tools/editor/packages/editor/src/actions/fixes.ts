import type { Diagnostic, Edit } from "@weft/client";
import { text, texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";
import { attributePairs } from "../model/attributes";

/** Edits that would mend a finding. */
export interface Fix {
  label: string;
  edits: Edit[];
}

/** The fix of a finding whose hint is a name ("did you mean 'out_backprop'?"): a port, a block type, a wire's source or a setting. */
export function quickFix(page: PageEditor, finding: Diagnostic): Fix | undefined {
  const name = /did you mean '([^']+)'\?/.exec(`${finding.hint ?? ""} ${finding.message}`)?.[1];
  const block = finding.block ? page.model.blocks.get(finding.block) : undefined;
  if (!name || !block) return undefined;
  const edits = wireFix(page, finding, name) ?? portFix(page, finding, name) ?? typeFix(page, finding, name) ?? settingFix(page, finding, name);
  return edits && { label: text(texts.panels.fix, { name }), edits };
}

/** A wire from a block or port that is not there. */
function wireFix(page: PageEditor, { block = "", port }: Diagnostic, name: string): Edit[] | undefined {
  if (!port) return undefined;
  const to = `${block}.${port}`;
  const from = page.model.wireAt(to)?.from;
  if (from === undefined) return undefined;
  const dot = from.lastIndexOf(".");
  const source = from.slice(0, dot);
  const better = name.includes(".") ? name : page.model.blocks.has(source) ? `${source}.${name}` : `${name}.${from.slice(dot + 1)}`;
  return page.model.blocks.has(better.slice(0, better.lastIndexOf("."))) ? [{ op: "connect", from: better, to }] : undefined;
}

/** An input by a name that the block does not have. */
function portFix(page: PageEditor, { block: id = "", port }: Diagnostic, name: string): Edit[] | undefined {
  const block = page.model.blocks.get(id);
  const value = port === undefined ? undefined : block?.inputs?.[port];
  const known = block && page.model.schema.get(block.block)?.inputs.some((p) => p.port === name);
  if (!known || value === undefined || port === undefined) return undefined;
  return [{ op: "set", input: `${id}.${port}`, value: null }, { op: "set", input: `${id}.${name}`, value }];
}

/** A block type that is not known: the block is made again as the right one, in its place. */
function typeFix(page: PageEditor, { block: id = "" }: Diagnostic, name: string): Edit[] | undefined {
  const block = page.model.blocks.get(id);
  if (!block || page.model.schema.get(block.block) || !page.model.schema.get(name)) return undefined;
  const place = page.model.ids.indexOf(id);
  return [{ op: "remove", block: id, keep_wires: true, keep_layout: true }, { op: "add", block: { ...block, block: name }, place }];
}

/** A setting by a wrong name, or with a wrong name as its value. */
function settingFix(page: PageEditor, { block: id = "", message }: Diagnostic, name: string): Edit[] | undefined {
  const block = page.model.blocks.get(id);
  const schema = block && page.model.schema.get(block.block);
  if (!block || !schema) return undefined;
  const pairs = attributePairs(block.attrs);
  const own = schema.attrs.find((a) => a.name === name);
  if (own) {
    const wrong = pairs.find(([key]) => !schema.attrs.some((a) => a.name === key) && message.includes(key));
    if (!wrong) return undefined;
    return [{ op: "set", block: id, attr: wrong[0], value: null }, { op: "set", block: id, attr: name, text: wrong[1] }];
  }
  const valued = schema.attrs.find((a) => a.allowed?.includes(name) && pairs.some(([key]) => key === a.name));
  return valued && [{ op: "set", block: id, attr: valued.name, value: name }];
}
