/** Help. */
export function HelpDock({ block }: { block: string }) {
  return <p>{block}</p>;
}
