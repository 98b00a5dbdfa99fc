export { dtypeInfo, requireDType, shortDType, LITERAL_DTYPES, type DTypeInfo, type DTypeKind, type TensorData } from "./dtype";
export {
  copyTensor, countOf, flatIndex, magnitudeAt, numberAt, numbersOf, placeOf, shapeText, tensorBytes, tensorFromBytes, zeros, type TensorValue,
} from "./tensor";
export { checkElement, formatBrief, formatBytes, formatNumber, parseReal, setElement, shortest, textAt } from "./format";
export { parseNpy, writeNpy } from "./npy";
export { fromLiteral, literalText, tensorText, toLiteral, type LiteralLike } from "./literal";
export { cellsText, csvCell, parseCells, type Cells } from "./paste";
export { histogramOf, measures, nextNonFinite, statsOf, type Histogram, type Stats } from "./stats";
export { TensorTable, type TensorTableProps } from "./TensorTable";
export { TensorImage, type TensorImageProps } from "./TensorImage";
export { TensorHistogram, type TensorHistogramProps } from "./TensorHistogram";
export { TensorStats, type TensorStatsProps } from "./TensorStats";
export { TensorInspector, type TensorInspectorProps, type InspectorTab } from "./TensorInspector";
export { TensorEditor, readTensorFile, parseShape, type TensorEditorProps } from "./TensorEditor";
export { castTensor, reshapeTensor, tensorOfCells } from "./cells";
