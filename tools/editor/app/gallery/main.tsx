/** Shows each part of the editor by itself: gallery.html?part=overview&theme=dark. For development; it is not built. */
import { createRoot } from "react-dom/client";
import "../../packages/editor/src/theme.css";
import "./gallery.css";
import { ArrangePart } from "./arrange";
import { FormsPart } from "./forms";
import { HelpPart, OutlinePart } from "./panels";
import { OverviewPart } from "./overview";
import { PlotsPart } from "./plots";
import { TensorPart } from "./tensor";

const PARTS: Record<string, () => React.ReactNode> = { overview: OverviewPart, tensor: TensorPart, forms: FormsPart, plots: PlotsPart, arrange: ArrangePart, help: HelpPart, outline: OutlinePart };

const query = new URLSearchParams(location.search);
const theme = query.get("theme") ?? "light";
const Part = PARTS[query.get("part") ?? "overview"] ?? OverviewPart;
document.documentElement.dataset.theme = theme;
createRoot(document.getElementById("root")!).render(<div className="weft gallery" data-theme={theme}><Part /></div>);
