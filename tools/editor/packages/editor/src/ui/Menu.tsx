/** Menus: opened by a button or at a point, driven by arrow keys and first letters. */
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";
import "./ui.css";

export type MenuItem =
  | "separator"
  | {
      label: string;
      icon?: IconName;
      /** Shown on the right, such as "Ctrl+C". */
      shortcut?: string;
      disabled?: boolean;
      /** Makes it a checked or unchecked item. */
      checked?: boolean;
      danger?: boolean;
      /** Why it is disabled, or what it does. */
      hint?: string;
      onSelect(): void;
    };

export interface MenuProps {
  items: readonly MenuItem[];
  /** Name for screen readers. */
  label: string;
  /** Upper left corner in the window; moved where it would not fit. */
  at: { x: number; y: number };
  onClose(): void;
}

function placed(element: HTMLElement, at: { x: number; y: number }): { left: number; top: number } {
  const { offsetWidth: width, offsetHeight: height } = element;
  return {
    left: Math.max(4, Math.min(at.x, window.innerWidth - width - 4)),
    top: Math.max(4, at.y + height > window.innerHeight - 4 ? window.innerHeight - height - 4 : at.y),
  };
}

/** The element that floating parts are mounted in: the editor's root, so that they have its theme and colours. */
export function layerOf(from: Element | null): HTMLElement {
  return from?.closest<HTMLElement>("dialog") ?? from?.closest<HTMLElement>(".weft") ?? document.querySelector<HTMLElement>(".weft") ?? document.body;
}

/** A menu at a point, such as a context menu; mounted means open. Focus returns to where it was. */
export function Menu({ items, label, at, onClose }: MenuProps) {
  const list = useRef<HTMLDivElement>(null);
  const [before] = useState(() => document.activeElement as HTMLElement | null);
  const [place, setPlace] = useState({ left: at.x, top: at.y });
  const close = useRef(onClose);
  close.current = onClose;

  useLayoutEffect(() => { if (list.current) setPlace(placed(list.current, at)); }, [at.x, at.y]);
  useEffect(() => {
    focusItem(list.current, 0);
    const outside = (event: PointerEvent) => { if (!list.current?.contains(event.target as Node)) close.current(); };
    const blurred = () => close.current();
    document.addEventListener("pointerdown", outside, true);
    window.addEventListener("blur", blurred);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      window.removeEventListener("blur", blurred);
      // what an item has focused keeps the focus
      if (document.activeElement === document.body) before?.focus?.();
    };
  }, []);

  return createPortal(
    <div
      ref={list} role="menu" aria-label={label} className="w-menu" style={place}
      onKeyDown={(event) => menuKey(event, list.current, onClose)} onContextMenu={(event) => event.preventDefault()}
    >
      {items.map((item, index) => <Item key={index} item={item} onClose={onClose} />)}
    </div>,
    layerOf(before),
  );
}

function Item({ item, onClose }: { item: MenuItem; onClose(): void }) {
  if (item === "separator") return <div role="separator" className="w-menu-separator" />;
  const role = item.checked === undefined ? "menuitem" : "menuitemcheckbox";
  const icon = item.checked === undefined ? item.icon : item.checked ? "check" : undefined;
  return (
    <button
      type="button" role={role} aria-checked={item.checked} aria-disabled={item.disabled} tabIndex={-1} title={item.hint}
      className={`w-menu-item ${item.danger ? "w-menu-danger" : ""}`}
      onPointerEnter={(event) => event.currentTarget.focus({ preventScroll: true })}
      onClick={() => { if (!item.disabled) { onClose(); item.onSelect(); } }}
    >
      <span className="w-menu-icon">{icon && <Icon name={icon} size={14} />}</span>
      <span className="w-menu-label">{item.label}</span>
      {item.shortcut && <kbd>{item.shortcut}</kbd>}
    </button>
  );
}

function itemsOf(list: HTMLElement | null): HTMLElement[] {
  return list ? [...list.querySelectorAll<HTMLElement>('[role^="menuitem"]')] : [];
}

function focusItem(list: HTMLElement | null, index: number): void {
  const items = itemsOf(list);
  items[(index + items.length) % items.length]?.focus({ preventScroll: false });
}

function menuKey(event: KeyboardEvent, list: HTMLElement | null, onClose: () => void): void {
  const items = itemsOf(list);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 };
  event.stopPropagation();
  if (event.key in moves) focusItem(list, moves[event.key]!);
  else if (event.key === "Escape" || event.key === "Tab") onClose();
  else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) {
    const letter = event.key.toLowerCase();
    const next = [...items.slice(at + 1), ...items].find((item) => item.querySelector(".w-menu-label")?.textContent?.toLowerCase().startsWith(letter));
    next?.focus();
  } else return;
  event.preventDefault();
}

export interface MenuButtonProps {
  label: string;
  items: readonly MenuItem[] | (() => readonly MenuItem[]);
  icon?: IconName;
  /** Shown beside the icon; the label alone where it is left out and there is no icon. */
  children?: ReactNode;
  disabled?: boolean;
  small?: boolean;
  className?: string;
}

/** A button that opens a menu below itself. */
export function MenuButton({ label, items, icon, children, disabled, small, className = "" }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const open = () => {
    const box = button.current?.getBoundingClientRect();
    if (box) setAt({ x: box.left, y: box.bottom + 4 });
  };
  return (
    <>
      <Button
        ref={button} look="quiet" icon={icon} small={small} disabled={disabled} aria-haspopup="menu" aria-expanded={at !== null}
        aria-label={label} title={label} className={`${icon && !children ? "w-icon-button" : ""} ${className}`}
        onClick={() => (at ? setAt(null) : open())}
        onKeyDown={(event) => { if (event.key === "ArrowDown") { event.preventDefault(); open(); } }}
      >
        {children ?? (icon ? null : label)}
      </Button>
      {at && <Menu label={label} at={at} items={typeof items === "function" ? items() : items} onClose={() => setAt(null)} />}
    </>
  );
}
