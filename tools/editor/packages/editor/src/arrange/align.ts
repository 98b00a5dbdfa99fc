/** Aligning and distributing of blocks: pure arithmetic on boxes. */

export interface PlacedBox {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type Alignment = "left" | "center" | "right" | "top" | "middle" | "bottom";

/** New upper left corners, of those that move alone. */
export type Moves = Map<string, { x: number; y: number }>;

function moves(boxes: readonly PlacedBox[], place: (box: PlacedBox, index: number) => { x: number; y: number }): Moves {
  const result: Moves = new Map();
  boxes.forEach((box, i) => {
    const to = place(box, i);
    const rounded = { x: Math.round(to.x), y: Math.round(to.y) };
    if (rounded.x !== box.x || rounded.y !== box.y) result.set(box.id, rounded);
  });
  return result;
}

/** Brings edges or centres of the boxes onto one line: that of the box round all, or its middle. */
export function alignBoxes(boxes: readonly PlacedBox[], alignment: Alignment): Moves {
  if (boxes.length < 2) return new Map();
  const left = Math.min(...boxes.map((box) => box.x)), right = Math.max(...boxes.map((box) => box.x + box.width));
  const top = Math.min(...boxes.map((box) => box.y)), bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return moves(boxes, (box) => {
    switch (alignment) {
      case "left": return { x: left, y: box.y };
      case "center": return { x: (left + right - box.width) / 2, y: box.y };
      case "right": return { x: right - box.width, y: box.y };
      case "top": return { x: box.x, y: top };
      case "middle": return { x: box.x, y: (top + bottom - box.height) / 2 };
      case "bottom": return { x: box.x, y: bottom - box.height };
    }
  });
}

/** Makes the gaps between neighbours equal; the outermost stay. Where they do not fit, they are put side by side with `gap` between. */
export function distributeBoxes(boxes: readonly PlacedBox[], direction: "horizontal" | "vertical", gap = 16): Moves {
  if (boxes.length < 3) return new Map();
  const across = direction === "horizontal";
  const start = (box: PlacedBox) => (across ? box.x : box.y), size = (box: PlacedBox) => (across ? box.width : box.height);
  const sorted = [...boxes].sort((a, b) => start(a) + size(a) / 2 - start(b) - size(b) / 2);
  const first = sorted[0]!, last = sorted.at(-1)!;
  const room = start(last) + size(last) - start(first) - sorted.reduce((sum, box) => sum + size(box), 0);
  const between = room < 0 ? gap : room / (sorted.length - 1);
  let at = start(first);
  return moves(sorted, (box) => {
    const place = at;
    at += size(box) + between;
    return across ? { x: place, y: box.y } : { x: box.x, y: place };
  });
}
