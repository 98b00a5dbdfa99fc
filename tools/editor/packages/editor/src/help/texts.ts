/** Texts of the help panel. */
export const helpTexts = {
  search: "Search blocks",
  contents: "All blocks",
  results: "{count} blocks found",
  noResults: "No block has '{words}' in its name or summary.",
  loading: "Loading…",
  failed: "The page cannot be shown: {problem}",
  add: "Add",
  addHint: "Add to the page",
  copyCode: "Copy",
};
