/** Pages as graphs for elk, and what elk makes of them as places and bends. */
import type { ElkExtendedEdge, ElkNode, ElkPort } from "elkjs/lib/elk-api";
import type { PlacedBox } from "./align";

/** A port and its distance from the block's upper edge. */
export interface ArrangePort {
  readonly port: string;
  readonly y: number;
}

/** A block to be placed. */
export interface ArrangeBlock extends PlacedBox {
  readonly inputs: readonly ArrangePort[];
  readonly outputs: readonly ArrangePort[];
}

/** A wire between two blocks; `id` is any that tells wires apart. */
export interface ArrangeWire {
  readonly id: string;
  readonly from: string;
  readonly fromPort: string;
  readonly to: string;
  readonly toPort: string;
}

export interface ArrangeOptions {
  /** Distance of neighbours in a column, and of columns. */
  readonly rowGap?: number;
  readonly columnGap?: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where blocks go, and where wires bend between their ports; whole pixels. */
export interface Arrangement {
  readonly places: Map<string, Point>;
  readonly bends: Map<string, Point[]>;
}

/** Beyond this elk is told to take less care. */
const LARGE = 800;

function layoutOptions(count: number, options: ArrangeOptions): Record<string, string> {
  return {
    "elk.algorithm": "layered",
    "elk.direction": "RIGHT",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.spacing.nodeNode": String(options.rowGap ?? 32),
    "elk.spacing.edgeNode": "16",
    "elk.spacing.edgeEdge": "10",
    "elk.spacing.componentComponent": "56",
    "elk.layered.spacing.nodeNodeBetweenLayers": String(options.columnGap ?? 72),
    "elk.layered.spacing.edgeNodeBetweenLayers": "16",
    "elk.layered.spacing.edgeEdgeBetweenLayers": "10",
    "elk.layered.considerModelOrder.strategy": "PREFER_EDGES",
    "elk.layered.thoroughness": count > LARGE ? "2" : "7",
    ...(count > LARGE ? { "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF", "elk.layered.nodePlacement.favorStraightEdges": "false" } : {}),
  };
}

const inputId = (block: string, port: string) => `i ${block} ${port}`;
const outputId = (block: string, port: string) => `o ${block} ${port}`;

/**
 * The graph of the blocks, with ports that stay where they are. Wires to other blocks are left out; those of ports that blocks do not show
 * (operations) are the block's.
 */
export function toElk(blocks: readonly ArrangeBlock[], wires: readonly ArrangeWire[], options: ArrangeOptions = {}): ElkNode {
  const ports = new Set<string>();
  const children = blocks.map((block): ElkNode => {
    const port = (id: string, x: number, y: number, side: string): ElkPort => {
      ports.add(id);
      return { id, x, y, width: 0, height: 0, layoutOptions: { "elk.port.side": side } };
    };
    return {
      id: block.id, width: block.width, height: block.height,
      ports: [
        ...block.inputs.map((each) => port(inputId(block.id, each.port), 0, each.y, "WEST")),
        ...block.outputs.map((each) => port(outputId(block.id, each.port), block.width, each.y, "EAST")),
      ],
      layoutOptions: { "elk.portConstraints": "FIXED_POS" },
    };
  });
  const known = new Set(blocks.map((block) => block.id));
  const end = (port: string, block: string) => [ports.has(port) ? port : block];
  const edges: ElkExtendedEdge[] = wires
    .filter((wire) => known.has(wire.from) && known.has(wire.to))
    .map((wire) => ({ id: wire.id, sources: end(outputId(wire.from, wire.fromPort), wire.from), targets: end(inputId(wire.to, wire.toPort), wire.to) }));
  return { id: "page", layoutOptions: layoutOptions(blocks.length, options), children, edges };
}

/** Places and bends, moved so that the upper left corner of all blocks is where it was. */
export function fromElk(graph: ElkNode, blocks: readonly ArrangeBlock[]): Arrangement {
  const children = graph.children ?? [];
  const least = (values: number[]) => (values.length > 0 ? Math.min(...values) : 0);
  const shift = {
    x: least(blocks.map((block) => block.x)) - least(children.map((child) => child.x ?? 0)),
    y: least(blocks.map((block) => block.y)) - least(children.map((child) => child.y ?? 0)),
  };
  const moved = (point: Point): Point => ({ x: Math.round(point.x + shift.x), y: Math.round(point.y + shift.y) });
  return {
    places: new Map(children.map((child) => [child.id, moved({ x: child.x ?? 0, y: child.y ?? 0 })])),
    bends: new Map((graph.edges ?? []).map((edge) => [edge.id, (edge.sections ?? []).flatMap((section) => section.bendPoints ?? []).map(moved)])),
  };
}
