/** A value of one element, edited in place. */
import { checkElement, castTensor, requireDType, setElement, shortDType, textAt, zeros, type TensorValue } from "../tensor";
import { useDraft } from "./useDraft";

export interface LiteralLineProps {
  label: string;
  /** Of one element. */
  tensor: TensorValue;
  dtypes: readonly string[];
  readOnly?: boolean;
  onSet(tensor: TensorValue): void;
}

/** Its type, where there is a choice, and its text; a checkbox for booleans. */
export function LiteralLine({ label, tensor, dtypes, readOnly, onSet }: LiteralLineProps) {
  const set = (written: string) => {
    const next = zeros(tensor.dtype, tensor.shape);
    if (setElement(requireDType(tensor.dtype), next.data, 0, written) === undefined) onSet(next);
  };
  const draft = useDraft(textAt(tensor, 0), set);
  const fault = draft.changed ? checkElement(tensor.dtype, draft.text) : undefined;
  const isBool = tensor.dtype === "DT_BOOL";
  return (
    <>
      {isBool
        ? (
          <label className="w-forms-check w-forms-muted">
            <input type="checkbox" aria-label={label} checked={Boolean(tensor.data[0])} disabled={readOnly} onChange={(event) => set(String(event.target.checked))} />
            {textAt(tensor, 0)}
          </label>
        )
        : (
          <input
            type="text" className="w-input w-input-mono" aria-label={label} aria-invalid={fault ? true : undefined} title={fault} value={draft.text} readOnly={readOnly}
            spellCheck={false} onChange={(event) => draft.setText(event.target.value)} onBlur={() => (fault ? draft.revert() : draft.commit())}
            onKeyDown={(event) => { if (event.key !== "Enter" || !fault) draft.onKeyDown(event); }}
          />
        )}
      {dtypes.length > 1 && (
        <select className="w-select" aria-label={`${label}, type`} value={tensor.dtype} disabled={readOnly} onChange={(event) => onSet(castTensor(tensor, event.target.value).tensor)}>
          {[...new Set([tensor.dtype, ...dtypes])].map((dtype) => <option key={dtype} value={dtype}>{shortDType(dtype)}</option>)}
        </select>
      )}
    </>
  );
}
