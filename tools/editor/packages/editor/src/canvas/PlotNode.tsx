import { NodeResizer, type NodeProps } from "@xyflow/react";
import { memo, useEffect, useMemo } from "react";
import { setPlot } from "../actions/decor";
import type { PagePlot } from "../model/decor";
import { PlotModel } from "../model/plots";
import { usePage, useWorkbench } from "../model/react";
import { MiniTrend } from "../plots";

/** A plot that stands on the page; a double click opens it among the plots below. */
export const PlotNode = memo(function PlotNode({ data, selected, width = 240, height = 120 }: NodeProps) {
  const page = usePage();
  const workbench = useWorkbench();
  const plot = data["plot"] as PagePlot;
  const model = useMemo(() => new PlotModel(page.api), [page]);
  const names = plot.values.join("\n");
  useEffect(() => {
    page.pagePlots.add(model);
    return () => {
      page.pagePlots.delete(model);
      model.dispose();
    };
  }, [page, model]);
  useEffect(() => model.set(names.split("\n").filter(Boolean)), [model, names]);
  return (
    <div className={`w-plot-node ${selected ? "w-note-selected" : ""}`} onDoubleClick={() => plot.values.forEach((value) => workbench.plot(value))}>
      <NodeResizer
        isVisible={Boolean(selected)} minWidth={120} minHeight={72} lineClassName="w-note-line" handleClassName="w-note-handle"
        onResizeEnd={(_event, box) => void setPlot(page, plot.id, { at: [Math.round(box.x), Math.round(box.y)], size: [Math.round(box.width), Math.round(box.height)] })}
      />
      <MiniTrend store={model.store} width={width - 2} height={height - 2} logarithmic={plot.log ?? false} />
    </div>
  );
});
