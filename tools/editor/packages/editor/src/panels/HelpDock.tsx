import { useEffect, useRef } from "react";
import { addBlock } from "../actions/edit";
import { freePlace } from "../actions/place";
import { HelpPanel } from "../help/HelpPanel";
import { useCell, usePage, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { IconButton } from "../ui";

/** The reference of blocks beside the canvas. It follows the selection. */
export function HelpDock({ block }: { block: string }) {
  const workbench = useWorkbench();
  const page = usePage();
  const schema = useCell(workbench.schema);
  const selection = useCell(page.selection);
  const seen = useRef(selection);
  useEffect(() => {
    if (seen.current === selection) return;
    seen.current = selection;
    const [only, ...more] = page.selectedBlocks();
    const known = only && !more.length ? schema?.get(only.block)?.block : undefined;
    if (known) workbench.helpFor.set(known);
  }, [selection, page, schema, workbench]);
  return (
    <div className="w-help-dock">
      <div className="w-help-dock-head">
        <h2>{texts.commands.groups.help}</h2>
        <IconButton small icon="close" label={`${texts.common.close}: ${texts.commands.groups.help}`} onClick={() => workbench.helpFor.set(null)} />
      </div>
      <HelpPanel
        blocks={schema?.blocks ?? []} block={block || undefined} onBlock={(name) => workbench.helpFor.set(name ?? "")} load={(name) => workbench.client.help(name)}
        onAdd={(name) => {
          const reveal = workbench.revealLater();
          void addBlock(page, name, freePlace(page), { show: (id) => reveal([id]) });
        }}
      />
    </div>
  );
}
