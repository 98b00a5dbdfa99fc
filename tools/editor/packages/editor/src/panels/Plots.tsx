/** The plots of the page. */
export function PlotsPanel() {
  return null;
}
