import { useEffect, useMemo } from "react";
import { MiniTrend, Trend, TrendStore } from "../../packages/editor/src/plots";

export function PlotsPart() {
  const store = useMemo(() => {
    const made = new TrendStore();
    for (const run of [1, 2, 3]) {
      made.startRun(`run ${run}`);
      for (let i = 1; i <= 3000; ++i) {
        made.push("loss.output", i, i / 60, 0.25 * Math.exp(-i / (400 + 300 * run)) + 0.004 * Math.abs(Math.sin(i * 7.3)));
        if (run === 3) made.push("accuracy.output", i, i / 60, i > 1200 && i < 1300 ? NaN : 0.5 + 0.45 * (1 - Math.exp(-i / 900)) + 0.02 * Math.sin(i / 5));
      }
    }
    return made;
  }, []);
  useEffect(() => {
    if (!location.search.includes("live")) return;
    let i = 3000;
    const timer = setInterval(() => { for (let k = 0; k < 5; ++k) store.push("loss.output", ++i, i / 60, 0.02 + 0.01 * Math.random()); }, 16);
    return () => clearInterval(timer);
  }, [store]);
  return (
    <div style={{ padding: 16, display: "grid", gap: 16, gridTemplateRows: "320px 320px auto", height: "100%", boxSizing: "border-box" }}>
      <div className="gallery-panel"><Trend store={store} syncKey="a" onRemove={() => {}} /></div>
      <div className="gallery-panel"><Trend store={store} syncKey="a" /></div>
      <div className="gallery-row"><MiniTrend store={store} width={220} height={90} logarithmic /><MiniTrend store={new TrendStore()} width={160} height={60} title="loss.output" /></div>
    </div>
  );
}
