/** A small trend that stands on the page among the blocks. */
import { useEffect, useRef } from "react";
import { watchTheme } from "../overview";
import { formatBrief } from "../tensor";
import { text } from "../texts";
import { thinned } from "./align";
import { strokeOf } from "./chart";
import type { TrendStore } from "./store";
import { plotTexts } from "./texts";
import "./plots.css";

export interface MiniTrendProps {
  store: TrendStore;
  width: number;
  height: number;
  logarithmic?: boolean;
  /** Shown above; the names of the series where left out. */
  title?: string;
}

/** Lines without axes, with the lowest, highest and latest value. */
export function MiniTrend({ store, width, height, logarithmic = false, title }: MiniTrendProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const label = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      frame = 0;
      const latest = drawLines(canvas.current!, store, width, height, logarithmic);
      const names = [...new Set(store.series().map((each) => each.name))].join(", ");
      if (label.current) label.current.textContent = latest === undefined ? "–" : formatBrief(latest);
      if (head.current) head.current.textContent = title ?? names;
      canvas.current?.setAttribute("aria-label", text(plotTexts.points, { name: title ?? names, count: store.series()[0]?.points.length ?? 0, value: latest === undefined ? plotTexts.noValue : formatBrief(latest) }));
    };
    const request = () => { frame ||= requestAnimationFrame(draw); };
    draw();
    const ends = [store.subscribe(request), watchTheme(canvas.current!, request)];
    return () => {
      cancelAnimationFrame(frame);
      ends.forEach((end) => end());
    };
  }, [store, width, height, logarithmic, title]);
  return (
    <figure className="w-plots-mini" style={{ width }}>
      <figcaption><div ref={head} /><span ref={label} /></figcaption>
      <canvas ref={canvas} role="img" style={{ width, height }} />
    </figure>
  );
}

function drawLines(canvas: HTMLCanvasElement, store: TrendStore, width: number, height: number, logarithmic: boolean): number | undefined {
  const ratio = window.devicePixelRatio || 1;
  const ctx = canvas.getContext("2d");
  const lines = store.series().filter((each) => !each.hidden && each.points.length > 0).map((each) => ({ each, ...thinned(each.points, "step", width * 2, logarithmic) }));
  const newest = lines.find((line) => line.each.age === 0)?.each.points;
  const latest = newest?.y(newest.length - 1);
  if (!ctx) return latest;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  const level = (value: number) => (logarithmic ? Math.log10(value) : value);
  let low = Infinity, high = -Infinity, left = Infinity, right = -Infinity;
  for (const line of lines) {
    left = Math.min(left, line.x[0]!), right = Math.max(right, line.x.at(-1)!);
    for (const value of line.y) if (value !== null) low = Math.min(low, level(value)), high = Math.max(high, level(value));
  }
  if (!(high >= low)) return latest;
  const style = getComputedStyle(canvas);
  const pad = 6;
  const toX = (x: number) => pad + ((x - left) / (right - left || 1)) * (width - 2 * pad);
  const toY = (value: number) => height - pad - ((level(value) - low) / (high - low || 1)) * (height - 2 * pad);
  for (const line of lines) {
    const { stroke, width: thick, dash, alpha } = strokeOf(line.each, style);
    ctx.strokeStyle = stroke;
    ctx.lineWidth = thick;
    ctx.globalAlpha = alpha;
    ctx.setLineDash(dash ?? []);
    ctx.beginPath();
    let pen = false;
    line.x.forEach((x, i) => {
      const value = line.y[i] ?? null;
      if (value === null) pen = false;
      else if (pen) ctx.lineTo(toX(x), toY(value));
      else {
        ctx.moveTo(toX(x), toY(value));
        pen = true;
      }
    });
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  return latest;
}
