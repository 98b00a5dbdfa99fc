/** Dragging out of a list by a finger: browsers drag by the mouse alone. A short hold lifts an item, or a pull to the side; else the list scrolls. */
import { useEffect, useRef, type RefObject } from "react";

export interface TouchDrag {
  /** What is dragged, where the finger touches something that can be; it is written beside the finger. */
  pick(element: Element): string | undefined;
  /** An item was lifted. */
  lifted?(): void;
  /** It was dropped at a place of the window. */
  dropped(what: string, at: { x: number; y: number }): void;
}

const holdTime = 280;
const slack = 10;

/** A finger on the list, and what it holds once it has lifted it. */
interface Finger {
  what: string;
  x: number;
  y: number;
  timer: ReturnType<typeof setTimeout>;
  ghost: HTMLElement | null;
}

/** `there`: the list is mounted. */
export function useTouchDrag(list: RefObject<HTMLElement | null>, there: boolean, drag: TouchDrag): void {
  const now = useRef(drag);
  now.current = drag;
  useEffect(() => {
    const element = list.current;
    return there && element ? follow(element, () => now.current) : undefined;
  }, [list, there]);
}

/** Touches are followed where they began, even when the list is covered or gone. */
function follow(list: HTMLElement, drag: () => TouchDrag): () => void {
  let finger: Finger | null = null;
  const end = (): void => {
    clearTimeout(finger?.timer);
    finger?.ghost?.remove();
    finger = null;
  };
  const lift = (): void => {
    if (!finger) return;
    clearTimeout(finger.timer);
    finger.ghost = makeGhost(finger.what, list);
    place(finger.ghost, finger.x, finger.y);
    drag().lifted?.();
  };
  const start = (event: TouchEvent): void => {
    end();
    const touch = event.touches[0];
    const what = event.touches.length === 1 && event.target instanceof Element ? drag().pick(event.target) : undefined;
    if (touch && what) finger = { what, x: touch.clientX, y: touch.clientY, timer: setTimeout(lift, holdTime), ghost: null };
  };
  const move = (event: TouchEvent): void => {
    const touch = event.touches[0];
    if (!finger || !touch) return;
    const [dx, dy] = [Math.abs(touch.clientX - finger.x), Math.abs(touch.clientY - finger.y)];
    if (!finger.ghost && dx > slack && dx > 2 * dy) lift();
    else if (!finger.ghost && Math.max(dx, dy) > slack) return end();
    if (!finger.ghost) return;
    event.preventDefault(); // the list stays where it is
    Object.assign(finger, { x: touch.clientX, y: touch.clientY });
    place(finger.ghost, finger.x, finger.y);
  };
  const drop = (event: TouchEvent): void => {
    const held = finger;
    end();
    if (!held?.ghost) return;
    event.preventDefault(); // no click follows
    drag().dropped(held.what, { x: held.x, y: held.y });
  };
  // a long touch gets no menu and no drag of the browser's, which would take the finger away
  const held = (event: Event): void => void (finger && event.preventDefault());
  const ends = [
    on(list, "touchstart", start), on(list, "touchmove", move), on(list, "touchend", drop), on(list, "touchcancel", end), on(list, "contextmenu", held), on(list, "dragstart", held),
  ];
  return () => {
    end();
    for (const off of ends) off();
  };
}

function on<Kind extends keyof HTMLElementEventMap>(element: HTMLElement, kind: Kind, listener: (event: HTMLElementEventMap[Kind]) => void): () => void {
  element.addEventListener(kind, listener, { passive: kind === "touchstart" });
  return () => element.removeEventListener(kind, listener);
}

function makeGhost(what: string, list: HTMLElement): HTMLElement {
  const ghost = document.createElement("div");
  ghost.className = "w-drag-ghost";
  ghost.textContent = what;
  ghost.setAttribute("aria-hidden", "true");
  (list.closest(".weft") ?? document.body).append(ghost);
  return ghost;
}

/** Above the finger, which would hide it. */
function place(ghost: HTMLElement, x: number, y: number): void {
  ghost.style.transform = `translate(${x}px, ${y}px) translate(-50%, -160%)`;
}
