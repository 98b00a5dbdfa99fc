/** Tabs with one panel each; arrow keys move, as the ARIA pattern has it. */
import { useId, type KeyboardEvent, type ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { IconButton } from "./Button";
import "./ui.css";

export interface Tab {
  id: string;
  label: string;
  icon?: IconName;
  /** A number or a word after the label, such as how many faults there are. */
  badge?: ReactNode;
  badgeKind?: "error" | "warning" | "plain";
  /** Marks what is not saved. */
  dirty?: boolean;
  title?: string;
}

export interface TabsProps {
  tabs: readonly Tab[];
  selected: string;
  onSelect(id: string): void;
  label: string;
  /** The selected tab's content. */
  children?: ReactNode;
  /** Gives tabs a close button; also Delete on the tab. */
  onClose?(id: string): void;
  closeLabel?(tab: Tab): string;
  /** Put at the end of the line of tabs. */
  extra?: ReactNode;
  className?: string;
}

/** A line of tabs and the panel of the selected one. */
export function Tabs({ tabs, selected, onSelect, label, children, onClose, closeLabel, extra, className = "" }: TabsProps) {
  const base = useId();
  const key = (event: KeyboardEvent, index: number) => {
    const to: Record<string, number> = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 };
    const closes = event.key === "Delete" && onClose;
    if (!closes && !(event.key in to)) return;
    event.preventDefault();
    event.stopPropagation();
    if (closes) return onClose(tabs[index]!.id);
    const next = tabs[(to[event.key]! + tabs.length) % tabs.length]!;
    onSelect(next.id);
    document.getElementById(`${base}-tab-${next.id}`)?.focus();
  };
  return (
    <div className={`w-tabs ${className}`}>
      <div className="w-tabs-line">
        <div role="tablist" aria-label={label} className="w-tabs-list">
          {tabs.map((tab, index) => (
            <span key={tab.id} role="presentation" className="w-tab-holder" data-selected={tab.id === selected || undefined}>
              <button
                type="button" role="tab" id={`${base}-tab-${tab.id}`} aria-selected={tab.id === selected} aria-controls={children === undefined ? undefined : `${base}-panel`}
                tabIndex={tab.id === selected ? 0 : -1} className="w-tab" title={tab.title}
                onClick={() => onSelect(tab.id)} onKeyDown={(event) => key(event, index)}
                onAuxClick={(event) => { if (event.button === 1) onClose?.(tab.id); }}
              >
                {tab.icon && <Icon name={tab.icon} size={14} />}
                {tab.label}
                {tab.dirty && <span className="w-tab-dirty" aria-hidden="true" />}
                {tab.badge !== undefined && <span className={`w-badge w-badge-${tab.badgeKind ?? "plain"}`}>{tab.badge}</span>}
              </button>
              {onClose && <IconButton small icon="close" tabIndex={-1} label={closeLabel?.(tab) ?? tab.label} onClick={() => onClose(tab.id)} />}
            </span>
          ))}
        </div>
        {extra && <div className="w-tabs-extra">{extra}</div>}
      </div>
      {children !== undefined && (
        <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-tab-${selected}`} className="w-tabpanel">{children}</div>
      )}
    </div>
  );
}
