/** Buttons. Icons alone have a name for screen readers, which also shows as a tip. */
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./Icon";
import "./ui.css";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** "primary" once in a dialog; "quiet" has no border. */
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  filledIcon?: boolean;
  small?: boolean;
  ref?: Ref<HTMLButtonElement>;
  children?: ReactNode;
}

/** A button with a text, and an icon if given. */
export function Button({ look = "plain", icon, filledIcon, small, className = "", children, type = "button", ...rest }: ButtonProps) {
  return (
    <button type={type} className={`w-button w-button-${look} ${small ? "w-button-small" : ""} ${className}`} {...rest}>
      {icon && <Icon name={icon} filled={filledIcon} size={small ? 14 : 16} />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** Name and tip. */
  label: string;
  /** Shown in the tip after the name, such as "Ctrl+Z". */
  shortcut?: string;
  filledIcon?: boolean;
  small?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A button with an icon alone. `aria-pressed` makes it a toggle. */
export function IconButton({ icon, label, shortcut, filledIcon, small, className = "", type = "button", ...rest }: IconButtonProps) {
  const title = shortcut ? `${label} (${shortcut})` : label;
  return (
    <button
      type={type} className={`w-icon-button ${small ? "w-icon-button-small" : ""} ${className}`} aria-label={label} title={title}
      aria-keyshortcuts={shortcut?.replace("Ctrl", "Control")} {...rest}
    >
      <Icon name={icon} filled={filledIcon} size={small ? 14 : 16} />
    </button>
  );
}
