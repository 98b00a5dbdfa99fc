/** Asks for another name of a block. */
import { useState } from "react";
import { text } from "../texts";
import { Button, Dialog, Field } from "../ui";
import { outlineTexts as t } from "./texts";

export interface RenameDialogProps {
  id: string;
  /** The answer is what is wrong; undefined closes nothing by itself. */
  onRename(to: string): Promise<string | undefined>;
  onClose(): void;
}

/** Stays open while the name is refused, with the reason. */
export function RenameDialog({ id, onRename, onClose }: RenameDialogProps) {
  const [name, setName] = useState(id);
  const [fault, setFault] = useState<string>();
  const submit = () => {
    if (name === id) onClose();
    else void onRename(name).then(setFault);
  };
  return (
    <Dialog
      title={text(t.rename, { id })} width="s" onClose={onClose} onSubmit={submit}
      footer={<><Button onClick={onClose}>{t.cancel}</Button><Button look="primary" type="submit">{t.save}</Button></>}
    >
      <Field label={t.newName} fault={fault}>
        {(ids) => (
          <input
            className="w-input" data-autofocus {...ids} value={name} spellCheck={false} autoComplete="off" onFocus={(event) => event.target.select()}
            onChange={(event) => { setName(event.target.value); setFault(undefined); }}
          />
        )}
      </Field>
    </Dialog>
  );
}
