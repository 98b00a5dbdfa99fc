import {
  Background, BackgroundVariant, ConnectionLineType, Panel, ReactFlow, ReactFlowProvider, SelectionMode, useReactFlow, useStoreApi,
  type Connection, type Edge, type EdgeChange, type FinalConnectionState, type Node, type NodeChange, type OnConnectStartParams,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { dropSchema, pointOf } from "../actions/drop";
import { openContextMenu, type ContextMenuState } from "../actions/menus";
import type { PageEditor } from "../model/pageEditor";
import { useCell, useCellPart, usePage, useStructure, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Button, Menu } from "../ui";
import { BlockNode } from "./BlockNode";
import { Connector, connect, ends, reconnect } from "./connect";
import { ConnectionReason, WireLine } from "./ConnectionReason";
import { FrameNode, NoteNode } from "./DecorNodes";
import { useDrag } from "./drag";
import { Landscape, overviewZoom } from "./Landscape";
import { PlotNode } from "./PlotNode";
import { PortTip } from "./PortTip";
import { useReveal } from "./reveal";
import { selectionAfter } from "./selection";
import { WireEdge } from "./WireEdge";
import "./canvas.css";

const nodeTypes = { block: BlockNode, frame: FrameNode, note: NoteNode, plot: PlotNode };
const edgeTypes = { wire: WireEdge };
const t = texts.canvas;

/** The page as a picture that is worked on. Below `overviewZoom` it is painted on one canvas instead of elements. */
export function Canvas() {
  const page = usePage();
  return (
    <ReactFlowProvider key={page.id}>
      <Flow />
      <PortTip />
    </ReactFlowProvider>
  );
}

function Flow() {
  const page = usePage();
  const workbench = useWorkbench();
  const flow = useReactFlow();
  const store = useStoreApi();
  const root = useRef<HTMLDivElement>(null);
  const nodes = useCell(page.flow.nodes);
  const edges = useCell(page.flow.edges);
  const snap = useCellPart(workbench.settings, (s) => s.snap);
  const connector = useMemo(() => new Connector(page), [page]);
  const drag = useDrag(page);
  const far = useView(root);
  const moving = useMoving(root, page);
  const [menu, setMenu] = useState<ContextMenuState | null>(null);

  useEffect(() => connector.highlight(), [connector, nodes]);
  useReveal(page, workbench);

  const select = useCallback((changes: (NodeChange | EdgeChange)[], prefix: string) => {
    if (!changes.some((change) => change.type === "select")) return;
    const { multiSelectionActive, userSelectionRect } = store.getState();
    page.select(selectionAfter(page.selection.get(), changes, prefix, multiSelectionActive || userSelectionRect !== null));
  }, [page, store]);
  const onNodesChange = useCallback((changes: NodeChange[]) => {
    select(changes, "");
    drag.change(changes);
  }, [select, drag]);
  const onEdgesChange = useCallback((changes: EdgeChange[]) => select(changes, "wire:"), [select]);
  const onConnectStart = useCallback((_event: unknown, { nodeId, handleId, handleType }: OnConnectStartParams) => {
    if (nodeId && handleId && handleType) connector.begin(`${nodeId}.${handleId}`, handleType, root.current);
  }, [connector]);
  const onConnect = useCallback((connection: Connection) => {
    const { from, to } = ends(connection);
    void connect(page, from, to, connector.knows(from, to)).then((done) => done && workbench.announce(`${from} → ${to}`));
  }, [connector, page, workbench]);
  const onConnectEnd = useCallback((event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
    const draft = connector.draft;
    const over = pointOf(event);
    if (draft && !state.toHandle) {
      const block = document.elementFromPoint(over.x, over.y)?.closest<HTMLElement>(".react-flow__node-block")?.dataset["id"];
      const port = block && connector.portOf(block);
      if (port) void (draft.side === "source" ? connect(page, draft.port, port, true) : connect(page, port, draft.port, true));
      else if (!block && !reconnecting.current) workbench.quick.set({ at: over, place: flow.screenToFlowPosition(over), wire: { port: draft.port, side: draft.side === "source" ? "source" : "target" } });
    }
    connector.end();
  }, [connector, page, workbench, flow]);

  const reconnecting = useRef(false);
  const onReconnect = useCallback((edge: Edge, connection: Connection) => {
    const { from, to } = ends(connection);
    void reconnect(page, edge.id, from, to, connector.knows(from, to));
  }, [connector, page]);

  return (
    <div
      ref={root} className="w-canvas" tabIndex={-1} data-far={far || undefined}
      onDoubleClick={(event) => {
        if (!(event.target as Element).classList.contains("react-flow__pane")) return;
        workbench.quick.set({ at: pointOf(event), place: flow.screenToFlowPosition(pointOf(event)) });
      }}
      onDragOver={(event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
      }}
      onDrop={(event) => void dropSchema(workbench, page, event.nativeEvent, flow.screenToFlowPosition(pointOf(event)))}
    >
      <ReactFlow
        nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} onlyRenderVisibleElements
        onNodesChange={onNodesChange} onEdgesChange={onEdgesChange}
        onNodeDragStart={drag.start} onNodeDragStop={drag.stop} onSelectionDragStart={drag.startAll} onSelectionDragStop={drag.stopAll}
        onConnect={onConnect} onConnectStart={onConnectStart} onConnectEnd={onConnectEnd}
        onClickConnectStart={onConnectStart} onClickConnectEnd={() => connector.end()}
        onReconnect={onReconnect} onReconnectStart={() => (reconnecting.current = true)} onReconnectEnd={() => (reconnecting.current = false)}
        isValidConnection={(connection) => {
          const { from, to } = ends(connection);
          return connector.fits(connector.draft?.side === "target" ? from : to);
        }}
        connectionLineComponent={WireLine} connectionLineType={ConnectionLineType.Bezier} connectionRadius={24} reconnectRadius={14}
        onNodeContextMenu={(event, node) => openContextMenu(event, workbench, page, node.id, setMenu)}
        onEdgeContextMenu={(event, edge) => openContextMenu(event, workbench, page, `wire:${edge.id}`, setMenu)}
        onPaneContextMenu={(event) => openContextMenu(event as React.MouseEvent, workbench, page, null, setMenu, flow.screenToFlowPosition(pointOf(event as MouseEvent)))}
        onSelectionContextMenu={(event) => openContextMenu(event, workbench, page, "selection", setMenu)}
        onNodeDoubleClick={(_event, node) => openNode(workbench, node)}
        onMoveStart={moving.start} onMoveEnd={moving.end}
        onPaneClick={() => page.select([])}
        minZoom={0.05} maxZoom={3} defaultViewport={page.viewport ?? { x: 40, y: 40, zoom: 1 }} zoomOnDoubleClick={false}
        selectionOnDrag={false} selectionKeyCode="Shift" multiSelectionKeyCode={["Control", "Meta", "Shift"]} deleteKeyCode={null} selectionMode={SelectionMode.Partial}
        panOnScroll={false} snapToGrid={snap} snapGrid={grid} nodeDragThreshold={3} elevateNodesOnSelect={false} disableKeyboardA11y={false}
        ariaLabelConfig={ariaLabels} proOptions={attribution} attributionPosition="top-right" fitView={false}
      >
        {!far && <Background variant={BackgroundVariant.Dots} gap={24} size={1.5} color="var(--w-grid)" />}
        <ConnectionReason connector={connector} />
        <Landscape far={far} />
        <NoBlocks />
      </ReactFlow>
      {menu && <Menu items={menu.items} at={menu.at} label={menu.label} onClose={() => setMenu(null)} />}
    </div>
  );
}

const grid: [number, number] = [8, 8];
const attribution = { hideAttribution: false };
const ariaLabels = {
  "node.a11yDescription.default": t.nodeHelp,
  "node.a11yDescription.keyboardDisabled": t.nodeHelp,
  "edge.a11yDescription.default": t.edgeHelp,
};

/** Marks the canvas while it is moved: what is costly to draw and not read meanwhile is left out then. */
function useMoving(root: React.RefObject<HTMLDivElement | null>, page: PageEditor): { start: () => void; end: () => void } {
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      start: () => {
        clearTimeout(timer);
        page.looks++;
        root.current?.setAttribute("data-moving", "");
      },
      end: () => {
        clearTimeout(timer);
        timer = setTimeout(() => root.current?.removeAttribute("data-moving"), 120);
      },
    };
  }, [root, page]);
}

/** Tells the flow what is in sight; true while the overview is painted instead. */
function useView(root: React.RefObject<HTMLDivElement | null>): boolean {
  const page = usePage();
  const store = useStoreApi();
  const [far, setFar] = useState(() => (page.viewport?.zoom ?? 1) < overviewZoom);
  useEffect(() => {
    let last = "";
    const look = (): void => {
      const { transform: [x, y, zoom], width, height } = store.getState();
      const now = `${x} ${y} ${zoom} ${width} ${height}`;
      if (now === last || !width) return;
      last = now;
      page.viewport = { x, y, zoom };
      const isFar = zoom < overviewZoom;
      setFar(isFar);
      page.flow.show(isFar ? null : { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom });
    };
    look();
    const end = store.subscribe(look);
    return () => {
      end();
      page.flow.show(null);
    };
  }, [page, store, root]);
  return far;
}

function openNode(workbench: ReturnType<typeof useWorkbench>, node: Node): void {
  if (node.type === "block") workbench.set("right", true);
}

/** Says why no block is seen: the page has none, is being read, or could not be read. */
function NoBlocks() {
  const page = usePage();
  const workbench = useWorkbench();
  const loaded = useCell(page.loaded);
  const failure = useCell(page.failure);
  const picture = useCellPart(page.info, ({ path }) => /\.svg$/i.test(path ?? ""));
  useStructure();
  if (page.model.blocks.size > 0) return null;
  return (
    <Panel position="top-center">
      <div className="w-empty-page" role="status">
        <h2>{failure !== null ? t.notRead : loaded ? t.emptyTitle : texts.app.loading}</h2>
        {failure !== null ? <p>{failure} <Button small onClick={() => void workbench.read(page)}>{t.readAgain}</Button></p> : loaded && <p>{picture ? t.emptySvg : t.emptyText}</p>}
      </div>
    </Panel>
  );
}
