import { decodeFrame, type Element, type Value } from "@weft/client";
import { fromLiteral, type TensorValue } from "../tensor";
import type { PageEditor } from "./pageEditor";

/** The most elements that the server gives as JSON. */
const most = 1 << 20;

/** Reads a value with its elements: as a binary frame, or, of strings, as JSON. `toShow`: bytes that are no text are shown as base64, else refused. */
export async function readTensor(page: PageEditor, name: string, slice?: string, toShow = false): Promise<TensorValue & { fullShape?: number[]; run?: number; stale?: boolean; inProgress?: boolean }> {
  if (page.runs.value(name)?.dtype === "DT_STRING") {
    const value = await page.api.value(name, { slice, limit: most });
    const tensor = fromValue(toShow ? { ...value, values: value.values.map(shownElement) } : value);
    if (!tensor) throw new Error(`${name} cannot be shown.`);
    return { ...tensor, fullShape: value.full_shape, run: value.generation, stale: value.stale, inProgress: value.in_progress };
  }
  const { header, tensors } = decodeFrame(await page.api.valueBytes(name, "binary", slice));
  const tensor = tensors["value"] ?? Object.values(tensors)[0];
  if (!tensor) throw new Error(`${name} has no elements that can be shown.`);
  return {
    dtype: tensor.dtype, shape: tensor.shape, data: tensor.data as TensorValue["data"], fullShape: header["full_shape"] as number[] | undefined,
    run: header["generation"] as number | undefined, stale: header["stale"] as boolean | undefined, inProgress: header["in_progress"] as boolean | undefined,
  };
}

const shownElement = (element: Element): Element => (typeof element === "object" && element !== null && "base64" in element ? `base64:${element.base64}` : element);

/** A value in JSON as a tensor; undefined where it is none that can be edited. */
export function fromValue(value: Value): TensorValue | undefined {
  return fromLiteral({ dtype: value.dtype, shape: value.shape, values: value.values });
}
