/** Texts of arranging. */
export const arrangeTexts = {
  arranging: "Arranging {count} blocks…",
  cancel: "Cancel",
  edit: "Arrange",
  cancelled: "Arranging was cancelled",
  failed: "The blocks could not be arranged: {problem}",
};
