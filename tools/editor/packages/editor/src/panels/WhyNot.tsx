import { useEffect, useState } from "react";
import type { Diagnostic } from "@weft/client";
import { useCellPart, usePage, useWorkbench } from "../model/react";
import { texts } from "../texts";

/** What keeps a block without faults of its own from running: the faults of those that it depends on. */
export function WhyNot({ id }: { id: string }) {
  const page = usePage();
  const workbench = useWorkbench();
  const errors = useCellPart(page.info, (info) => info.errors);
  const revision = useCellPart(page.info, (info) => info.revision);
  const [reasons, setReasons] = useState<Diagnostic[]>([]);
  useEffect(() => {
    let here = true;
    if (errors) page.api.whyNot(id).then((list) => here && setReasons(list), () => {});
    else setReasons([]);
    return () => {
      here = false;
    };
  }, [page, id, errors, revision]);
  if (!reasons.length) return null;
  return (
    <section className="w-finding w-finding-warning">
      <div>
        {texts.panels.whyNot}
        <ul className="w-why">
          {reasons.slice(0, 5).map((reason, k) => (
            <li key={k}>
              {reason.block && <button type="button" className="w-link" onClick={() => { page.select([reason.block as string]); workbench.reveal([reason.block as string]); }}>{reason.block}</button>} {reason.message}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
