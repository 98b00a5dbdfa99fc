import type { Viewport } from "../model/pageEditor";

/** Goes to a view of the page; set by the canvas that is mounted. */
let go: (view: Viewport) => void = () => {};

export const goToView = (view: Viewport): void => go(view);

/** For the canvas: how views are shown. */
export function onGoTo(listener: (view: Viewport) => void): void {
  go = listener;
}
