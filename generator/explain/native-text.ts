/** A native query as people read it. */
import type { Json } from "../../runtime/abi/plan.js";

/** Prints a JSON value readably. */
export type PrintValue = (value: unknown) => string;

/** SQL on its own lines, its parameters numbered; anything else as the value it is. */
export function nativeText(query: Json, print: PrintValue): string {
  if (typeof query !== "object" || query === null || !("sql" in query) || typeof query.sql !== "string") return `${print(query)}\n`;
  const params = "params" in query && Array.isArray(query.params) ? query.params : [];
  return `${query.sql}\n${params.map((param, index) => `  ?${index + 1} = ${print(param)}\n`).join("")}`;
}
