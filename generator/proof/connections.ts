/** The stores of a program against those of the catalog: the address decides what any guard is about. */
import { isRecord } from "../../runtime/base/paths.js";
import { tdsSchema } from "../1-parse/schema.gen.js";
import type { Problem } from "./certify.js";
import { same, sameAsWritten } from "./same.js";
import type { Json } from "./written.js";

/** Keys of a connection that are no settings of its backend. */
const COMMON = new Set(["backend", "builtin_tools", "builtin_defaults", "credentials"]);

/** Settings of a backend with their defaults, as the catalog's JSON Schema lists them; null for an unknown backend. */
function settingsOf(backend: unknown): ReadonlyMap<string, unknown> | null {
  const schemas = Object.values(tdsSchema.definitions) as readonly unknown[];
  for (const schema of schemas) {
    const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
    if (!isRecord(properties["backend"]) || properties["backend"]["const"] !== backend || backend === undefined) continue;
    return new Map(Object.entries(properties).filter(([key]) => !COMMON.has(key)).map(([key, property]) => [key, isRecord(property) ? property["default"] : undefined]));
  }
  return null;
}

export function reportConnections(planned: Json, catalog: Json, lost: (problem: Problem) => void): void {
  const written = isRecord(catalog["connections"]) ? catalog["connections"] : {};
  for (const name of new Set([...Object.keys(written), ...Object.keys(planned)])) {
    const missing = (guard: string): void => lost({ tool: null, at: ["connections", name], branch: `connections.${name}`, guard });
    const [wanted, held] = [Object.hasOwn(written, name) ? written[name] : undefined, Object.hasOwn(planned, name) ? planned[name] : undefined];
    if (!isRecord(wanted) || !isRecord(held)) missing(`that the connection is in ${isRecord(wanted) ? "the plans" : "the catalog"}`);
    else reportConnection(wanted, held, missing);
  }
}

function reportConnection(written: Json, planned: Json, missing: (guard: string) => void): void {
  const keys = settingsOf(written["backend"]);
  if (keys === null || planned["backend"] !== written["backend"]) return missing(`backend '${String(written["backend"])}'`);
  const settings = isRecord(planned["settings"]) ? planned["settings"] : {};
  for (const [key, fallback] of keys) {
    const wanted = written[key] === undefined ? fallback : written[key];
    if (!sameAsWritten(settings[key] ?? null, wanted ?? null)) missing(`the written '${key}'`);
  }
  for (const key of Object.keys(settings)) if (!keys.has(key)) missing(`the setting '${key}', which the catalog's schema does not have,`);
  for (const key of Object.keys(planned)) if (!["backend", "settings", "credentials"].includes(key)) missing(`'${key}', which the proof does not know,`);
  reportCredentials(isRecord(written["credentials"]) ? written["credentials"] : {}, planned["credentials"], missing);
}

/** `env` only says that the settings hold references. */
function reportCredentials(written: Json, planned: unknown, missing: (guard: string) => void): void {
  const { provider = "env" } = written;
  const wanted = provider === "env" ? undefined : { ...(isRecord(written[String(provider)]) ? (written[String(provider)] as Json) : {}) };
  const { provider: held, ...fields } = isRecord(planned) ? planned : {};
  const isSame = wanted === undefined ? planned === undefined : held === provider && sameAsWritten(fields, wanted);
  if (!isSame && !same(planned, wanted)) missing("the written credentials");
}
