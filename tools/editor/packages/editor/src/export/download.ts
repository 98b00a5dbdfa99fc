/** Files that the browser saves. */
import { writeNpy, textAt, countOf, csvCell, type TensorValue } from "../tensor";

/** Offers the contents as a file to save. */
export function saveFile(name: string, contents: Blob | Uint8Array | string, type = "application/octet-stream"): void {
  const blob = contents instanceof Blob ? contents : new Blob([contents as BlobPart], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = safeFileName(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A name without what file systems refuse. */
export function safeFileName(name: string): string {
  return name.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, "_").replace(/^\.+/, "_").slice(0, 200) || "file";
}

/** The tensor as CSV: a row of the last axis a line; planes of higher ranks are apart by an empty line. */
export function tensorCsv(tensor: TensorValue): string {
  const count = countOf(tensor.shape);
  const columns = tensor.shape.length === 0 ? 1 : tensor.shape.length === 1 ? 1 : tensor.shape.at(-1)!;
  const plane = tensor.shape.length <= 2 ? Infinity : columns * tensor.shape.at(-2)!;
  const lines: string[] = [];
  for (let begin = 0; begin < count; begin += columns) {
    if (begin > 0 && begin % plane === 0) lines.push("");
    const cells: string[] = [];
    for (let i = begin; i < begin + columns; ++i) cells.push(csvCell(textAt(tensor, i)));
    lines.push(cells.join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** Saves a tensor as a .npy file; also one that is in the bytes of such a file already. */
export function saveNpy(name: string, tensor: TensorValue | ArrayBuffer): void {
  saveFile(`${name}.npy`, tensor instanceof ArrayBuffer ? new Uint8Array(tensor) : writeNpy(tensor), "application/x-npy");
}

/** Saves the tensor as CSV. */
export function saveCsv(name: string, tensor: TensorValue): void {
  saveFile(`${name}.csv`, tensorCsv(tensor), "text/csv");
}
