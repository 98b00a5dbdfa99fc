import type { Run } from "@weft/client";
import { commandItem } from "../actions/menus";
import { keysOf, runCommand } from "../actions/commands";
import { startRun, stopRun } from "../actions/running";
import { useCell, useCellPart, usePage, useWorkbench } from "../model/react";
import { plural, text, texts } from "../texts";
import { Icon, IconButton, MenuButton, type MenuItem } from "../ui";

const t = texts.toolbar;

/** Run, pause, step, stop, and how the run is. */
export function RunControls() {
  const workbench = useWorkbench();
  const page = usePage();
  const run = useCell(page.runs.run);
  const info = useCell(page.info);
  const errors = info.errors;
  const starting = useCell(page.runs.starting);
  const { active } = page.runs;
  const paused = run?.state === "paused";
  const broken = errors > 0 && !active;
  const ways = (): MenuItem[] => [
    { label: t.runWhole, icon: "play", shortcut: keysOf("run"), disabled: active || broken, onSelect: () => void startRun(workbench, page, {}) },
    { label: t.untilStopped, disabled: active || broken, onSelect: () => void startRun(workbench, page, { steps: "until_stopped" }) },
    commandItem(workbench, "runSteps"), commandItem(workbench, "runToHere"), "separator",
    ...info.sessions.slice(0, 8).map((session): MenuItem => ({ label: `${t.runWhole}: ${session}`, disabled: active || broken, onSelect: () => void startRun(workbench, page, { session, steps: 1 }) })),
    ...(info.sessions.length ? ["separator" as const] : []),
    ...(["EDIT", "FREEZE", "STEP", "RUN"] as const).map((mode): MenuItem => ({
      label: `${t.mode} ${mode}`, hint: t.modes[mode], checked: (run?.state === "ended" || !run ? "EDIT" : run.mode) === mode,
      onSelect: () => void page.api.mode(mode).then(({ run: now }) => page.runs.answered(now), page.report),
    })),
    "separator", commandItem(workbench, "heat"), commandItem(workbench, "breakWhen"),
  ];
  return (
    <div className="w-run-controls" role="group" aria-label={texts.commands.groups.run}>
      <button
        type="button" className={`w-run ${broken ? "w-run-broken" : ""}`} disabled={active && !paused} onClick={() => runCommand(workbench, "run")}
        aria-label={broken ? plural(errors, t.cannotRunOne, t.cannotRun) : paused ? t.resume : t.run} title={broken ? plural(errors, t.cannotRunOne, t.cannotRun) : `${paused ? t.resume : t.run} (${keysOf("run")})`}
      >
        {broken ? <BrokenArrow /> : <Icon name="play" filled size={14} />}
        <span>{broken ? plural(errors, t.fault, t.faults) : paused ? t.resume : t.run}</span>
      </button>
      <MenuButton label={t.more} icon="chevronDown" items={ways} />
      <IconButton icon="pause" filledIcon label={t.pause} shortcut={keysOf("pause")} disabled={run?.state !== "running"} onClick={() => runCommand(workbench, "pause")} />
      <IconButton icon="step" label={t.stepBlock} shortcut={keysOf("stepBlock")} disabled={(active && !paused) || broken} onClick={() => runCommand(workbench, "stepBlock")} />
      <IconButton icon="stop" filledIcon label={paused ? t.cancel : t.stop} shortcut={keysOf("stop")} disabled={!active || starting} onClick={() => void stopRun(page)} />
      <RunStatus run={run} starting={starting} />
    </div>
  );
}

/** LabVIEW's sign for a diagram that cannot run. */
function BrokenArrow() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" aria-hidden="true">
      <path d="M3 3l4 2.4-1.6 2 2.4 1.2-1.6 2L3 13zM9.4 6.8L12.5 8 8.6 10.6" />
    </svg>
  );
}

function RunStatus({ run, starting }: { run: Run | null; starting: boolean }) {
  const page = usePage();
  const fraction = useCell(page.runs.fraction);
  const rate = useCellPart(page.runs.rate, (n) => Math.round(n));
  const stepsLeft = run?.sessions[0]?.steps_left;
  const words = statusWords(run);
  return (
    <div className={`w-run-status w-run-status-${starting ? "idle" : run?.outcome ?? run?.state ?? "idle"}`} role="status">
      <span className="w-run-word">{starting ? t.starting : words}</span>
      {run && !starting && <span className="w-run-detail">{text(t.run_n, { n: Math.max(0, ...run.sessions.map((s) => s.runs)) })}{run.state === "running" && stepsLeft !== undefined && stepsLeft > 0 ? ` · ${text(t.left, { n: stepsLeft })}` : ""}{run.state === "running" && rate > 0 ? ` · ${text(t.rate, { n: rate })}` : ""}</span>}
      {run?.state === "running" && <progress className="w-run-progress" max={1} value={fraction ?? undefined} aria-label={t.running} />}
    </div>
  );
}

function statusWords(run: Run | null): string {
  if (!run) return t.idle;
  if (run.state === "running") return t.running;
  if (run.state === "paused") {
    const at = run.sessions.find((s) => s.pause)?.pause;
    return at?.text ?? (at?.block ? text(t.pausedAt, { block: at.block }) : t.paused);
  }
  return { ok: t.done, failed: t.failed, stopped: t.stopped, cancelled: t.cancelled }[run.outcome ?? "ok"];
}
