export { arrange, type Arranging } from "./arrange";
export { alignBoxes, distributeBoxes, type Alignment, type Moves, type PlacedBox } from "./align";
export type { ArrangeBlock, ArrangeOptions, ArrangePort, ArrangeWire, Arrangement } from "./graph";
