/** The outline of the page. */
export function OutlinePanel() {
  return null;
}
