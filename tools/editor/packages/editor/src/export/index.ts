export { saveCsv, saveFile, saveNpy, safeFileName, tensorCsv } from "./download";
export { fittingScale, savePagePng, savePageSvg, svgSize, svgToPng } from "./picture";
