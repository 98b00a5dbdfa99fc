/** Drawing of a scene on a canvas: what stands still, and what a run and the user change. Coordinates are pixels of the screen. */
import type { Palette } from "./palette";
import type { Scene } from "./scene";

/** Where the page stands: a point p of the page is at p * zoom + (x, y). */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Strokes of many wires go to the rasteriser in parts, for its time grows faster than the length of a path. */
const WIRES_A_PATH = 64;
/** Below this zoom wires are straight, and blocks plain. */
const PLAIN = 0.12;
/** Pixels of height that id and label need. */
const TWO_LINES = 24;
/** Below this zoom titles of frames stand above them. */
const ROOM_FOR_TITLE = 0.6;

/** Frames, wires, blocks and their names. */
export function drawStatic(ctx: Context, scene: Scene, palette: Palette, view: Viewport, size: Size): void {
  drawFrames(ctx, scene, palette, view);
  drawWires(ctx, scene, palette, view, size);
  drawBlocks(ctx, scene, palette, view, size);
  drawNames(ctx, scene, palette, view, size);
}

function drawFrames(ctx: Context, scene: Scene, palette: Palette, view: Viewport): void {
  for (const frame of scene.frames) {
    const x = frame.x * view.zoom + view.x, y = frame.y * view.zoom + view.y;
    const width = frame.width * view.zoom, height = frame.height * view.zoom;
    const color = frame.color ? palette.color(frame.color) : palette.accent;
    ctx.globalAlpha = 0.14;
    ctx.fillStyle = color;
    ctx.fillRect(x, y, width, height);
    ctx.globalAlpha = 0.6;
    ctx.strokeStyle = color;
    ctx.lineWidth = 1;
    ctx.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    ctx.globalAlpha = 1;
    if (frame.title && width > 40) {
      ctx.font = `600 12px ${palette.font}`;
      ctx.fillStyle = palette.text2;
      // the line that frames leave for their titles is lower than the letters when one is far away
      const above = view.zoom < ROOM_FOR_TITLE;
      ctx.fillText(fitted(ctx, frame.title, width - 12, 6.6), above ? x : x + 6, above ? y - 4 : y + 15);
    }
  }
}

function drawWires(ctx: Context, scene: Scene, palette: Palette, view: Viewport, size: Size): void {
  ctx.lineWidth = view.zoom < PLAIN ? 1 : Math.max(1, 2 * view.zoom + 0.6);
  ctx.globalAlpha = view.zoom < PLAIN ? 0.45 : 0.7;
  for (let type = 0; type < scene.types.list.length; ++type) {
    ctx.strokeStyle = palette.type(scene.types.list[type]!);
    drawWiresOfType(ctx, scene, type, view, size);
  }
  ctx.globalAlpha = 1;
}

function drawWiresOfType(ctx: Context, scene: Scene, type: number, view: Viewport, size: Size): void {
  const { ends, ports, boxes, wireType } = scene;
  const { zoom } = view;
  let inPath = 0;
  for (let i = 0; i < wireType.length; ++i) {
    if (wireType[i] !== type) continue;
    const from = ends[2 * i]! * 4, to = ends[2 * i + 1]! * 4;
    const x1 = (boxes[from]! + boxes[from + 2]!) * zoom + view.x, y1 = (boxes[from + 1]! + ports[2 * i]!) * zoom + view.y;
    const x2 = boxes[to]! * zoom + view.x, y2 = (boxes[to + 1]! + ports[2 * i + 1]!) * zoom + view.y;
    const bend = zoom < PLAIN ? 0 : Math.max(12 * zoom, Math.abs(x2 - x1) / 2);
    if (Math.max(x1, x2) + bend < 0 || Math.min(x1, x2) - bend > size.width || Math.max(y1, y2) < 0 || Math.min(y1, y2) > size.height) continue;
    if (inPath === 0) ctx.beginPath();
    ctx.moveTo(x1, y1);
    if (bend === 0) ctx.lineTo(x2, y2);
    else ctx.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    if (++inPath === WIRES_A_PATH) {
      ctx.stroke();
      inPath = 0;
    }
  }
  if (inPath > 0) ctx.stroke();
}

/** Calls back for each block in sight with its box on the screen. */
function eachInSight(scene: Scene, view: Viewport, size: Size, visit: (i: number, x: number, y: number, width: number, height: number) => void): void {
  const { boxes } = scene;
  for (let i = 0; i * 4 < boxes.length; ++i) {
    const x = boxes[i * 4]! * view.zoom + view.x, y = boxes[i * 4 + 1]! * view.zoom + view.y;
    const width = boxes[i * 4 + 2]! * view.zoom, height = boxes[i * 4 + 3]! * view.zoom;
    if (x < size.width && y < size.height && x + width > 0 && y + height > 0) visit(i, x, y, width, height);
  }
}

function drawBlocks(ctx: Context, scene: Scene, palette: Palette, view: Viewport, size: Size): void {
  const plain = view.zoom < PLAIN;
  const tints = scene.categories.list.map((name) => palette.category(name));
  // Sorted by category, so that the colour changes seldom.
  const byCategory: number[][] = tints.map(() => []);
  eachInSight(scene, view, size, (i) => byCategory[scene.category[i]!]!.push(i));
  byCategory.forEach((blocks, category) => {
    const tint = tints[category]!;
    for (const i of blocks) drawBlock(ctx, scene, view, i, tint, plain);
  });
}

function drawBlock(ctx: Context, scene: Scene, view: Viewport, i: number, tint: { line: string; head: string; body: string }, plain: boolean): void {
  const { boxes } = scene;
  const x = Math.round(boxes[i * 4]! * view.zoom + view.x), y = Math.round(boxes[i * 4 + 1]! * view.zoom + view.y);
  const width = Math.max(2, Math.round(boxes[i * 4 + 2]! * view.zoom)), height = Math.max(2, Math.round(boxes[i * 4 + 3]! * view.zoom));
  ctx.fillStyle = tint.line;
  ctx.fillRect(x, y, width, height);
  if (plain || width < 6 || height < 6) return;
  ctx.fillStyle = tint.body;
  ctx.fillRect(x + 1, y + 1, width - 2, height - 2);
  ctx.fillStyle = tint.head;
  ctx.fillRect(x + 1, y + 1, width - 2, Math.min(height - 2, Math.max(3, Math.round(30 * view.zoom))));
}

/** Ids, and labels below them where blocks are tall enough: a colour at a time. */
function drawNames(ctx: Context, scene: Scene, palette: Palette, view: Viewport, size: Size): void {
  if (view.zoom < PLAIN) return;
  ctx.textBaseline = "middle";
  const write = (texts: readonly string[], font: string, colour: string, perChar: number, place: (height: number) => number | undefined): void => {
    ctx.font = `${font} ${palette.font}`;
    ctx.fillStyle = colour;
    eachInSight(scene, view, size, (i, x, y, width, height) => {
      const down = width >= 34 ? place(height) : undefined;
      if (down !== undefined && texts[i]) ctx.fillText(fitted(ctx, texts[i], width - 8, perChar), x + 5, y + down);
    });
  };
  write(scene.ids, "500 10px", palette.text, 5.8, (height) => (height >= TWO_LINES ? height / 2 - 5.5 : height >= 12 ? height / 2 : undefined));
  write(scene.labels, "9px", palette.text2, 5, (height) => (height >= TWO_LINES ? height / 2 + 5.5 : undefined));
  ctx.textBaseline = "alphabetic";
}

/** The text, or as much of its beginning as fits. `perChar` is about the width of a letter; what may fit is measured. */
function fitted(ctx: Context, text: string, width: number, perChar: number): string {
  const most = Math.floor(width / perChar);
  if (text.length <= most || (text.length * perChar * 0.85 <= width && ctx.measureText(text).width <= width)) return text;
  return most < 6 ? "" : `${text.slice(0, most - 1)}…`;
}

/** States, faults, heat and selection: what changes while a page runs. */
export function drawLive(ctx: Context, scene: Scene, palette: Palette, view: Viewport, size: Size, hovered?: string): void {
  const colours = scene.heat ? palette.heat : palette.states;
  const byColour: number[][] = colours.map(() => []);
  const selected: number[] = [];
  const faulty: number[] = [];
  eachInSight(scene, view, size, (i) => {
    const colour = scene.heat ? heatStep(scene.heat[i]!) : scene.state[i]!;
    if (colour >= 0 && colours[colour]) byColour[colour]!.push(i);
    if (scene.selected[i] || scene.ids[i] === hovered) selected.push(i);
    if (scene.fault[i]) faulty.push(i);
  });
  byColour.forEach((blocks, colour) => { if (blocks.length > 0) drawMarks(ctx, scene, view, blocks, colours[colour]!, scene.heat !== undefined); });
  for (const i of faulty) drawFault(ctx, scene, view, i, scene.fault[i] === 2 ? palette.error : palette.warning);
  for (const i of selected) outline(ctx, scene, view, i, palette.accent, scene.selected[i] ? 2 : 1);
}

/** Place in the palette's heat; negative where it is not known. */
function heatStep(heat: number): number {
  return heat < 0 ? -1 : Math.min(15, Math.floor(heat * 16));
}

/** A bar at the left edge for a state; the whole block for heat, and where blocks are tiny. */
function drawMarks(ctx: Context, scene: Scene, view: Viewport, blocks: readonly number[], colour: string, whole: boolean): void {
  const { boxes } = scene;
  ctx.fillStyle = colour;
  // Names are to be read through the colour, where there are any.
  if (whole) ctx.globalAlpha = view.zoom < PLAIN ? 0.8 : 0.5;
  for (const i of blocks) {
    const x = Math.round(boxes[i * 4]! * view.zoom + view.x), y = Math.round(boxes[i * 4 + 1]! * view.zoom + view.y);
    const width = Math.max(2, Math.round(boxes[i * 4 + 2]! * view.zoom)), height = Math.max(2, Math.round(boxes[i * 4 + 3]! * view.zoom));
    ctx.fillRect(x, y, whole || width < 8 ? width : Math.max(3, Math.round(10 * view.zoom)), height);
  }
  ctx.globalAlpha = 1;
}

function drawFault(ctx: Context, scene: Scene, view: Viewport, i: number, colour: string): void {
  const { boxes } = scene;
  const x = (boxes[i * 4]! + boxes[i * 4 + 2]!) * view.zoom + view.x, y = boxes[i * 4 + 1]! * view.zoom + view.y;
  outline(ctx, scene, view, i, colour, 1);
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x - 1, y + 1, Math.max(3, 12 * view.zoom), 0, 2 * Math.PI);
  ctx.fill();
}

function outline(ctx: Context, scene: Scene, view: Viewport, i: number, colour: string, width: number): void {
  const { boxes } = scene;
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  const x = Math.round(boxes[i * 4]! * view.zoom + view.x), y = Math.round(boxes[i * 4 + 1]! * view.zoom + view.y);
  const out = width / 2 + 0.5;
  ctx.strokeRect(x - out, y - out, Math.round(boxes[i * 4 + 2]! * view.zoom) + 2 * out, Math.round(boxes[i * 4 + 3]! * view.zoom) + 2 * out);
}
