import { useEffect, useMemo, useState } from "react";
import { Minimap, Overview, Scene, STATES, type SceneBlock, type SceneWire } from "../../packages/editor/src/overview";

const CATEGORIES = ["math", "array_ops", "nn", "training", "state", "core", "control_flow_ops", "random"];
const TYPES = ["float", "double", "int", "bool", "string", "complex"];

function sample(count: number): Scene {
  const scene = new Scene();
  const columns = Math.ceil(Math.sqrt(count) * 0.8);
  const blocks: SceneBlock[] = Array.from({ length: count }, (_, i) => ({
    id: `block_${i}`, x: (i % columns) * 280, y: Math.floor(i / columns) * 150 + (i % 3) * 12, width: 180 + (i % 4) * 10, height: 70 + (i % 5) * 12,
    category: CATEGORIES[Math.floor(i / 7) % CATEGORIES.length]!,
  }));
  scene.setBlocks(blocks);
  const wires: SceneWire[] = [];
  for (let i = 1; i < count; ++i) {
    if (i % columns !== 0) wires.push({ from: `block_${i - 1}`, to: `block_${i}`, fromY: 40, toY: 40, type: TYPES[i % 6]! });
    if (i % 3 === 0 && i + columns + 2 < count) wires.push({ from: `block_${i}`, to: `block_${i + columns + 2}`, fromY: 55, toY: 50, type: TYPES[i % 4]! });
  }
  scene.setWires(wires);
  scene.setFrames([{ x: -60, y: -80, width: 1500, height: 700, title: "Input and first layer", color: "#2c8a4b" }]);
  scene.setStates(blocks.map((block, i) => [block.id, STATES[i % 11 < 8 ? 3 : i % 8]!] as const));
  scene.setFaults([["block_40", "error"], ["block_77", "warning"]]);
  scene.setSelection(["block_42", "block_43"]);
  return scene;
}

/** Frames in a second of panning (and zooming, with ?zooming) while 5 % of the states change ten times a second: window.bench(ms). */
export function OverviewPart() {
  const query = new URLSearchParams(location.search);
  const scene = useMemo(() => sample(Number(query.get("n") ?? 5000)), []);
  const [view, setView] = useState({ x: 60, y: 60, zoom: Number(query.get("zoom") ?? 0.15) });
  const [size, setSize] = useState({ width: innerWidth, height: innerHeight });
  useEffect(() => {
    if (query.has("heat")) scene.setHeat(new Map(scene.ids.map((id, i) => [id, ((i * 7919) % 100) / 100])));
    const resized = () => setSize({ width: innerWidth, height: innerHeight });
    addEventListener("resize", resized);
    (window as { bench?: unknown }).bench = (ms: number, zooming: boolean) => new Promise((resolve) => {
      const begin = performance.now();
      let frames = 0, worst = 0, last = begin, round = 0;
      const timer = setInterval(() => {
        ++round;
        scene.setStates(Array.from({ length: scene.count / 20 }, (_, i) => [`block_${(i * 20 + round) % scene.count}`, STATES[round % 8]!] as const));
      }, 100);
      const step = (now: number) => {
        ++frames;
        worst = Math.max(worst, now - last);
        last = now;
        const t = (now - begin) / 1000;
        setView((v) => (zooming ? { x: 60, y: 60, zoom: 0.2 + 0.14 * Math.sin(t * 2) } : { ...v, x: 60 - 900 * Math.abs(Math.sin(t / 2)), y: 60 - 500 * Math.abs(Math.sin(t / 3)) }));
        if (now - begin < ms) return requestAnimationFrame(step);
        clearInterval(timer);
        resolve({ fps: (frames * 1000) / (now - begin), worst });
      };
      requestAnimationFrame(step);
    });
    return () => removeEventListener("resize", resized);
  }, []);
  return (
    <>
      <Overview scene={scene} viewport={view} />
      <div style={{ position: "absolute", right: 16, bottom: 16 }}>
        <Minimap scene={scene} viewport={view} canvasSize={size} onCenter={(x, y) => setView((v) => ({ ...v, x: size.width / 2 - x * v.zoom, y: size.height / 2 - y * v.zoom }))} />
      </div>
    </>
  );
}
