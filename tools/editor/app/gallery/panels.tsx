import { useState } from "react";
import { Outline, type OutlineBlock } from "../../packages/editor/src/outline";
import { HelpPanel } from "../../packages/editor/src/help";
import { Notifications, ToastArea, Button, Menu } from "../../packages/editor/src/ui";

const blocks: OutlineBlock[] = Array.from({ length: 200 }, (_, i) => ({
  id: i === 3 ? "a_very_long_name_of_a_block_that_does_not_fit" : `block_${i}`, type: ["MatMul", "Add", "Variable", "Tanh"][i % 4]!, category: ["math", "state", "nn"][i % 3]!,
  state: (["done", "running", "idle", "failed"] as const)[i % 4], fault: i === 2 ? "error" : i === 5 ? "warning" : undefined, faultText: "needs DT_FLOAT, found DT_INT32",
  inputs: [{ port: "a", type: "float [4,2]", from: ["x.output"] }, { port: "b", type: "float", value: "{1,2}" }, { port: "c" }], outputs: [{ port: "product", type: "float [4,8]", to: ["z1.value"] }],
}));
const notifications = new Notifications();
setTimeout(() => { notifications.show("ok", "Saved xor.page.json"); notifications.show("warning", "The file changed on disk", { label: "Reload", onSelect() {} }); notifications.show("error", "train_w1.delta needs the shape [2,4], found [4,2]"); }, 0);

export function OutlinePart() {
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set(["block_1"]));
  const query = new URLSearchParams(location.search);
  return (
    <div className="gallery-row" style={{ height: "100%", boxSizing: "border-box" }}>
      <div className="gallery-panel" style={{ width: 320, height: 600 }}>
        <Outline blocks={blocks} selection={selection} onSelect={(ids) => setSelection(new Set(ids))} onReveal={() => {}} onRename={() => Promise.resolve("the name is taken")} onDelete={() => {}} onConnect={() => {}} announce={(text) => notifications.announce(text)} />
      </div>
      <div><Button look="primary">Primary</Button> <Button>Plain</Button> <Button look="danger">Danger</Button> <Button disabled icon="play">Disabled</Button></div>
      {query.has("menu") && <Menu label="Block" at={{ x: 720, y: 120 }} onClose={() => {}} items={[{ label: "Copy", icon: "copy", shortcut: "Ctrl+C", onSelect() {} }, { label: "Run to here", icon: "play", onSelect() {} }, "separator", { label: "Snap to grid", checked: true, onSelect() {} }, { label: "Paste", disabled: true, onSelect() {} }, { label: "Delete", icon: "trash", danger: true, shortcut: "Delete", onSelect() {} }]} />}
      <ToastArea notifications={notifications} />
    </div>
  );
}

export function HelpPart() {
  const [block, setBlock] = useState<string | undefined>(new URLSearchParams(location.search).has("list") ? undefined : "Conv2D");
  const list = ["Add", "Conv2D", "MatMul"].map((name) => ({ block: name, category: name === "Add" ? "math" : "nn", summary: "Does what TensorFlow's operation of the name does.", inputs: [], outputs: [], attrs: [] }));
  return <div className="gallery-panel" style={{ width: 420, height: "100%" }}><HelpPanel blocks={list} block={block} onBlock={setBlock} load={() => Promise.resolve(MARKDOWN)} onAdd={() => {}} /></div>;
}

const MARKDOWN = `# Conv2D

Convolves pictures with a filter. half and bfloat16 are summed in float.

## Inputs

| port | type | what it is |
| --- | --- | --- |
| \`input\` | T | [batch, height, width, in_channels]; for NCHW [batch, in_channels, height, width] |
| \`filter\` | T | [taps down, taps across, in_channels / groups, out_channels] |

## Attributes

| attribute | type | default | values | what it is |
| --- | --- | --- | --- | --- |
| \`T_\` | type | follows from the inputs | DT_HALF DT_FLOAT | the type of input, filter and output |
| \`padding_\` | string | must be given | SAME \\| VALID | SAME pads so that a stride of 1 keeps the size |

## Example

\`\`\`json
{
  "weft": 1,
  "page": "conv2d"
}
\`\`\`

Category nn; [all blocks](README.md).
`;
