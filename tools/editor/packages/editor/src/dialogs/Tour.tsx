import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useWorkbench } from "../model/react";
import { text, texts } from "../texts";
import { Button } from "../ui";

const t = texts.tour;

/** A minute's tour: each step points at a part of the editor. */
export function Tour() {
  const workbench = useWorkbench();
  const [at, setAt] = useState(0);
  const step = t.steps[at];
  const box = useBoxOf(step?.at ?? "");
  const card = useRef<HTMLDivElement>(null);
  const close = (): void => {
    workbench.set("tourSeen", true);
    workbench.dialog.set(null);
  };
  useEffect(() => {
    workbench.settings.update((s) => ({ ...s, left: true, right: true }));
  }, [workbench]);
  useEffect(() => card.current?.focus(), [at]);
  if (!step) return null;
  const place = cardPlace(box);
  return (
    <>
      {box && <div className="w-tour-light" aria-hidden style={{ left: box.left - 4, top: box.top - 4, width: box.width + 8, height: box.height + 8 }} />}
      <div
        ref={card} className="w-tour" role="dialog" aria-label={t.title} aria-describedby="w-tour-text" tabIndex={-1} style={place}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") close();
          if (event.key === "ArrowRight" && at < t.steps.length - 1) setAt(at + 1);
          if (event.key === "ArrowLeft" && at > 0) setAt(at - 1);
        }}
      >
        <h2>{step.title}</h2>
        <p id="w-tour-text">{step.text}</p>
        <footer>
          <span className="w-hint">{text(t.step, { k: at + 1, n: t.steps.length })}</span>
          <Button look="quiet" small onClick={close}>{t.skip}</Button>
          {at > 0 && <Button small onClick={() => setAt(at - 1)}>{t.back}</Button>}
          {at < t.steps.length - 1 ? <Button look="primary" small onClick={() => setAt(at + 1)}>{t.next}</Button> : <Button look="primary" small onClick={close}>{t.done}</Button>}
        </footer>
      </div>
    </>
  );
}

function useBoxOf(selector: string): DOMRect | null {
  const [box, setBox] = useState<DOMRect | null>(null);
  useLayoutEffect(() => {
    const look = (): void => setBox(selector ? (document.querySelector(selector)?.getBoundingClientRect() ?? null) : null);
    look();
    const later = setTimeout(look, 150);
    window.addEventListener("resize", look);
    return () => {
      clearTimeout(later);
      window.removeEventListener("resize", look);
    };
  }, [selector]);
  return box;
}

/** Beside what the card is about, inside the window. */
function cardPlace(box: DOMRect | null): React.CSSProperties {
  const [width, height] = [340, 190];
  if (!box) return { left: "50%", top: "40%" };
  const right = box.right + 16;
  const fitsRight = right + width < window.innerWidth;
  const fitsLeft = box.left - width - 16 > 0;
  const left = fitsRight ? right : fitsLeft ? box.left - width - 16 : Math.max(8, Math.min(box.left + box.width / 2 - width / 2, window.innerWidth - width - 8));
  const below = box.bottom + 12 + height < window.innerHeight;
  const above = box.top - 12 - height > 0;
  // beside it, below it, above it, or, of what fills the window, inside at its lower end
  const top = fitsRight || fitsLeft ? Math.min(box.top + 12, window.innerHeight - height - 8)
    : below ? box.bottom + 12 : above ? box.top - height - 12 : box.bottom - height - 24;
  return { left, top: Math.max(8, top), width };
}
