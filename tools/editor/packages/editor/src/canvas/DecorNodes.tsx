import { NodeResizer, type NodeProps } from "@xyflow/react";
import { memo, useEffect, useRef, useState, type CSSProperties } from "react";
import { colorValue, type Frame, type Note } from "../model/decor";
import { focusNode } from "../actions/focus";
import { useCellPart, usePage } from "../model/react";
import { setFrame, setNote } from "../actions/decor";
import { texts } from "../texts";

const t = texts.canvas;

/** A frame round its members; moved by its title. */
export const FrameNode = memo(function FrameNode({ data, selected }: NodeProps) {
  const page = usePage();
  const frame = data["frame"] as Frame;
  return (
    <section className={`w-frame ${selected ? "w-frame-selected" : ""}`} style={{ "--frame": colorValue(frame.color) ?? "var(--w-color-grey)" } as CSSProperties} aria-label={frame.title}>
      <EditableText
        id={`frame:${frame.id}`} className="w-frame-title" value={frame.title} label={t.frameTitle} placeholder={t.frameTitle}
        onChange={(title) => void setFrame(page, frame.id, { title })}
      />
    </section>
  );
});

/** A text on the page. */
export const NoteNode = memo(function NoteNode({ data, selected }: NodeProps) {
  const page = usePage();
  const note = data["note"] as Note;
  return (
    <div className={`w-note ${selected ? "w-note-selected" : ""}`} style={{ "--frame": colorValue(note.color) ?? "var(--w-color-amber)" } as CSSProperties}>
      <NodeResizer
        isVisible={Boolean(selected)} minWidth={80} minHeight={40} lineClassName="w-note-line" handleClassName="w-note-handle"
        onResizeEnd={(_event, { x, y, width, height }) => void setNote(page, note.id, { at: [Math.round(x), Math.round(y)], size: [Math.round(width), Math.round(height)] })}
      />
      <EditableText
        id={`note:${note.id}`} className="w-note-text" value={note.text} label={t.noteText} placeholder={t.noteText} multiline
        onChange={(text) => void setNote(page, note.id, { text })}
      />
    </div>
  );
});

interface EditableTextProps {
  /** Of the node that it is on. */
  id: string;
  value: string;
  label: string;
  placeholder: string;
  className: string;
  multiline?: boolean;
  onChange: (text: string) => void;
}

/** A text that becomes a field when it is double clicked, or F2 is pressed on it. */
function EditableText({ id, value, label, placeholder, className, multiline, onChange }: EditableTextProps) {
  const page = usePage();
  const asked = useCellPart(page.writing, (wanted) => wanted === id);
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => {
    if (!asked) return;
    page.writing.set(null);
    setDraft(value);
  }, [asked, page, value]);
  const byKey = useRef(false);
  useEffect(() => {
    if (draft === null && byKey.current) focusNode(id);
    byKey.current = false;
  }, [draft, id]);
  if (draft === null) {
    return (
      <div className={className} onDoubleClick={(event) => { event.stopPropagation(); setDraft(value); }} title={t.doubleClickToEdit}>
        {value || <span className="w-hint">{placeholder}</span>}
      </div>
    );
  }
  const done = (): void => {
    if (draft !== value) onChange(draft);
    setDraft(null);
  };
  const shared = {
    className: `${className} w-edit nodrag nopan`, value: draft, "aria-label": label, placeholder, autoFocus: true, onBlur: done,
    onKeyDown: (event: React.KeyboardEvent) => {
      event.stopPropagation();
      const taken = event.key === "Enter" && !(multiline && event.shiftKey);
      byKey.current = taken || event.key === "Escape";
      if (event.key === "Escape") setDraft(null);
      if (taken) done();
    },
  };
  return multiline
    ? <textarea {...shared} onChange={(event) => setDraft(event.target.value)} />
    : <input {...shared} onChange={(event) => setDraft(event.target.value)} />;
}
