import { Cell } from "./emitter";

/** What a user chooses and finds again; kept in this browser, never on the page. */
export interface Settings {
  theme: "system" | "light" | "dark";
  left: boolean;
  right: boolean;
  bottom: boolean;
  leftWidth: number;
  rightWidth: number;
  bottomHeight: number;
  leftTab: string;
  bottomTab: string;
  minimap: boolean;
  valuesOnBlocks: boolean;
  snap: boolean;
  routedWires: boolean;
  tourSeen: boolean;
  bookmarks: Record<string, { name: string; x: number; y: number; zoom: number }[]>;
}

const defaults: Settings = {
  theme: "system", left: true, right: true, bottom: false, leftWidth: 248, rightWidth: 304, bottomHeight: 232, leftTab: "palette",
  bottomTab: "faults", minimap: true, valuesOnBlocks: true, snap: true, routedWires: false, tourSeen: false, bookmarks: {},
};

const key = "weft.editor.settings";

/** The settings, as a cell that stores what is set. */
export function loadSettings(): Cell<Settings> {
  const cell = new Cell<Settings>({ ...defaults, ...read() });
  cell.subscribe(() => write(cell.get()));
  return cell;
}

function read(): Partial<Settings> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Partial<Settings>) : {};
  } catch {
    return {};
  }
}

function write(settings: Settings): void {
  try {
    localStorage.setItem(key, JSON.stringify(settings));
  } catch {
    // no storage: they last as long as the page
  }
}
