/** Pictures of a page: the server draws the SVG, the browser makes a PNG of any size of it. */
import { saveFile } from "./download";

/** Browsers refuse larger canvases. */
const MOST_EDGE = 16_384;
const MOST_PIXELS = 120_000_000;

/** Width and height that an SVG asks for. */
export function svgSize(svg: string): { width: number; height: number } {
  const root = /<svg\b[^>]*>/i.exec(svg)?.[0] ?? "";
  const attribute = (name: string) => Number.parseFloat(new RegExp(`\\b${name}="([^"]*)"`).exec(root)?.[1] ?? "");
  const box = /\bviewBox="([^"]*)"/.exec(root)?.[1]?.trim().split(/[\s,]+/).map(Number);
  const width = attribute("width") || box?.[2] || 0, height = attribute("height") || box?.[3] || 0;
  if (!(width > 0 && height > 0)) throw new Error("the picture has no size");
  return { width, height };
}

/** The scale as far as a canvas can be made of it. */
export function fittingScale(size: { width: number; height: number }, scale: number): number {
  return Math.min(scale, MOST_EDGE / size.width, MOST_EDGE / size.height, Math.sqrt(MOST_PIXELS / (size.width * size.height)));
}

/** The SVG as a PNG, `scale` times its size, or as large as can be. */
export async function svgToPng(svg: string, scale = 2): Promise<Blob> {
  const size = svgSize(svg);
  const by = fittingScale(size, scale);
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(size.width * by);
    canvas.height = Math.round(size.height * by);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture cannot be made a PNG"))), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Saves a page's picture, as the server drew it. */
export function savePageSvg(page: string, svg: string): void {
  saveFile(`${page}.svg`, svg, "image/svg+xml");
}

/** Saves a page's picture as a PNG. */
export async function savePagePng(page: string, svg: string, scale = 2): Promise<void> {
  saveFile(`${page}.png`, await svgToPng(svg, scale));
}
