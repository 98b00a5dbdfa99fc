const each = 20;
const longest = 1000;

/**
 * Focuses what is on the screen or about to be: the first of several selectors that finds something. Where it is not there yet, a key or a press
 * by then means that the user has gone elsewhere, and the focus stays.
 */
export function focusSoon(selector: string): void {
  const left = new AbortController();
  const end = Date.now() + longest;
  const look = (): void => {
    if (left.signal.aborted) return;
    if (focusFirst(selector) || Date.now() > end) left.abort();
    else setTimeout(look, each);
  };
  for (const type of ["keydown", "pointerdown"]) window.addEventListener(type, () => left.abort(), { capture: true, signal: left.signal });
  look();
}

/** False while there is nothing that takes the focus, as below a dialog that is about to close. */
function focusFirst(selector: string): boolean {
  const element = selector.split(", ").map((one) => document.querySelector<HTMLElement>(`.weft ${one}`)).find(Boolean);
  element?.focus();
  if (!element || document.activeElement !== element) return false;
  if (element instanceof HTMLInputElement) element.select();
  return true;
}

/** Focuses a node of the canvas, so that keys are for it; not where something is written elsewhere. */
export function focusNode(id: string): void {
  const now = document.activeElement;
  if (!now || now === document.body || now.closest(".w-canvas, .w-quick")) focusSoon(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
}
