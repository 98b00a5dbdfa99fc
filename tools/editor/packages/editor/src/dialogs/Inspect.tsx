import { useEffect, useState } from "react";
import { WeftError } from "@weft/client";
import { saveNpy } from "../export";
import { readTensor } from "../model/tensors";
import { useCellPart, usePage, useSummary, useWorkbench } from "../model/react";
import { TensorInspector } from "../tensor";
import { text, texts } from "../texts";
import { Button, Dialog } from "../ui";

type Read = Awaited<ReturnType<typeof readTensor>>;

/** Elements of a plane that are read at once: larger values are looked at in slices of their leading axes. */
const most = 1 << 20;

/** A value as a table, an image, a histogram and statistics; read anew when a run has computed it. */
export function InspectDialog({ name }: { name: string }) {
  const workbench = useWorkbench();
  const page = usePage();
  const summary = useSummary(name);
  const generation = summary?.generation ?? 0;
  const paused = useCellPart(page.runs.run, (run) => run?.state === "paused");
  const [tensor, setTensor] = useState<Read | null>(null);
  const [place, setPlace] = useState<number[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let here = true;
    const leading = slicedAxes(summary?.shape ?? []);
    const slice = leading ? Array.from({ length: leading }, (_, k) => place[k] ?? 0).join(",") : undefined;
    readTensor(page, name, slice, true).then((read) => here && (setTensor(read), setFailure(null)), (error: unknown) => here && setFailure(reasonOf(error)));
    return () => {
      here = false;
    };
  }, [page, name, generation, place, summary]);
  const close = (): void => workbench.inspect.set(null);
  const saveWhole = (): void => void page.api.valueBytes(name, "npy").then((bytes) => saveNpy(name, bytes), page.report);
  return (
    <Dialog
      title={text(texts.dialogs.inspectTitle, { name })} width="l" onClose={close}
      footer={(
        <>
          {paused && <Button onClick={() => { close(); workbench.ask("override", name); }}>{texts.panels.override}</Button>}
          <Button icon="chart" onClick={() => { close(); workbench.plot(name); }}>{texts.panels.plot}</Button>
        </>
      )}
    >
      {!tensor && <p className="w-hint" role="status">{failure ?? texts.common.reading}</p>}
      {tensor && failure && <p className="w-hint" role="status">{failure}</p>}
      {tensor && (
        <TensorInspector
          name={name} tensor={tensor} run={tensor.run} stale={tensor.stale} inProgress={tensor.inProgress} fullShape={tensor.fullShape} place={place}
          onPlace={setPlace} onSaveNpy={saveWhole} announce={(message) => workbench.announce(message)}
        />
      )}
    </Dialog>
  );
}

function reasonOf(error: unknown): string {
  const { message, hint } = error instanceof WeftError ? error.diagnostic : { message: error instanceof Error ? error.message : String(error), hint: undefined };
  return hint ? `${message} (${hint})` : message;
}

/** How many leading axes are fixed so that what is left is not too large. */
function slicedAxes(shape: number[]): number {
  let count = shape.reduce((product, size) => product * size, 1);
  let axes = 0;
  while (count > most && axes < shape.length - 1) count /= Math.max(1, shape[axes++] ?? 1);
  return axes;
}
