/** The whole page in a corner, with a frame round what is in sight. */
import { useLayoutEffect, useRef, type KeyboardEvent, type PointerEvent } from "react";
import type { Size, Viewport } from "./draw";
import { Painter } from "./painter";
import type { Box, Scene } from "./scene";
import { overviewTexts } from "./texts";
import "./overview.css";

export interface MinimapProps {
  scene: Scene;
  viewport: Viewport;
  /** Size of the canvas that the viewport belongs to. */
  canvasSize: Size;
  /** Asks to have this point of the page in the middle. */
  onCenter(x: number, y: number): void;
  width?: number;
  height?: number;
}

const PADDING = 8;
/** Milliseconds between two drawings of states: a map is looked at for places. */
const CALM = 250;

/** What of the page is in sight. */
function inSight(viewport: Viewport, size: Size): Box {
  return { x: -viewport.x / viewport.zoom, y: -viewport.y / viewport.zoom, width: size.width / viewport.zoom, height: size.height / viewport.zoom };
}

/** The view that shows the box in the middle. */
export function fitView(box: Box, size: Size): Viewport {
  const zoom = Math.min((size.width - 2 * PADDING) / Math.max(1, box.width), (size.height - 2 * PADDING) / Math.max(1, box.height), 0.25);
  return { zoom, x: (size.width - box.width * zoom) / 2 - box.x * zoom, y: (size.height - box.height * zoom) / 2 - box.y * zoom };
}

/** Click or drag moves the view; arrow keys do so by a quarter of what is in sight. */
export function Minimap({ scene, viewport, canvasSize, onCenter, width = 200, height = 132 }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  const now = useRef({ viewport, canvasSize });
  now.current = { viewport, canvasSize };
  const own = () => fitView(scene.bounds() ?? { x: 0, y: 0, width: 1, height: 1 }, { width, height });

  useLayoutEffect(() => {
    const made = (painter.current = new Painter(canvas.current!, scene, CALM));
    made.onPaint = (ctx, view, palette) => {
      const box = inSight(now.current.viewport, now.current.canvasSize);
      const [x, y, w, h] = [box.x * view.zoom + view.x, box.y * view.zoom + view.y, box.width * view.zoom, box.height * view.zoom];
      ctx.fillStyle = palette.bg;
      ctx.globalAlpha = 0.6;
      ctx.fillRect(0, 0, width, y);
      ctx.fillRect(0, y + h, width, height);
      ctx.fillRect(0, y, x, h);
      ctx.fillRect(x + w, y, width, h);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = palette.accent;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(x, y, w, h);
    };
    let version = -1;
    const follow = () => {
      if (version === scene.layoutVersion) return;
      version = scene.layoutVersion;
      made.setView(own());
    };
    follow();
    made.setSize({ width, height });
    const end = scene.subscribe(follow);
    return () => {
      end();
      made.dispose();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [scene, width, height]);
  useLayoutEffect(() => painter.current?.request(), [viewport, canvasSize]);

  const center = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const view = own();
    onCenter((event.clientX - box.left - view.x) / view.zoom, (event.clientY - box.top - view.y) / view.zoom);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const box = inSight(viewport, canvasSize);
    onCenter(box.x + box.width * (0.5 + step[0]! / 4), box.y + box.height * (0.5 + step[1]! / 4));
  };
  return (
    <div
      className="w-overview-map" role="group" tabIndex={0} aria-label={overviewTexts.minimap} style={{ width, height }} onKeyDown={key}
      onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); center(event); }}
      onPointerMove={(event) => { if (event.buttons & 1) center(event); }}
    >
      <canvas ref={canvas} aria-hidden="true" style={{ width, height }} />
    </div>
  );
}
