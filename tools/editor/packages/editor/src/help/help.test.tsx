import { describe, expect, it, vi } from "vitest";
import { act } from "react";
import type { BlockSchema } from "@weft/client";
import { mount, show } from "../../test/mount";
import { HelpPanel, searchHelp } from "./HelpPanel";
import { linkOf, parseInline, parseMarkdown } from "./markdown";
import { Markdown } from "./Markdown";

const PAGE = `# Conv2D

Convolves *pictures* with a filter.

## Attributes

| attribute | values | what it is |
| --- | --- | --- |
| \`padding_\` | SAME \\| VALID | size \`a|b\` |

- see [Add](Add.md)
- [evil](javascript:alert(1))

\`\`\`json
{"a": "<b>"}
\`\`\`

Category nn; [all blocks](README.md).
`;

describe("parseMarkdown", () => {
  it("reads what the reference is written in", () => {
    expect(parseMarkdown(PAGE).map((node) => node.kind)).toEqual(["heading", "paragraph", "heading", "table", "list", "code", "paragraph"]);
    const table = parseMarkdown(PAGE)[3];
    expect(table?.kind === "table" && table.rows).toEqual([[[{ kind: "code", text: "padding_" }], [{ kind: "text", text: "SAME | VALID" }], [{ kind: "text", text: "size " }, { kind: "code", text: "a|b" }]]]);
  });
  it("leaves alone what is not closed", () => {
    expect(parseInline("2 * 3 and `x and [y](")).toEqual([{ kind: "text", text: "2 * 3 and `x and [y](" }]);
    expect(parseInline("a_b_c **bold `c`**")[1]).toEqual({ kind: "strong", children: [{ kind: "text", text: "bold " }, { kind: "code", text: "c" }] });
    expect(parseMarkdown("```\nopen")).toEqual([{ kind: "code", language: "", text: "open" }]);
  });
  it("takes long lines without losing time", () => {
    const begin = performance.now();
    for (const char of ["*", "`", "[", "a*", "[x](", "|", "\\"]) parseMarkdown(char.repeat(9000));
    expect(performance.now() - begin).toBeLessThan(2000);
  });
  it("follows links to pages and addresses alone", () => {
    expect([linkOf("Add.md"), linkOf("https://a.b/c"), linkOf("javascript:alert(1)"), linkOf("../../etc.md"), linkOf("data:text/html,x")]).toEqual(
      [{ page: "Add" }, { href: "https://a.b/c" }, undefined, undefined, undefined]);
  });
});

describe("Markdown", () => {
  it("makes no HTML of text, and no link of what is none", () => {
    const host = mount(<Markdown text={`${PAGE}\n\n<img src=x onerror=alert(1)> <script>1</script>`} />);
    expect(host.querySelector("img, script, b, a")).toBeNull();
    expect(host.querySelector("pre")!.textContent).toBe('{"a": "<b>"}');
    expect(host.textContent).toContain("<img src=x");
    expect(host.querySelector("h2")!.textContent).toBe("Conv2D");
  });
});

const schema = (block: string, summary: string, more: Partial<BlockSchema> = {}): BlockSchema => ({ block, category: "math", summary, inputs: [], outputs: [], attrs: [], ...more });
const BLOCKS = [schema("AddN", "Sums tensors."), schema("Sum", "Adds along axes."), schema("Add", "Adds two tensors."), schema("Multiply", "x * y", { aliases: ["Mul"] })];

describe("HelpPanel", () => {
  it("finds by name, alias and summary, the best first", () => {
    expect(searchHelp(BLOCKS, "add").map((each) => each.block)).toEqual(["Add", "AddN", "Sum"]);
    expect(searchHelp(BLOCKS, "mul").map((each) => each.block)).toEqual(["Multiply"]);
  });
  it("shows a page, follows its links, and tells what failed", async () => {
    const onBlock = vi.fn();
    const load = vi.fn((block: string) => (block === "Conv2D" ? Promise.resolve(PAGE) : Promise.reject(new Error("gone"))));
    const host = mount(<HelpPanel blocks={BLOCKS} block="Conv2D" onBlock={onBlock} load={load} />);
    await act(async () => { await Promise.resolve(); });
    act(() => [...host.querySelectorAll<HTMLElement>("button.w-link")].find((each) => each.textContent === "Add")!.click());
    expect(onBlock).toHaveBeenCalledWith("Add");
    act(() => [...host.querySelectorAll<HTMLElement>("button.w-link")].find((each) => each.textContent === "all blocks")!.click());
    expect(onBlock).toHaveBeenLastCalledWith(undefined);
    await show(<HelpPanel blocks={BLOCKS} block="Add" onBlock={onBlock} load={load} />);
    expect(host.querySelector('[role="alert"]')!.textContent).toBe("The page cannot be shown: gone");
  });
});
