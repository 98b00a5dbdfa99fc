import { useEffect, useRef } from "react";
import { useCell, usePage, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Button } from "../ui";

/** What blocks print, runs and failures. */
export function LogPanel() {
  const workbench = useWorkbench();
  const page = usePage();
  const lines = useCell(page.log);
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [lines]);
  if (!lines.length) return <p className="w-hint w-pad">{texts.panels.noLog}</p>;
  return (
    <div>
      <div className="w-panel-bar"><Button small look="quiet" icon="clear" onClick={() => page.log.set([])}>{texts.panels.clear}</Button></div>
      <ol className="w-log" aria-live="off">
        {lines.map((line, k) => (
          <li key={k} ref={k === lines.length - 1 ? end : undefined} className={`w-log-${line.kind}`}>
            <time>{new Date(line.at).toLocaleTimeString()}</time>
            {line.block && <button type="button" className="w-link" onClick={() => { page.select([line.block as string]); workbench.reveal([line.block as string]); }}>{line.block}</button>}
            <span>{line.text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
