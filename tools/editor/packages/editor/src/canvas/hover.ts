import { Cell } from "../model/emitter";

/** A port under the pointer, or one that has the focus: what the tip is about. */
export interface Hovered {
  /** "ID.port". */
  name: string;
  side: "in" | "out";
  doc?: string;
  /** In the window. */
  x: number;
  y: number;
}

/** One for all pages: there is one pointer. */
export const hovered = new Cell<Hovered | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows the tip of a port after a moment. */
export function hoverPort(element: Element, port: Omit<Hovered, "x" | "y">): void {
  clearTimeout(timer);
  if (element.closest("[data-wiring]")) return; // the reason of the wire is at the pointer
  timer = setTimeout(() => {
    const box = element.getBoundingClientRect();
    hovered.set({ ...port, x: port.side === "in" ? box.left : box.right, y: box.bottom });
  }, hovered.get() ? 40 : 280);
}

export function leavePort(): void {
  clearTimeout(timer);
  timer = setTimeout(() => hovered.set(null), 120);
}
