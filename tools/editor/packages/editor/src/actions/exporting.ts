import { saveFile, savePagePng, savePageSvg } from "../export";
import { texts } from "../texts";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";

/** Saves the picture of the page that `weft show` draws. */
export async function exportPicture(workbench: Workbench, page: PageEditor, format: "svg" | "png"): Promise<void> {
  const dismiss = workbench.notifications.show("info", texts.app.drawing);
  try {
    const svg = await (await page.api.picture()).text();
    if (format === "svg") savePageSvg(page.title, svg);
    else await savePagePng(page.title, svg);
  } catch (error) {
    workbench.report(error);
  } finally {
    dismiss();
  }
}

/** Hands over the page as it would be saved. */
export async function exportPage(workbench: Workbench, page: PageEditor): Promise<void> {
  try {
    saveFile(`${page.title}.page.json`, await page.api.text(), "application/json");
  } catch (error) {
    workbench.report(error);
  }
}
