/** Short messages at the edge of the editor, and announcements that only screen readers hear. */
import { useSyncExternalStore, type ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { IconButton } from "./Button";
import { uiTexts } from "./texts";
import "./ui.css";

export type ToastKind = "info" | "ok" | "warning" | "error";

export interface Toast {
  readonly id: number;
  readonly kind: ToastKind;
  readonly text: ReactNode;
  readonly action?: { label: string; onSelect(): void };
}

/** Messages of one editor. Errors stay until they are dismissed, others go by themselves unless they are to stay. */
export class Notifications {
  private list: readonly Toast[] = [];
  private said = "";
  private readonly listeners = new Set<() => void>();
  private next = 1;

  /** Shows a message, also to screen readers, once where it is shown already. The answer dismisses it. */
  show(kind: ToastKind, text: ReactNode, action?: Toast["action"], stays = kind === "error"): () => void {
    const id = this.next++;
    const others = this.list.filter((toast) => toast.kind !== kind || toast.text !== text);
    this.list = [...others.slice(-4), { id, kind, text, action }];
    this.changed();
    const dismiss = () => this.dismiss(id);
    if (!stays) setTimeout(dismiss, action ? 10_000 : 5_000);
    return dismiss;
  }

  /** Has screen readers say the text, and shows nothing. The same text twice is said twice. */
  announce(text: string): void {
    this.said = text === this.said ? `${text}\u00a0` : text;
    this.changed();
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
    this.changed();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly toasts = (): readonly Toast[] => this.list;
  readonly announced = (): string => this.said;

  private changed(): void {
    this.listeners.forEach((listener) => listener());
  }
}

const ICONS: Record<ToastKind, IconName> = { info: "info", ok: "check", warning: "warning", error: "error" };

/** Where messages appear; mounted once in an editor. */
export function ToastArea({ notifications }: { notifications: Notifications }) {
  const toasts = useSyncExternalStore(notifications.subscribe, notifications.toasts);
  const said = useSyncExternalStore(notifications.subscribe, notifications.announced);
  return (
    <>
      <div className="w-visually-hidden" aria-live="polite" role="status">{said}</div>
      <div className="w-toasts" role="region" aria-label={uiTexts.notifications} aria-live="polite" aria-relevant="additions">
        {toasts.map((toast) => (
          <div key={toast.id} className={`w-toast w-toast-${toast.kind}`} role={toast.kind === "error" ? "alert" : undefined}>
            <Icon name={ICONS[toast.kind]} />
            <span className="w-toast-text">{toast.text}</span>
            {toast.action && (
              <button type="button" className="w-link" onClick={() => { toast.action?.onSelect(); notifications.dismiss(toast.id); }}>
                {toast.action.label}
              </button>
            )}
            <IconButton small icon="close" label={uiTexts.dismiss} onClick={() => notifications.dismiss(toast.id)} />
          </div>
        ))}
      </div>
    </>
  );
}
