/** Paints a scene on a canvas as the view moves, at most once a frame and only when something changed. */
import { drawLive, drawStatic, type Size, type Viewport } from "./draw";
import { readPalette, watchTheme, type Palette } from "./palette";
import type { Scene } from "./scene";

/** How much more than is in sight the kept picture shows, on each side. */
const MARGIN = 0.3;
/** After so many milliseconds without a move the picture is drawn anew in full sharpness. */
const IDLE = 120;
/** Pixels that wires may reach beyond the blocks. */
const OUTSIDE = 8;

/**
 * What stands still (wires, blocks, names) is kept as a picture somewhat larger than the view. While the view moves, that picture is moved
 * and scaled, and only states are drawn anew; it is renewed when it does not cover the view any more, and when the view rests.
 */
export class Painter {
  private readonly ctx: CanvasRenderingContext2D | null;
  private readonly kept = document.createElement("canvas");
  private keptView: Viewport | undefined;
  private keptVersion = -1;
  private palette: Palette | undefined;
  private view: Viewport = { x: 0, y: 0, zoom: 1 };
  private size: Size = { width: 0, height: 0 };
  private ratio = 1;
  private hovered: string | undefined;
  private frame = 0;
  private rests = true;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private readonly ends: (() => void)[];
  /** Called after each painting, for what is drawn on top. */
  onPaint: ((ctx: CanvasRenderingContext2D, view: Viewport, palette: Palette) => void) | undefined;

  /** `calm`: states are drawn anew at most every so many milliseconds, and kept in between. */
  constructor(private readonly canvas: HTMLCanvasElement, private readonly scene: Scene, private readonly calm = 0) {
    this.ctx = canvas.getContext("2d");
    this.ends = [
      scene.subscribe(() => (calm === 0 ? this.request() : this.requestCalmly())),
      watchTheme(canvas, () => { this.palette = undefined; this.keptView = undefined; this.request(); }),
    ];
  }

  /** Where the page stands. */
  setView(view: Viewport): void {
    if (view.x === this.view.x && view.y === this.view.y && view.zoom === this.view.zoom) return;
    this.view = view;
    this.rests = false;
    this.request();
    clearTimeout(this.idle);
    this.idle = setTimeout(() => { this.rests = true; this.request(); }, IDLE);
  }

  /** Size of the canvas in pixels of the page; call it again when the window's pixel ratio changes. */
  setSize(size: Size): void {
    const ratio = window.devicePixelRatio || 1;
    if (size.width === this.size.width && size.height === this.size.height && ratio === this.ratio) return;
    this.size = size;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(size.width * ratio));
    this.canvas.height = Math.max(1, Math.round(size.height * ratio));
    this.keptView = undefined;
    this.paint(); // at once: a canvas that was resized is empty
  }

  setHovered(id: string | undefined): void {
    if (id === this.hovered) return;
    this.hovered = id;
    this.request();
  }

  /** Paints with the next frame. */
  request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.idle);
    clearTimeout(this.later);
    this.ends.forEach((end) => end());
  }

  private paint(): void {
    const { ctx, view, size, ratio } = this;
    if (!ctx || size.width <= 0 || size.height <= 0) return;
    this.palette ??= readPalette(this.canvas);
    if (this.mustRenew()) this.renew(this.palette);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const kept = this.keptView!;
    const scale = view.zoom / kept.zoom;
    const x = (view.x - kept.x * scale) * ratio, y = (view.y - kept.y * scale) * ratio;
    // Where nothing is scaled, whole pixels keep the picture sharp.
    if (scale === 1) ctx.drawImage(this.kept, Math.round(x), Math.round(y));
    else ctx.drawImage(this.kept, x, y, this.kept.width * scale, this.kept.height * scale);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.calm === 0) drawLive(ctx, this.scene, this.palette, view, size, this.hovered);
    else this.drawKeptStates(ctx, this.palette);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.onPaint?.(ctx, view, this.palette);
  }

  private later: ReturnType<typeof setTimeout> | undefined;
  private drawnAt = 0;
  private states: { canvas: HTMLCanvasElement; version: number; view: Viewport; palette: Palette } | undefined;

  /** What stands still is painted with the next frame all the same. */
  private requestCalmly(): void {
    if (this.keptVersion !== this.scene.layoutVersion) this.request();
    this.later ??= setTimeout(() => { this.later = undefined; this.request(); }, this.calm);
  }

  private drawKeptStates(ctx: CanvasRenderingContext2D, palette: Palette): void {
    const { view, scene, canvas } = this;
    const kept = this.states;
    const stale = !kept || kept.view !== view || kept.palette !== palette || kept.canvas.width !== canvas.width || kept.canvas.height !== canvas.height;
    if (stale || (kept.version !== scene.stateVersion && performance.now() - this.drawnAt >= this.calm)) this.keepStates(palette);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.states!.canvas, 0, 0);
  }

  private keepStates(palette: Palette): void {
    const picture = this.states?.canvas ?? document.createElement("canvas");
    picture.width = this.canvas.width; // clears it, too
    picture.height = this.canvas.height;
    this.states = { canvas: picture, version: this.scene.stateVersion, view: this.view, palette };
    this.drawnAt = performance.now();
    const ctx = picture.getContext("2d");
    ctx?.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (ctx) drawLive(ctx, this.scene, palette, this.view, this.size);
  }

  private mustRenew(): boolean {
    const { keptView: kept, view } = this;
    if (!kept || this.keptVersion !== this.scene.layoutVersion) return true;
    const scale = view.zoom / kept.zoom;
    if (scale !== 1 && (this.rests || scale > 2 || scale < 0.5)) return true;
    return !this.covers(kept, scale);
  }

  /** Whether the kept picture shows all of the page that is in sight. */
  private covers(kept: Viewport, scale: number): boolean {
    const { view, size, ratio } = this;
    const bounds = this.scene.bounds() ?? { x: 0, y: 0, width: 0, height: 0 };
    // In pixels of the screen: what is in sight of the page, and the kept picture.
    const left = Math.max(0, bounds.x * view.zoom + view.x - OUTSIDE), right = Math.min(size.width, (bounds.x + bounds.width) * view.zoom + view.x + OUTSIDE);
    const top = Math.max(0, bounds.y * view.zoom + view.y - OUTSIDE), bottom = Math.min(size.height, (bounds.y + bounds.height) * view.zoom + view.y + OUTSIDE);
    if (left >= right || top >= bottom) return true;
    const x = view.x - kept.x * scale, y = view.y - kept.y * scale;
    return left >= x - 1 && top >= y - 1 && right <= x + (this.kept.width / ratio) * scale + 1 && bottom <= y + (this.kept.height / ratio) * scale + 1;
  }

  private renew(palette: Palette): void {
    const { view, size, ratio } = this;
    const margin = { x: size.width * MARGIN, y: size.height * MARGIN };
    const whole = { width: size.width + 2 * margin.x, height: size.height + 2 * margin.y };
    const width = Math.round(whole.width * ratio), height = Math.round(whole.height * ratio);
    const ctx = this.kept.getContext("2d");
    if (!ctx) return;
    if (this.kept.width !== width || this.kept.height !== height) {
      this.kept.width = width;
      this.kept.height = height;
    } else {
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.clearRect(0, 0, width, height);
    }
    // Whole pixels between both pictures.
    const shift = { x: Math.round(margin.x * ratio) / ratio, y: Math.round(margin.y * ratio) / ratio };
    this.keptView = { x: view.x + shift.x, y: view.y + shift.y, zoom: view.zoom };
    this.keptVersion = this.scene.layoutVersion;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawStatic(ctx, this.scene, palette, this.keptView, whole);
  }
}
