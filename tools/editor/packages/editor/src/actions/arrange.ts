import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";

/** Arranges by the server's layers. */
export async function arrange(workbench: Workbench, page: PageEditor): Promise<void> {
  const layout = await page.api.layout("auto");
  if (await page.edit([{ op: "set", key: "layout", value: layout }], "Arrange")) workbench.reveal(page.model.ids, false);
}
