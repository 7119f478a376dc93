/** Reads which tools a server offers. */
import type { components } from "../api.types.gen.js";
import { whole } from "./event.js";

type Invalid = components["schemas"]["ValidationError"];

export type Registration = { readonly server: string; readonly tools: readonly string[] } | { readonly invalid: readonly Invalid[] };

const MAX_TOOLS = 10_000;
const MAX_NAME = 200;

export function readRegistration(value: unknown): Registration {
  const fields = (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}) as { readonly server?: unknown; readonly tools?: unknown };
  const invalid: Invalid[] = [];
  const server = nameOf(fields.server, ["body", "server"], invalid);
  const given = fields.tools;
  if (!Array.isArray(given)) invalid.push({ type: "list_type", loc: ["body", "tools"], msg: "must be a list", input: given ?? null });
  else if (given.length > MAX_TOOLS) invalid.push({ type: "too_long", loc: ["body", "tools"], msg: `must have at most ${MAX_TOOLS} entries`, input: given.length, ctx: { max_length: MAX_TOOLS } });
  const tools = Array.isArray(given) && given.length <= MAX_TOOLS ? given.map((tool, index) => nameOf(tool, ["body", "tools", index], invalid)) : [];
  return invalid.length > 0 ? { invalid } : { server, tools };
}

function nameOf(value: unknown, loc: (string | number)[], invalid: Invalid[]): string {
  if (typeof value !== "string") invalid.push({ type: value === undefined ? "missing" : "string_type", loc, msg: value === undefined ? "is required" : "must be text", input: value ?? null });
  else if (value === "") invalid.push({ type: "string_too_short", loc, msg: "must have at least 1 character", input: value, ctx: { min_length: 1 } });
  else if (value.length > MAX_NAME && [...value].length > MAX_NAME) invalid.push({ type: "string_too_long", loc, msg: `must have at most ${MAX_NAME} characters`, input: value, ctx: { max_length: MAX_NAME } });
  return typeof value === "string" ? whole(value) : "";
}
