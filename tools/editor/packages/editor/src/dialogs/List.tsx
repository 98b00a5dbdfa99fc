import { useEffect, useState, type ReactNode } from "react";
import { Dialog } from "../ui";
import { texts } from "../texts";

export interface Choice {
  key: string;
  label: ReactNode;
  detail?: ReactNode;
  disabled?: boolean;
}

export interface ChoiceDialogProps {
  title: string;
  placeholder: string;
  /** What matches a query. */
  find: (query: string) => Choice[];
  onChoose: (key: string) => void;
  onClose: () => void;
  /** Above the list. */
  children?: ReactNode;
  empty?: string;
}

/** A field and a list below it that what is typed narrows; arrow keys choose, Enter takes. */
export function ChoiceDialog({ title, placeholder, find, onChoose, onClose, children, empty }: ChoiceDialogProps) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = find(query).slice(0, 200);
  useEffect(() => setAt(0), [query]);
  useEffect(() => {
    document.getElementById(`w-choice-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const take = (choice: Choice | undefined): void => {
    if (choice && !choice.disabled) onChoose(choice.key);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <input
        type="search" className="w-input" data-autofocus role="combobox" aria-expanded aria-controls="w-choices" aria-activedescendant={found[at] ? `w-choice-${at}` : undefined}
        placeholder={placeholder} aria-label={placeholder} value={query} onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt((now) => Math.min(now + 1, found.length - 1));
          else if (event.key === "ArrowUp") setAt((now) => Math.max(now - 1, 0));
          else if (event.key === "Enter") take(found[at]);
          else return;
          event.preventDefault();
        }}
      />
      {children}
      <div id="w-choices" role="listbox" aria-label={title} className="w-choices">
        {found.map((choice, k) => (
          <div
            key={choice.key} id={`w-choice-${k}`} role="option" aria-selected={k === at} aria-disabled={choice.disabled} className="w-choice"
            onPointerMove={() => setAt(k)} onClick={() => take(choice)}
          >
            <span className="w-choice-label">{choice.label}</span>
            {choice.detail && <span className="w-choice-detail">{choice.detail}</span>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p role="status" className="w-hint w-no-choices">{empty ?? texts.dialogs.noMatch}</p>}
    </Dialog>
  );
}
