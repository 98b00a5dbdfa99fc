import { colorSelection } from "../actions/edit";
import { colorValue, palette } from "../model/decor";
import { usePage } from "../model/react";
import { texts } from "../texts";

/** The colours that what is selected may have. */
export function Swatches({ current }: { current?: unknown }) {
  const page = usePage();
  return (
    <section className="w-section">
      <h3>{texts.panels.color}</h3>
      <div className="w-swatches" role="group" aria-label={texts.panels.color}>
        {palette.map((color) => (
          <button
            key={color} type="button" className="w-swatch" style={{ background: colorValue(color) }} aria-pressed={current === color}
            aria-label={texts.canvas.colors[color]} title={texts.canvas.colors[color]} onClick={() => void colorSelection(page, color)}
          />
        ))}
        <button type="button" className="w-swatch w-swatch-none" aria-label={texts.canvas.colors.none} title={texts.canvas.colors.none} onClick={() => void colorSelection(page, null)} />
      </div>
    </section>
  );
}
