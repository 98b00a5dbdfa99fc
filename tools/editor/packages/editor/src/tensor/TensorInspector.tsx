/** All about one value: table, picture, histogram and statistics. */
import { useMemo, useState } from "react";
import { saveCsv, saveNpy } from "../export/download";
import { text } from "../texts";
import { Button, Icon, Tabs } from "../ui";
import { requireDType, shortDType } from "./dtype";
import { SliceBar } from "./SliceBar";
import { histogramOf, measures, nextNonFinite, statsOf, type Histogram, type Stats } from "./stats";
import { shapeText, type TensorValue } from "./tensor";
import { TensorHistogram } from "./TensorHistogram";
import { TensorImage } from "./TensorImage";
import { TensorStats } from "./TensorStats";
import { TensorTable } from "./TensorTable";
import { tensorTexts } from "./texts";
import "./tensor.css";

export type InspectorTab = "table" | "image" | "histogram" | "statistics";

export interface TensorInspectorProps {
  /** "w1.ref". */
  name: string;
  /** The value, or the slice of it that was read. */
  tensor: TensorValue;
  /** The run that computed it; shown in the head. */
  run?: number;
  stale?: boolean;
  inProgress?: boolean;
  /** Of a slice, which lacks the first axes: the shape of the whole, the indices on those axes, and how to ask for others. */
  fullShape?: readonly number[];
  place?: readonly number[];
  onPlace?(place: number[]): void;
  /** Of the whole, where the tensor is a slice; computed from the tensor where left out. */
  stats?: Stats;
  histogram?: Histogram;
  tab?: InspectorTab;
  onTab?(tab: InspectorTab): void;
  /** Where given, the table can be edited. */
  onEdit?(tensor: TensorValue): void;
  /** Saves the whole value as .npy, where the tensor is a slice. */
  onSaveNpy?(): void;
  announce?(message: string): void;
}

const TABS = [
  { id: "table", label: tensorTexts.table, icon: "table" },
  { id: "image", label: tensorTexts.image, icon: "image" },
  { id: "histogram", label: tensorTexts.histogram, icon: "bars" },
  { id: "statistics", label: tensorTexts.statistics, icon: "sigma" },
] as const;

/** Head with type, shape and run; tabs below. Strings have a table alone. What is round it shows the name. */
export function TensorInspector(props: TensorInspectorProps) {
  const { name, tensor, fullShape, place = [], onPlace } = props;
  const [ownTab, setOwnTab] = useState<InspectorTab>("table");
  const [goTo, setGoTo] = useState<{ index: number }>();
  const values = useMemo(() => measures(tensor), [tensor]);
  const stats = useMemo(() => props.stats ?? (values ? statsOf(values) : undefined), [values, props.stats]);
  const { kind } = requireDType(tensor.dtype);
  const offered = TABS.filter((tab) => tab.id === "table" || (stats && (tab.id !== "image" || tensor.shape.length >= 2)));
  const wanted = props.tab ?? ownTab;
  const tab = offered.some((each) => each.id === wanted) ? wanted : "table";
  const choose = (id: string) => { setOwnTab(id as InspectorTab); props.onTab?.(id as InspectorTab); };
  // Axes of the whole that the slice does not have.
  const sliced = fullShape ? fullShape.slice(0, Math.max(0, fullShape.length - tensor.shape.length)).map((_, axis) => axis) : [];
  const jump = () => {
    const index = values ? nextNonFinite(values, goTo?.index ?? -1) : -1;
    if (index < 0) return;
    choose("table");
    setGoTo({ index });
  };
  return (
    <div className="w-tensor" role="group" aria-label={name}>
      <div className="w-tensor-head-line">
        <span className="w-tensor-type">{shortDType(tensor.dtype)} {shapeText(fullShape ?? tensor.shape)}</span>
        <Origin {...props} />
        {stats && stats.nan + stats.inf > 0 && (
          <button type="button" className="w-link w-tensor-warn" onClick={jump} title={tensorTexts.nextNonFinite}>
            <Icon name="warning" size={14} />{text(tensorTexts.nonFinite, { nan: stats.nan, inf: stats.inf })}
          </button>
        )}
        <span className="w-tensor-spacer" />
        {kind !== "resource" && <Button small icon="download" title={tensorTexts.npy} aria-label={tensorTexts.npy} onClick={() => (props.onSaveNpy ? props.onSaveNpy() : saveNpy(name, tensor))}>.npy</Button>}
        <Button small icon="download" title={tensorTexts.csv} aria-label={tensorTexts.csv} onClick={() => saveCsv(name, tensor)}>CSV</Button>
      </div>
      {fullShape && sliced.length > 0 && onPlace && <SliceBar shape={fullShape} axes={sliced} place={place} onPlace={onPlace} />}
      <Tabs label={name} tabs={offered} selected={tab} onSelect={choose}>
        {tab === "table" && <TensorTable tensor={tensor} name={name} goTo={goTo} onEdit={props.onEdit} announce={props.announce} />}
        {tab === "image" && stats && <TensorImage key={tensor.shape.join()} tensor={tensor} stats={stats} />}
        {tab === "histogram" && stats && values && <HistogramTab values={values} stats={stats} histogram={props.histogram} />}
        {tab === "statistics" && stats && <TensorStats dtype={tensor.dtype} shape={fullShape ?? tensor.shape} stats={stats} />}
      </Tabs>
    </div>
  );
}

function Origin({ run, stale, inProgress }: TensorInspectorProps) {
  const notes = [run !== undefined && run > 0 && text(tensorTexts.run, { run }), inProgress && tensorTexts.inProgress, stale && tensorTexts.stale].filter(Boolean);
  return notes.length > 0 ? <span className="w-tensor-note">{notes.join(", ")}</span> : null;
}

function HistogramTab({ values, stats, histogram }: { values: ArrayLike<number>; stats: Stats; histogram?: Histogram }) {
  const shown = useMemo(() => histogram ?? histogramOf(values, stats), [values, stats, histogram]);
  return <TensorHistogram histogram={shown} stats={stats} />;
}
