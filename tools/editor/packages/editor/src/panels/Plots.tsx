import { useState } from "react";
import { Trend } from "../plots";
import { useCell, usePage } from "../model/react";
import { texts } from "../texts";
import { Button } from "../ui";

const t = texts.panels;

/** Trends of values over runs, several runs compared. */
export function PlotsPanel() {
  const { plots, model, info } = usePage();
  const names = useCell(plots.names);
  const [draft, setDraft] = useState("");
  const outputs = [...model.types.keys()].filter((name) => !names.includes(name));
  const add = (): void => {
    if (!draft.trim()) return;
    plots.add(draft.trim());
    setDraft("");
  };
  return (
    <div className="w-plots-panel">
      <form className="w-panel-bar" onSubmit={(event) => { event.preventDefault(); add(); }}>
        <input className="w-input w-plot-name" list="w-plot-names" aria-label={t.plotName} placeholder={t.plotName} value={draft} onChange={(event) => setDraft(event.target.value)} />
        <datalist id="w-plot-names">{outputs.slice(0, 1000).map((name) => <option key={name} value={name} />)}</datalist>
        <Button small type="submit" icon="plus">{t.plot}</Button>
        {names.length === 0 && <span className="w-hint">{t.noPlots}</span>}
      </form>
      {names.length > 0 && <div className="w-plots-area"><Trend store={plots.store} onRemove={(name) => plots.remove(name)} name={info.get().name} /></div>}
    </div>
  );
}
