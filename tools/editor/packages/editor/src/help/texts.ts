/** Texts of the help panel. */
export const helpTexts = {
  title: "Help",
  search: "Search blocks",
  contents: "All blocks",
  results: "{count} blocks found",
  noResults: "No block has '{words}' in its name or summary.",
  loading: "Loading…",
  failed: "The page cannot be shown: {problem}",
  noPage: "Choose a block and press F1, or search here.",
  add: "Add to the page",
  back: "Back",
  copyCode: "Copy",
};
