/** The control of one attribute, by its type. It works on text as the page has it. */
import type { KeyboardEvent } from "react";
import type { AttrSchema } from "@weft/client";
import { LITERAL_DTYPES, shortDType } from "../tensor";
import type { FieldIds } from "../ui";
import { quote, unquote } from "./settings";
import { formTexts } from "./texts";
import { useDraft } from "./useDraft";
import { valueText } from "./values";

export interface ControlProps {
  attr: AttrSchema;
  /** The value as written; undefined where it is not given. */
  written: string | undefined;
  /** What holds without a value: the default, or what the engine found. */
  effective: string;
  ids: FieldIds;
  readOnly?: boolean;
  /** Undefined: not given any more. */
  onSet(value: string | undefined): void;
}

/** A checkbox, a list to choose from, or a line of text. */
export function AttributeControl(props: ControlProps) {
  const { attr } = props;
  if (attr.type === "bool") return <BoolControl {...props} />;
  if (attr.type === "type" || (attr.type === "string" && attr.allowed)) return <ChoiceControl {...props} />;
  return <TextControl {...props} />;
}

function BoolControl({ written, effective, ids, readOnly, onSet }: ControlProps) {
  const on = /^(true|1)$/i.test(written || effective);
  return (
    <span className="w-forms-check">
      <input type="checkbox" {...ids} checked={on} disabled={readOnly} onChange={(event) => onSet(String(event.target.checked))} />
      <span aria-hidden="true">{on ? formTexts.yes : formTexts.no}</span>
    </span>
  );
}

function ChoiceControl({ attr, written, effective, ids, readOnly, onSet }: ControlProps) {
  const names = attr.allowed ?? LITERAL_DTYPES;
  const value = (attr.type === "string" ? unquote(written ?? "") : written) ?? "";
  const label = (name: string) => (attr.type === "type" ? `${shortDType(name)} (${name})` : name);
  const none = attr.inferred ? effective ? `${shortDType(effective)} (${formTexts.inferredShort})` : formTexts.byInputs : effective ? `${effective} (${formTexts.isDefault})` : formTexts.notGiven;
  return (
    <select
      className="w-select" {...ids} value={value} disabled={readOnly}
      onChange={(event) => onSet(event.target.value === "" ? undefined : attr.type === "string" ? quote(event.target.value) : event.target.value)}
    >
      <option value="">{none}</option>
      {value !== "" && !names.includes(value) && <option value={value}>{value}</option>}
      {names.map((name) => <option key={name} value={name}>{label(name)}</option>)}
    </select>
  );
}

function TextControl({ attr, written, effective, ids, readOnly, onSet }: ControlProps) {
  const isString = attr.type === "string";
  const shown = isString ? unquote(written ?? "") ?? written ?? "" : written ?? "";
  const draft = useDraft(shown, (text) => onSet(text === "" && !isString ? undefined : isString ? quote(text) : text.trim()));
  const step = (event: KeyboardEvent, by: number) => {
    const now = Number(draft.text || effective);
    if (attr.type !== "int" || !Number.isSafeInteger(now)) return;
    event.preventDefault();
    onSet(String(Math.max(attr.minimum ?? -Infinity, now + by * (event.shiftKey ? 10 : 1))));
  };
  return (
    <input
      type="text" className={`w-input ${isString ? "" : "w-input-mono"}`} {...ids} value={draft.text} readOnly={readOnly} spellCheck={false} autoComplete="off"
      placeholder={effective} inputMode={attr.type === "int" ? "numeric" : attr.type === "float" ? "decimal" : undefined}
      onChange={(event) => draft.setText(event.target.value)} onBlur={draft.commit}
      onKeyDown={(event) => {
        if (event.key === "ArrowUp") step(event, 1);
        else if (event.key === "ArrowDown") step(event, -1);
        else draft.onKeyDown(event);
      }}
    />
  );
}

/** The default as text: what the control shows where nothing is given. */
export function defaultText(attr: AttrSchema): string {
  if (!("default" in attr)) return "";
  const written = valueText(attr.type, attr.default);
  return attr.type === "string" ? unquote(written) ?? written : written;
}
