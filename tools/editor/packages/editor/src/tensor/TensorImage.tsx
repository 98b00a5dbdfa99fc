/** A tensor as a picture: grey, in colours by value, or as red, green and blue. */
import { useEffect, useMemo, useRef, useState } from "react";
import { text } from "../texts";
import { useView } from "../ui";
import { colourTable, drawPicture, pictureAxes, type ColourMap, type Picture, type PictureAxes } from "./colours";
import { formatBrief, textAt } from "./format";
import { SliceBar } from "./SliceBar";
import { measures, type Stats } from "./stats";
import { flatIndex, type TensorValue } from "./tensor";
import { tensorTexts } from "./texts";
import "./tensor.css";

export interface TensorImageProps {
  tensor: TensorValue;
  stats: Stats;
}

type Colours = ColourMap | "rgb";

function naturalRange(tensor: TensorValue, stats: Stats): [number, number] {
  if (tensor.dtype === "DT_UINT8" || tensor.dtype === "DT_QUINT8") return [0, 255];
  if (tensor.dtype === "DT_BOOL") return [0, 1];
  return Number.isNaN(stats.min) ? [0, 1] : [stats.min, stats.max];
}

/** The picture, with colours, range and slices to choose. */
export function TensorImage({ tensor, stats }: TensorImageProps) {
  const axes = pictureAxes(tensor.shape);
  const values = useMemo(() => measures(tensor), [tensor]);
  if (!axes || !values) return <p className="w-tensor-none">{tensorTexts.noImage}</p>;
  return <PictureView tensor={tensor} stats={stats} axes={axes} values={values} />;
}

function PictureView({ tensor, stats, axes, values }: TensorImageProps & { axes: PictureAxes; values: ArrayLike<number> }) {
  const { shape } = tensor;
  const channels = axes.channel === undefined ? 1 : shape[axes.channel]!;
  const [colours, setColours] = useState<Colours>(channels >= 3 ? "rgb" : "grey");
  const [range, setRange] = useState<[number, number] | null>(null);
  const [place, setPlace] = useState<number[]>([]);
  const [pointed, setPointed] = useState<string>("");
  const [low, high] = range ?? naturalRange(tensor, stats);
  const shown = [axes.row, axes.column, ...(colours === "rgb" ? [axes.channel] : [])];
  const others = shape.map((_, axis) => axis).filter((axis) => !shown.includes(axis));
  const picture = useMemo(
    () => drawPicture(values, shape, { axes, place, low, high, colours }),
    [values, shape, axes.row, axes.column, axes.channel, place, low, high, colours],
  );
  const point = (x: number, y: number) => {
    const at = shape.map((_, axis) => (axis === axes.row ? y : axis === axes.column ? x : place[axis] ?? 0));
    if (x < 0 || y < 0 || x >= shape[axes.column]! || y >= shape[axes.row]!) return setPointed("");
    setPointed(`[${at.join(",")}] ${textAt(tensor, flatIndex(shape, at))}`);
  };
  return (
    <div className="w-tensor-image">
      <div className="w-tensor-controls">
        <label>{tensorTexts.colours}
          <select className="w-select" value={colours} onChange={(event) => setColours(event.target.value as Colours)}>
            {channels >= 3 && <option value="rgb">{tensorTexts.rgb}</option>}
            <option value="grey">{tensorTexts.grey}</option>
            <option value="heat">{tensorTexts.heat}</option>
            <option value="diverging">{tensorTexts.symmetric}</option>
          </select>
        </label>
        <RangeControls low={low} high={high} isOwn={range !== null} onRange={setRange} symmetric={colours === "diverging"} stats={stats} />
        {colours !== "rgb" && <Scale colours={colours} low={low} high={high} />}
        <output className="w-tensor-scale">{pointed}</output>
      </div>
      {others.length > 0 && <SliceBar shape={shape} axes={others} place={place} onPlace={setPlace} />}
      <Stage picture={picture} rows={shape[axes.row]!} columns={shape[axes.column]!} onPoint={point}
        label={text(tensorTexts.imageLabel, { rows: shape[axes.row]!, columns: shape[axes.column]!, low: formatBrief(low), high: formatBrief(high) })} />
    </div>
  );
}

interface RangeProps {
  low: number;
  high: number;
  isOwn: boolean;
  symmetric: boolean;
  stats: Stats;
  onRange(range: [number, number] | null): void;
}

function RangeControls({ low, high, isOwn, symmetric, stats, onRange }: RangeProps) {
  // A map with a middle colour is of use only where the middle is 0.
  useEffect(() => {
    const most = Math.max(Math.abs(stats.min), Math.abs(stats.max));
    if (symmetric && Number.isFinite(most)) onRange([-most, most]);
  }, [symmetric]); // eslint-disable-line react-hooks/exhaustive-deps
  const set = (value: number, which: 0 | 1) => { if (Number.isFinite(value)) onRange(which === 0 ? [value, high] : [low, value]); };
  return (
    <>
      <label>{tensorTexts.low}<input type="number" className="w-input" step="any" value={Number(formatBrief(low))} onChange={(event) => set(event.target.valueAsNumber, 0)} /></label>
      <label>{tensorTexts.high}<input type="number" className="w-input" step="any" value={Number(formatBrief(high))} onChange={(event) => set(event.target.valueAsNumber, 1)} /></label>
      <label><input type="checkbox" checked={!isOwn} onChange={(event) => onRange(event.target.checked ? null : [low, high])} />{tensorTexts.auto}</label>
    </>
  );
}

function Scale({ colours, low, high }: { colours: ColourMap; low: number; high: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const ctx = canvas.current?.getContext("2d");
    const table = colourTable(colours);
    for (let i = 0; ctx && i < 256; ++i) {
      ctx.fillStyle = `rgb(${table[i * 3]} ${table[i * 3 + 1]} ${table[i * 3 + 2]})`;
      ctx.fillRect(i, 0, 1, 1);
    }
  }, [colours]);
  return <span className="w-tensor-scale" aria-hidden="true">{formatBrief(low)}<canvas ref={canvas} width={256} height={1} />{formatBrief(high)}</span>;
}

interface StageProps {
  picture: Picture;
  rows: number;
  columns: number;
  label: string;
  onPoint(x: number, y: number): void;
}

function Stage({ picture, rows, columns, label, onPoint }: StageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const view = useView(stage);
  useEffect(() => {
    const element = canvas.current;
    const ctx = element?.getContext("2d");
    if (!element || !ctx) return;
    element.width = picture.width;
    element.height = picture.height;
    ctx.putImageData(new ImageData(picture.pixels, picture.width, picture.height), 0, 0);
  }, [picture]);
  const fit = Math.min((view.width - 24) / columns, (view.height - 24) / rows, 48);
  const scale = fit >= 1 ? Math.floor(fit) : Math.max(fit, 0.01);
  return (
    <div className="w-tensor-stage" ref={stage}>
      <canvas
        ref={canvas} role="img" aria-label={label} style={{ width: columns * scale, height: rows * scale }}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          onPoint(Math.floor(((event.clientX - box.left) / box.width) * columns), Math.floor(((event.clientY - box.top) / box.height) * rows));
        }}
        onPointerLeave={() => onPoint(-1, -1)}
      />
    </div>
  );
}
