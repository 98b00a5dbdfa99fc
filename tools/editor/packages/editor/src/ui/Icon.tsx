/** Line icons of 16 by 16, drawn in the current colour. */
import type { SVGProps } from "react";

const PATHS = {
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.2 3.2L13 5",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  chevronRight: "M6 3.5L10.5 8 6 12.5",
  chevronDown: "M3.5 6L8 10.5 12.5 6",
  chevronLeft: "M10 3.5L5.5 8l4.5 4.5",
  chevronUp: "M3.5 10L8 5.5l4.5 4.5",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3L14 14",
  play: "M4.5 3v10l8.5-5z",
  pause: "M5 3v10M11 3v10",
  stop: "M4 4h8v8H4z",
  step: "M4 3v10l6-5zM12.5 3v10",
  undo: "M3 6.5h6.5a3.5 3.5 0 010 7H6M3 6.5L6 3.5M3 6.5l3 3",
  redo: "M13 6.5H6.5a3.5 3.5 0 000 7H10M13 6.5l-3-3M13 6.5l-3 3",
  save: "M3 3h8l2 2v8H3zM5.5 3v3.5h4V3M5 13V9.5h6V13",
  open: "M2.5 12.5v-9H6L7.5 5h5v2M2.5 12.5l2-5.5h10l-2 5.5z",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.8M9.2 7v3.8",
  edit: "M3 13l.6-2.8L10.8 3 13 5.2 5.8 12.4z",
  copy: "M5.5 5.5h7.5v7.5H5.5zM10.5 5.5V3H3v7.5h2.5",
  reset: "M3.5 8a4.5 4.5 0 104.5-4.5c-1.7 0-3 .8-3.9 2M4 2.5v3h3",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 014.3 4.3L11.2 9M9 11.5l-1.2 1.2a3 3 0 01-4.3-4.3L4.8 7",
  help: "M8 14A6 6 0 108 2a6 6 0 000 12zM6.2 6.3A1.9 1.9 0 118.6 8.1c-.4.2-.6.5-.6 1V9.4M8 11.4v.2",
  info: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.3V11M8 5v.2",
  warning: "M8 2.5L14 13H2zM8 6.5v3M8 11.2v.2",
  error: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 5v3.7M8 10.8v.2",
  download: "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13h10",
  upload: "M8 10.5V3M4.8 6L8 2.8 11.2 6M3 13h10",
  table: "M2.5 3.5h11v9h-11zM2.5 6.5h11M6 3.5v9M2.5 9.5h11",
  image: "M2.5 3h11v10h-11zM2.5 11l3.5-3.5 2.5 2.5 2-2 3 3M10.5 6v.1",
  chart: "M2.5 2.5v11h11M4.5 10.5l2.5-4 2.5 2 3.5-5",
  bars: "M3 13.5V8M6.3 13.5v-9M9.6 13.5V6M13 13.5V10",
  sigma: "M12 4.5V3H4l4.2 5L4 13h8v-1.5",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  pin: "M6 2.5h4l-.5 4L12 9H4l2.5-2.5zM8 9v4.5",
  target: "M8 12.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4v.1M2.5 8v.1M2.5 12v.1",
  tree: "M3 3h4v3H3zM9 10h4v3H9zM9 5.5h4v-3H9zM5 6v5.5h4M7 4h2",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 100-4 2 2 0 000 4z",
  grip: "M6 4v.1M6 8v.1M6 12v.1M10 4v.1M10 8v.1M10 12v.1",
  clear: "M3 12.5h10M5 10l6-6.5 3 3L9.5 11H6z",
  alignLeft: "M2.5 2v12M5 4.5h8v2.5H5zM5 9.5h5V12H5z",
  arrange: "M2.5 3h4v3.5h-4zM9.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM6.5 4.8h3M6.5 4.8c2 0 1 6.4 3 6.4",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.5A5.5 5.5 0 016.5 3 5.5 5.5 0 1013 9.5z",
  bookmark: "M4.5 2.5h7v11L8 10.8l-3.5 2.7z",
  dot: "M8 12a4 4 0 100-8 4 4 0 000 8z",
} as const;

export type IconName = keyof typeof PATHS;

export interface IconProps extends Omit<SVGProps<SVGSVGElement>, "name"> {
  name: IconName;
  /** Edge in pixels; 16 unless given. */
  size?: number;
  /** Filled rather than drawn, as play and stop buttons have it. */
  filled?: boolean;
}

/** A decorative icon; the control around it has the name. */
export function Icon({ name, size = 16, filled, ...rest }: IconProps) {
  return (
    <svg
      width={size} height={size} viewBox="0 0 16 16" fill={filled ? "currentColor" : "none"} stroke="currentColor" strokeWidth={1.5}
      strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false" {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
