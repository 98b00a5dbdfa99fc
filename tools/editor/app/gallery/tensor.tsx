import { useState } from "react";
import { TensorEditor, TensorInspector, zeros, type TensorValue } from "../../packages/editor/src/tensor";

function sample(shape: number[], f: (i: number) => number): TensorValue {
  const tensor = zeros("DT_FLOAT", shape);
  for (let i = 0; i < tensor.data.length; ++i) (tensor.data as Float32Array)[i] = f(i);
  return tensor;
}
const noise = (i: number) => Math.sin(i * 12.9898) * 43758.5453 % 1;
const weights = sample([64, 24], (i) => (i === 37 || i === 200 ? NaN : i === 50 ? Infinity : noise(i) + Math.sin(i / 90)));
const pictures = sample([4, 28, 28, 3], (i) => { const p = Math.floor(i / 3) % 784, x = p % 28 - 14, y = Math.floor(p / 28) - 14; return Math.exp(-(x * x + y * y) / (30 + 30 * (i % 3))) + noise(i) * 0.05; });

export function TensorPart() {
  const query = new URLSearchParams(location.search);
  const [editing, setEditing] = useState(query.has("edit"));
  const [value, setValue] = useState(sample([3, 4], (i) => i / 4));
  return (
    <div style={{ display: "grid", gridTemplateColumns: "1fr 1fr", gridTemplateRows: "1fr 1fr", gap: 16, padding: 16, height: "100%", boxSizing: "border-box" }}>
      <div className="gallery-panel"><TensorInspector name="w1.ref" tensor={weights} run={120} /></div>
      <div className="gallery-panel"><TensorInspector name="x.output" tensor={pictures} tab="image" run={120} stale /></div>
      <div className="gallery-panel"><TensorInspector name="w1.ref" tensor={weights} tab="histogram" /></div>
      <div className="gallery-panel"><TensorInspector name="w1.ref" tensor={weights} tab="statistics" /></div>
      {editing && <TensorEditor name="x.value" tensor={value} onClose={() => setEditing(false)} onSave={(next) => { setValue(next); setEditing(false); }} />}
    </div>
  );
}
