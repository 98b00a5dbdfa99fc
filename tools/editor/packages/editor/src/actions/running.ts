import type { RunRequest } from "@weft/client";
import type { PageEditor } from "../model/pageEditor";
import type { Workbench } from "../model/workbench";

/** Starts a run; a page that cannot run shows its faults instead. */
export async function startRun(workbench: Workbench, page: PageEditor, request: RunRequest): Promise<void> {
  if (page.runs.active) return;
  try {
    await page.runs.start(request);
  } catch (error) {
    page.report(error);
    if (page.model.errorCount) showFaults(workbench);
  }
}

/** Opens the list of faults. */
export function showFaults(workbench: Workbench): void {
  workbench.settings.update((s) => ({ ...s, bottom: true, bottomTab: "faults" }));
}

/** The run button: runs once, goes on with a run that is paused, or lists what keeps the page from running. */
export async function runNow(workbench: Workbench, page: PageEditor): Promise<void> {
  const run = page.runs.run.get();
  if (run?.state === "paused") await page.runs.act("resume").catch(page.report);
  else if (page.model.errorCount) showFaults(workbench);
  else await startRun(workbench, page, {});
}

export async function togglePause(page: PageEditor): Promise<void> {
  const run = page.runs.run.get();
  if (run?.state === "running") await page.runs.act("pause").catch(page.report);
  else if (run?.state === "paused") await page.runs.act("resume").catch(page.report);
}

/** Ends the run after the step in progress; a second time, at once. */
export async function stopRun(page: PageEditor): Promise<void> {
  const run = page.runs.run.get();
  if (!run || run.state === "ended") return;
  const again = stopping.get(page) === run.id || run.state === "paused";
  stopping.set(page, run.id);
  await page.runs.act(again ? "cancel" : "stop").catch(page.report);
}

const stopping = new WeakMap<PageEditor, string>();

/** One block or one run further; starts a run that is paused before its first block where there is none. */
export async function stepRun(workbench: Workbench, page: PageEditor, by: "block" | "run"): Promise<void> {
  const run = page.runs.run.get();
  if (run?.state === "paused") await page.runs.act("step", { by }).catch(page.report);
  else if (!page.runs.active) await startRun(workbench, page, by === "run" ? { steps: 1 } : { steps: 1, paused: true, session: page.info.get().sessions[0] });
}

/** Evaluates the selected blocks and what they need, nothing else. */
export async function runToHere(workbench: Workbench, page: PageEditor): Promise<void> {
  const fetches = page.selectedBlocks().flatMap((block) => (page.model.schema.get(block.block)?.outputs ?? []).filter((p) => !p.kind && !p.list && !p.list_length_attr).slice(0, 1).map((p) => `${block.id}.${p.port}`));
  if (fetches.length) await startRun(workbench, page, { fetches, steps: 1 });
}
