/** Text that is being typed, apart from the value that stands until it is committed. */
import { useState, type KeyboardEvent } from "react";

export interface Draft {
  text: string;
  changed: boolean;
  setText(text: string): void;
  /** Hands the text over where it was changed. */
  commit(): void;
  revert(): void;
  /** Enter commits (with Ctrl where lines are many), Escape reverts. */
  onKeyDown(event: KeyboardEvent): void;
}

/** Begins with `value`, and again whenever it becomes another. */
export function useDraft(value: string, onCommit: (text: string) => void, lines = false): Draft {
  const [state, setState] = useState({ base: value, text: value });
  if (state.base !== value) setState({ base: value, text: value });
  const current = state.base === value ? state.text : value;
  const draft: Draft = {
    text: current,
    changed: current !== value,
    setText: (text) => setState({ base: value, text }),
    commit: () => { if (current !== value) onCommit(current); },
    revert: () => setState({ base: value, text: value }),
    onKeyDown: (event) => {
      if (event.key === "Enter" && (!lines || event.ctrlKey || event.metaKey)) draft.commit();
      else if (event.key === "Escape" && draft.changed) draft.revert();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return draft;
}
