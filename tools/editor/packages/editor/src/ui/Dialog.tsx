/** Dialogs: the browser's own modal element, which traps focus, closes on Escape and returns focus to where it was. */
import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./Button";
import { uiTexts } from "./texts";
import "./ui.css";

export interface DialogProps {
  title: string;
  /** Called for Escape, the close button and a click beside the dialog. */
  onClose(): void;
  children: ReactNode;
  /** Buttons at the end. The first in the order of the page is the one on the left. */
  footer?: ReactNode;
  width?: "s" | "m" | "l";
  /** Called when the form is submitted by Enter; its default is prevented. */
  onSubmit?(): void;
  /** False keeps a click beside the dialog from closing it, where input would be lost. */
  closeOnBackdrop?: boolean;
}

/** A modal dialog; mounted means open. Focus goes to the first element with `data-autofocus`, else to the first control. */
export function Dialog({ title, onClose, children, footer, width = "m", onSubmit, closeOnBackdrop = true }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const before = document.activeElement as HTMLElement | null;
    if (element.showModal && !element.open) element.showModal();
    else element.setAttribute("open", "");
    (element.querySelector<HTMLElement>("[data-autofocus]") ?? element.querySelector<HTMLElement>(".w-dialog-body :is(input,select,textarea,button)"))?.focus();
    return () => {
      element.close?.();
      before?.focus?.({ preventScroll: true });
    };
  }, []);
  const content = (
    <>
      <header className="w-dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={uiTexts.close} onClick={onClose} />
      </header>
      <div className="w-dialog-body">{children}</div>
      {footer && <footer className="w-dialog-foot">{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={dialog} className={`w-dialog w-dialog-${width}`} aria-labelledby={id}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onPointerDown={(event) => { if (closeOnBackdrop && event.target === dialog.current) onClose(); }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {onSubmit
        ? <form className="w-dialog-form" onSubmit={(event) => { event.preventDefault(); onSubmit(); }}>{content}</form>
        : <div className="w-dialog-form">{content}</div>}
    </dialog>
  );
}
