// What tests of components share: a place to mount them, keys, and texts typed into fields.
import { act, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach } from "vitest";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let root: Root | undefined;
afterEach(() => {
  act(() => root?.unmount());
  document.body.replaceChildren();
});

/** Shows the content in the document until the test ends; gives what it stands in. */
export function mount(content: ReactNode): HTMLElement {
  const host = document.body.appendChild(document.createElement("div"));
  root = createRoot(host);
  act(() => root!.render(content));
  return host;
}

/** Shows other content in the place of what was mounted last. */
export async function show(content: ReactNode): Promise<void> {
  await act(async () => { root!.render(content); await Promise.resolve(); });
}

export function press(element: Element | null, key: string, init: KeyboardEventInit = {}): void {
  act(() => { element!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init })); });
}

/** Gives a field a value as typing or choosing does. */
export function typeInto(input: HTMLInputElement, value: string): void {
  act(() => {
    const kind = input instanceof HTMLSelectElement ? HTMLSelectElement : input instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(kind.prototype, "value")!.set!.call(input, value);
    input.dispatchEvent(new Event(input instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
  });
}
