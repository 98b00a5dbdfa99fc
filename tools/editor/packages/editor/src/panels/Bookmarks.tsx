import { runCommand } from "../actions/commands";
import { useCellPart, usePage, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Button, IconButton } from "../ui";
import { goToView } from "../canvas/goTo";

/** Views of this page that were kept; they are this browser's, not the page's. */
export function BookmarksPanel() {
  const workbench = useWorkbench();
  const page = usePage();
  const key = useCellPart(page.info, (info) => info.path ?? info.name);
  const list = useCellPart(workbench.settings, (s) => s.bookmarks[key]) ?? [];
  const remove = (name: string): void => workbench.settings.update((s) => ({ ...s, bookmarks: { ...s.bookmarks, [key]: list.filter((b) => b.name !== name) } }));
  return (
    <div className="w-pad">
      <Button small icon="bookmark" onClick={() => runCommand(workbench, "bookmark")}>{texts.commands.bookmark}</Button>
      <ul className="w-rows w-gap">
        {list.map((view) => (
          <li key={view.name} className="w-row">
            <button type="button" className="w-row-main" onClick={() => goToView(view)}>{view.name}</button>
            <IconButton small icon="trash" label={`${texts.common.remove} ${view.name}`} onClick={() => remove(view.name)} />
          </li>
        ))}
      </ul>
    </div>
  );
}
