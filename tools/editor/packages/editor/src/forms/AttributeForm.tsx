/** A block's attributes as a form made from its schema, with the text that the page file has beside it. */
import { useId } from "react";
import type { Attrs, AttrSchema, BlockSchema } from "@weft/client";
import { text } from "../texts";
import { Field, IconButton } from "../ui";
import { AttributeControl, defaultText } from "./AttributeControl";
import { namesAttr, splitSettings, type Setting } from "./settings";
import { formTexts } from "./texts";
import { useDraft } from "./useDraft";
import { checkValue, isDefault, valueText } from "./values";
import "./forms.css";

export interface AttributeFormProps {
  schema: BlockSchema;
  /** As the page has them. */
  attrs: Attrs | undefined;
  /** The server's messages by attribute. */
  faults?: Readonly<Record<string, string>>;
  /** What the engine found for attributes that follow from the inputs. */
  inferred?: Readonly<Record<string, string>>;
  readOnly?: boolean;
  /** One attribute gets another value, as attribute text; undefined takes it off the page, so that its default holds. */
  onSet(attr: string, value: string | undefined): void;
  /** The whole text was changed. */
  onSetText(text: string): void;
}

/** The value written for an attribute; undefined where there is none. */
export function writtenValue(attrs: Attrs | undefined, attr: AttrSchema, settings?: readonly Setting[]): string | undefined {
  if (typeof attrs === "object") {
    const key = [attr.name, `${attr.name}_`].find((name) => name in attrs);
    if (key === undefined) return undefined;
    const value = attrs[key];
    return typeof value === "string" ? value : valueText(attr.type, value);
  }
  const found = (settings ?? splitSettings(attrs ?? "")).find((setting) => setting.name !== "" && namesAttr(setting.name, attr.name));
  return found && found.value !== "" ? found.value : undefined;
}

/** Attributes in the order of the schema, then what the page gives besides, then the text. */
export function AttributeForm({ schema, attrs, faults = {}, inferred = {}, readOnly, onSet, onSetText }: AttributeFormProps) {
  const settings = typeof attrs === "object" ? [] : splitSettings(attrs ?? "");
  const unknown = unknownNames(schema, attrs, settings);
  if (schema.attrs.length === 0 && unknown.length === 0) return <p className="w-forms-none">{formTexts.noAttributes}</p>;
  return (
    <div className="w-forms">
      {schema.attrs.map((attr) => (
        <AttributeRow
          key={attr.name} attr={attr} written={writtenValue(attrs, attr, settings)} fault={faults[attr.name]} inferred={inferred[attr.name]}
          repeated={settings.filter((setting) => namesAttr(setting.name, attr.name)).length > 1} readOnly={readOnly} onSet={(value) => onSet(attr.name, value)}
        />
      ))}
      {unknown.length > 0 && (
        <div className="w-forms-unknown" role="group" aria-label={formTexts.unknownSettings}>
          <p className="w-field-fault">{formTexts.unknownSettings}</p>
          {unknown.map((name) => (
            <div key={name} className="w-forms-unknown-row">
              <code>{name}</code>
              {!readOnly && <IconButton small icon="trash" label={text(formTexts.remove, { name })} onClick={() => onSet(name, undefined)} />}
            </div>
          ))}
        </div>
      )}
      <RawText attrs={attrs} readOnly={readOnly} onSetText={onSetText} />
    </div>
  );
}

function unknownNames(schema: BlockSchema, attrs: Attrs | undefined, settings: readonly Setting[]): string[] {
  const names = typeof attrs === "object" ? Object.keys(attrs) : settings.map((setting) => setting.name).filter((name) => name !== "");
  return [...new Set(names)].filter((name) => !schema.attrs.some((attr) => namesAttr(name, attr.name)));
}

interface RowProps {
  attr: AttrSchema;
  written: string | undefined;
  fault?: string;
  inferred?: string;
  repeated: boolean;
  readOnly?: boolean;
  onSet(value: string | undefined): void;
}

function AttributeRow({ attr, written, fault, inferred, repeated, readOnly, onSet }: RowProps) {
  const wrong = (written === undefined ? undefined : checkValue(attr, written)) ?? fault ?? (repeated ? formTexts.repeated : undefined);
  const required = !("default" in attr) && !attr.inferred;
  const hint = attr.type.startsWith("list") ? formTexts.listHelp : attr.type === "shape" ? formTexts.shapeHelp : undefined;
  const help = [attr.doc, hint, "default" in attr ? text(formTexts.default, { value: defaultText(attr) || '""' }) : attr.inferred ? formTexts.inferred : formTexts.required];
  const own = written !== undefined && !isDefault(attr, written);
  return (
    <Field
      className={`w-forms-row ${own ? "w-forms-own" : ""}`} fault={wrong} help={help.filter(Boolean).join(". ")}
      label={<span title={attr.doc}>{attr.name}{required && <span className="w-forms-required" aria-hidden="true"> *</span>}</span>}
      extra={written !== undefined && !readOnly && !required && (
        <IconButton small icon="reset" label={text(formTexts.reset, { name: attr.name })} onClick={() => onSet(undefined)} />
      )}
    >
      {(ids) => <AttributeControl attr={attr} written={written} effective={inferred ?? defaultText(attr)} ids={ids} readOnly={readOnly} onSet={onSet} />}
    </Field>
  );
}

function RawText({ attrs, readOnly, onSetText }: Pick<AttributeFormProps, "attrs" | "readOnly" | "onSetText">) {
  const isObject = typeof attrs === "object";
  const value = isObject ? JSON.stringify(attrs, null, 1) : attrs ?? "";
  const draft = useDraft(value, onSetText, true);
  const id = useId();
  return (
    <div className="w-forms-raw">
      <label htmlFor={id}>{formTexts.asText}</label>
      <textarea
        id={id} className="w-input w-input-mono" rows={Math.min(8, Math.max(1, Math.ceil(value.length / 34)))} value={draft.text} spellCheck={false}
        readOnly={readOnly || isObject} aria-describedby={`${id}-help`} onChange={(event) => draft.setText(event.target.value)}
        onBlur={draft.commit} onKeyDown={draft.onKeyDown}
      />
      <p id={`${id}-help`} className="w-field-help">{isObject ? formTexts.rawObject : formTexts.rawHelp}</p>
    </div>
  );
}
