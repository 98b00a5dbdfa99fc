import { Panel, useReactFlow, useStore, useViewport } from "@xyflow/react";
import { useEffect, useMemo, useRef } from "react";
import { useCellPart, usePage, useWorkbench } from "../model/react";
import { Minimap, Overview, type Scene } from "../overview";
import { SceneSync } from "./sceneSync";

/** Below this zoom the page is painted on one canvas. */
export const overviewZoom = 0.35;

/** The painted page: as the whole canvas when one is far away, and as the minimap. */
export function Landscape({ far }: { far: boolean }) {
  const page = usePage();
  const minimap = useCellPart(useWorkbench().settings, (s) => s.minimap);
  const sync = useMemo(() => new SceneSync(page), [page]);
  useEffect(() => () => sync.dispose(), [sync]);
  return (
    <>
      {far && <FarView scene={sync.scene} />}
      {minimap && <Panel position="bottom-right" className="w-minimap-panel"><Map scene={sync.scene} /></Panel>}
    </>
  );
}

function Map({ scene }: { scene: Scene }) {
  const page = usePage();
  const viewport = useViewport();
  const flow = useReactFlow();
  const width = useStore((s) => s.width);
  const height = useStore((s) => s.height);
  const size = useMemo(() => ({ width, height }), [width, height]);
  const center = (x: number, y: number): void => {
    page.looks++;
    void flow.setCenter(x, y, { zoom: viewport.zoom });
  };
  const small = height < 480 || width < 560;
  return <Minimap scene={scene} viewport={viewport} canvasSize={size} onCenter={center} width={small ? 112 : 176} height={small ? 72 : 112} />;
}

/** The far view, with what the pointer does on it: a click selects, a double click goes there. */
function FarView({ scene }: { scene: Scene }) {
  const page = usePage();
  const workbench = useWorkbench();
  const viewport = useViewport();
  const flow = useReactFlow();
  const anchor = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const pane = anchor.current?.closest(".react-flow")?.querySelector<HTMLElement>(".react-flow__pane");
    if (!pane) return;
    const hit = (event: MouseEvent): string | undefined => {
      const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      return scene.hit(x, y, 8 / flow.getZoom());
    };
    const click = (event: MouseEvent): void => {
      const id = hit(event);
      if (id) setTimeout(() => page.select([id]));
    };
    const go = (event: MouseEvent): void => {
      const id = hit(event);
      event.stopPropagation();
      page.looks++;
      if (id) workbench.reveal([id]);
      else void flow.setCenter(...center(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })), { zoom: 0.8, duration: 200 });
    };
    pane.addEventListener("click", click);
    pane.addEventListener("dblclick", go);
    return () => {
      pane.removeEventListener("click", click);
      pane.removeEventListener("dblclick", go);
    };
  }, [scene, flow, page, workbench]);
  return (
    <div ref={anchor} className="w-far">
      <Overview scene={scene} viewport={viewport} />
    </div>
  );
}

const center = ({ x, y }: { x: number; y: number }): [number, number] => [x, y];
