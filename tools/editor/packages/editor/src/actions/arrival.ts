import type { PageEditor } from "../model/pageEditor";

/**
 * Selects what an edit adds, and calls `show` for it: at once where it is on the page before the server has answered, else with the answer.
 * What the user selected until then stays.
 */
export async function selectAdded(page: PageEditor, ids: string[], done: Promise<boolean>, show: () => void = () => {}): Promise<boolean> {
  const all = (): boolean => ids.every((id) => page.has(id));
  const early = all();
  if (early) {
    page.select(ids);
    show();
  }
  const before = page.selections;
  const made = await done;
  if (!made || page.selections !== before || !all()) return made;
  page.select(ids); // also where edits of others had taken it from the page for a moment, and from the selection
  if (!early) show();
  return made;
}
