import type { Block, Edit, InputValue, Point } from "@weft/client";
import { withSetting } from "../forms/settings";
import { parsePort } from "./names";
import type { PageModel, PagePatch } from "./page";

/**
 * What edits will do to the page, as the engine does it; null where that is not known here (renaming, settings that the engine spells). The
 * server has the last word: a forecast is shown until its answer comes.
 */
export function forecast(model: PageModel, edits: readonly Edit[]): PagePatch | null {
  const draft = new Draft(model);
  return edits.every((edit) => draft.take(edit)) ? draft.patch() : null;
}

/** The page with some edits made. Blocks of the model are never changed, but copied. */
class Draft {
  private readonly blocks = new Map<string, Block>();
  private readonly removed = new Set<string>();
  private layout: Record<string, Point | null> = {};
  private layoutAll = false;
  private readonly keys: Record<string, unknown> = {};

  constructor(private readonly model: PageModel) {}

  patch(): PagePatch {
    const { layout, keys } = this;
    return {
      blocks: [...this.blocks.values()], removed: [...this.removed], layout, keys: Object.keys(keys).length ? keys : undefined,
      ...(this.layoutAll ? { layoutAll: true } : {}),
    };
  }

  /** False where the effect is not known. */
  take(edit: Edit): boolean {
    switch (edit.op) {
      case "add":
        return this.add(edit.block, edit.place, edit.layout);
      case "remove":
        return !edit.keep_wires && !edit.keep_layout && this.remove(edit.block);
      case "connect":
        return this.connect(edit.to, "from" in edit ? edit.from : edit.value);
      case "disconnect":
        return this.disconnect(edit.to);
      case "move":
        if (!this.find(edit.block)) return false;
        this.layout[edit.block] = edit.layout;
        return true;
      case "set":
        return this.set(edit);
      default:
        return false;
    }
  }

  private find(id: string): Block | undefined {
    return this.blocks.get(id) ?? (this.removed.has(id) ? undefined : this.model.blocks.get(id));
  }

  private add(block: Block, place: number | undefined, layout: Point | undefined): boolean {
    if (place !== undefined || this.removed.has(block.id) || this.find(block.id)) return false;
    this.blocks.set(block.id, block);
    if (layout) this.layout[block.id] = layout;
    return true;
  }

  private remove(id: string): boolean {
    if (!this.model.blocks.has(id) || this.removed.has(id)) return false;
    const readers = new Set(this.blocks.keys());
    for (const ports of this.model.readersOf(id).values()) for (const to of ports) readers.add(parsePort(to).block);
    for (const reader of readers) if (reader !== id) this.release(reader, id);
    this.blocks.delete(id);
    this.removed.add(id);
    this.layout[id] = null;
    return true;
  }

  /** Takes the wires from a block out of a reader: lists keep their other elements. */
  private release(reader: string, id: string): void {
    const inputs = this.find(reader)?.inputs ?? {};
    const reads = (value: InputValue): boolean => typeof value === "string" && parsePort(value).block === id;
    for (const [port, value] of Object.entries(inputs)) {
      if (reads(value)) this.put(reader, port, undefined);
      else if (Array.isArray(value) && value.some(reads)) this.put(reader, port, value.filter((item) => !reads(item)));
    }
  }

  private put(id: string, port: string, value: InputValue | undefined): boolean {
    const block = this.find(id);
    if (!block) return false;
    const { [port]: _old, ...rest } = block.inputs ?? {};
    const inputs = value === undefined ? rest : { ...block.inputs, [port]: value };
    const { inputs: _inputs, ...others } = block;
    this.blocks.set(id, Object.keys(inputs).length ? { ...block, inputs } : (others as Block));
    return true;
  }

  private connect(to: string, item: InputValue): boolean {
    const { block, port, index } = parsePort(to);
    const now = this.find(block)?.inputs?.[port];
    if (now === undefined || now === null) return (index ?? 0) === 0 && this.put(block, port, index === undefined ? item : [item]);
    if (!Array.isArray(now) && index === undefined) return this.put(block, port, item);
    const list = Array.isArray(now) ? [...now] : [now];
    if ((index ?? 0) > list.length) return false;
    list.splice(index ?? list.length, 0, item);
    return this.put(block, port, list);
  }

  private disconnect(to: string): boolean {
    const { block, port, index } = parsePort(to);
    const now = this.find(block)?.inputs?.[port];
    if (now === undefined) return false;
    if (index === undefined || !Array.isArray(now)) return !index && this.put(block, port, undefined);
    return index < now.length && this.put(block, port, now.filter((_, k) => k !== index));
  }

  private set(edit: Edit & { op: "set" }): boolean {
    if ("input" in edit) return this.setInput(edit.input, edit.value);
    if (!("block" in edit)) return this.setKey(edit.key, edit.value);
    const block = this.find(edit.block);
    if (!block) return false;
    if ("attr" in edit) return this.setAttr(block, edit);
    const [key, value] = "attrs" in edit ? ["attrs", edit.attrs] : [edit.key, edit.value];
    const { [key]: _old, ...rest } = block;
    this.blocks.set(block.id, (value === null || value === undefined ? rest : { ...block, [key]: value }) as Block);
    return true;
  }

  private setInput(to: string, value: InputValue): boolean {
    if (value === null) return this.disconnect(to);
    const { block, port, index } = parsePort(to);
    const now = this.find(block)?.inputs?.[port];
    if (index === undefined || (now !== undefined && !Array.isArray(now))) return !index && this.put(block, port, value);
    if (!Array.isArray(now) || index >= now.length || Array.isArray(value)) return false;
    return this.put(block, port, now.map((item, k) => (k === index ? value : item)));
  }

  /** Settings keep the spelling that the page has: text is changed by text, an object by values. */
  private setAttr(block: Block, edit: { attr: string; value?: unknown; text?: string }): boolean {
    const { attrs } = block;
    if (edit.text !== undefined && (attrs === undefined || typeof attrs === "string")) {
      this.blocks.set(block.id, { ...block, attrs: withSetting(attrs ?? "", edit.attr, edit.text) });
      return true;
    }
    if (edit.text !== undefined || typeof attrs !== "object" || edit.value === undefined || edit.value === null) return false;
    this.blocks.set(block.id, { ...block, attrs: { ...attrs, [edit.attr]: edit.value } });
    return true;
  }

  private setKey(key: string, value: unknown): boolean {
    if (key === "weft" || key === "blocks") return false;
    if (key !== "layout") this.keys[key] = value;
    else {
      this.layout = { ...(value as Record<string, Point> | null) };
      this.layoutAll = true;
    }
    return true;
  }
}
