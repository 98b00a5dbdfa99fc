/** A labelled control with help and a fault, connected for screen readers. */
import { useId, type ReactNode } from "react";
import { Icon } from "./Icon";
import "./ui.css";

export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export interface FieldProps {
  label: ReactNode;
  /** One line below the control. */
  help?: ReactNode;
  /** What is wrong; marks the control. */
  fault?: ReactNode;
  /** Put beside the label, such as a reset button. */
  extra?: ReactNode;
  children(ids: FieldIds): ReactNode;
  className?: string;
}

/** Label above, control, help and fault below. The control takes the ids it is given. */
export function Field({ label, help, fault, extra, children, className = "" }: FieldProps) {
  const id = useId();
  const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  return (
    <div className={`w-field ${className}`}>
      <div className="w-field-head">
        <label htmlFor={id}>{label}</label>
        {extra}
      </div>
      {children({ id, "aria-describedby": described, "aria-invalid": fault ? true : undefined })}
      {help && <p id={`${id}-help`} className="w-field-help">{help}</p>}
      {fault && <p id={`${id}-fault`} className="w-field-fault"><Icon name="error" size={14} />{fault}</p>}
    </div>
  );
}
