/** Bends of wires as arranging left them, kept under the page's key "bends", by the input that a wire leads to. */
import type { Point } from "@weft/client";

export type Bends = Readonly<Record<string, readonly Point[]>>;

const none: Bends = {};

/** The bends of a page; what is not a list of points is left out (and stays on the page). */
export function bendsOf(keys: Readonly<Record<string, unknown>>): Bends {
  const kept = keys["bends"];
  return typeof kept === "object" && kept !== null && !Array.isArray(kept) ? (kept as Bends) : none;
}

interface At {
  x: number;
  y: number;
}

/** Ports of mounted blocks are where the browser measured them, a pixel beside where they were computed; and snapping moves blocks a little. */
const SLACK = 4;

/** Whether the bends still lead from one port to the other: neither block was moved since, which would make slanting lines. */
function fits(bends: readonly Point[] | undefined, source: At, target: At): bends is readonly Point[] {
  if (!Array.isArray(bends) || bends.length === 0 || !bends.every((bend) => Array.isArray(bend) && bend.length === 2)) return false;
  return Math.abs(bends[0]![1] - source.y) <= SLACK && Math.abs(bends.at(-1)![1] - target.y) <= SLACK && bends[0]![0] >= source.x - 2 * SLACK && bends.at(-1)![0] <= target.x + 2 * SLACK;
}

/**
 * The path of a wire along its bends with rounded corners, and a place for its label; undefined where the bends do not fit any more.
 */
export function bentPath(bends: readonly Point[] | undefined, source: At, target: At, radius = 6): [path: string, x: number, y: number] | undefined {
  if (!fits(bends, source, target)) return undefined;
  const inner = bends.map(([x, y]) => ({ x, y }));
  inner[0]!.y = source.y;
  inner.at(-1)!.y = target.y;
  const points = [source, ...inner, target];
  let path = `M${source.x},${source.y}`;
  for (let i = 1; i < points.length - 1; ++i) path += corner(points[i - 1]!, points[i]!, points[i + 1]!, radius);
  const longest = points.slice(1).reduce((best, point, i) => (length(points[i]!, point) > length(points[best]!, points[best + 1]!) ? i : best), 0);
  const [a, b] = [points[longest]!, points[longest + 1]!];
  return [`${path}L${target.x},${target.y}`, (a.x + b.x) / 2, (a.y + b.y) / 2];
}

const length = (a: At, b: At): number => Math.hypot(a.x - b.x, a.y - b.y);

function corner(before: At, at: At, after: At, radius: number): string {
  const cut = Math.min(radius, length(before, at) / 2, length(at, after) / 2);
  if (cut === 0) return `L${at.x},${at.y}`;
  const toward = (to: At): string => {
    const share = cut / length(at, to);
    return `${at.x + (to.x - at.x) * share},${at.y + (to.y - at.y) * share}`;
  };
  return `L${toward(before)}Q${at.x},${at.y} ${toward(after)}`;
}
