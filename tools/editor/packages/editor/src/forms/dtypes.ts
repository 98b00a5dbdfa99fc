/** Which element types a value for a port can have. */
import type { BlockSchema, PortSchema } from "@weft/client";
import { LITERAL_DTYPES } from "../tensor";

/** What people mean mostly comes first. */
const rank = (dtype: string): number => (dtype === "DT_INT32" ? 1.5 : LITERAL_DTYPES.indexOf(dtype));

/** Types of the port by its block's schema, the likeliest first; all types where the schema does not tell. */
export function dtypesOf(port: PortSchema | undefined, schema: BlockSchema | undefined): readonly string[] {
  if (port?.type?.startsWith("DT_")) return [port.type];
  const attr = schema?.attrs.find((each) => each.name === (port?.type_attr ?? port?.variable_type_attr));
  const allowed = attr?.allowed?.filter((dtype) => LITERAL_DTYPES.includes(dtype)) ?? [];
  return allowed.length === 0 ? LITERAL_DTYPES : [...allowed].sort((a, b) => rank(a) - rank(b));
}
