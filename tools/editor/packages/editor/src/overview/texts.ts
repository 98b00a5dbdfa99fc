/** Texts of the overview and the minimap. */
export const overviewTexts = {
  minimap: "Minimap. Arrow keys move the view.",
  overview: "Overview of the page: {blocks} blocks. Zoom in to edit; the outline lists every block.",
};
