/** The page as one canvas, for zooms at which blocks are too small to be worked on. */
import { useEffect, useLayoutEffect, useRef } from "react";
import { text } from "../texts";
import type { Viewport } from "./draw";
import { Painter } from "./painter";
import type { Scene } from "./scene";
import { overviewTexts } from "./texts";
import "./overview.css";

export interface OverviewProps {
  scene: Scene;
  viewport: Viewport;
  /** The block under the pointer, if any. */
  hovered?: string;
}

/** Fills its positioned parent and takes no events: find blocks with `scene.hit`. */
export function Overview({ scene, viewport, hovered }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  useLayoutEffect(() => {
    const element = canvas.current!;
    const own = (painter.current = new Painter(element, scene));
    const fit = () => own.setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    window.addEventListener("resize", fit); // the pixel ratio changes with the browser's zoom
    own.setView(viewport);
    fit();
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", fit);
      own.dispose();
      painter.current = null;
    };
    // The view is followed below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [scene]);
  useLayoutEffect(() => painter.current?.setView(viewport), [viewport]);
  useEffect(() => painter.current?.setHovered(hovered), [hovered]);
  return <canvas ref={canvas} className="w-overview" role="img" aria-label={text(overviewTexts.overview, { blocks: scene.count })} />;
}
