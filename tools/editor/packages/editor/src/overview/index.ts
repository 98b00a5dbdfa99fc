export { Overview, type OverviewProps } from "./Overview";
export { Minimap, fitView, type MinimapProps } from "./Minimap";
export { Scene, STATES, type SceneBlock, type SceneWire, type SceneFrame, type SceneState, type Box } from "./scene";
export type { Viewport, Size } from "./draw";
export { readPalette, watchTheme, mix, rgbOf, type Palette } from "./palette";
