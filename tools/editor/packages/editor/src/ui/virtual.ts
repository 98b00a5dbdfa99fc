/** Which rows of a long list are in view. */
import { useCallback, useLayoutEffect, useState, type RefObject } from "react";

/** Rows from `first` up to, not including, `end`. */
export interface Window {
  readonly first: number;
  readonly end: number;
}

/** The window of `count` items of `size` pixels that a view of `extent` pixels shows when scrolled to `offset`. */
export function windowOf(count: number, size: number, offset: number, extent: number, spare = 4): Window {
  const first = Math.max(0, Math.min(count, Math.floor(offset / size) - spare));
  return { first, end: Math.min(count, Math.ceil((offset + extent) / size) + spare) };
}

/** What a scrolled element shows: offset and extent of both axes, renewed when it is scrolled or resized. */
export interface View {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Follows scrolling and size of the element. The view is that of a guess until it is mounted. */
export function useView(ref: RefObject<HTMLElement | null>): View {
  const [view, setView] = useState<View>({ left: 0, top: 0, width: 800, height: 600 });
  const read = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const now = { left: element.scrollLeft, top: element.scrollTop, width: element.clientWidth || 800, height: element.clientHeight || 600 };
    setView((last) => (last.left === now.left && last.top === now.top && last.width === now.width && last.height === now.height ? last : now));
  }, [ref]);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    read();
    element.addEventListener("scroll", read, { passive: true });
    const observer = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(read);
    observer?.observe(element);
    return () => {
      element.removeEventListener("scroll", read);
      observer?.disconnect();
    };
  }, [read, ref]);
  return view;
}

/** Scrolls so that the item at `index` is in view, and no further. */
export function scrollToItem(element: HTMLElement, index: number, size: number, headroom = 0): void {
  const top = index * size;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + size + headroom > element.scrollTop + element.clientHeight) element.scrollTop = top + size + headroom - element.clientHeight;
}
