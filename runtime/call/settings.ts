/** Environment references that `build` left open, filled from the values of `--env-file` when a program starts. */
import type { Program } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import { isRecord } from "../base/paths.js";
import type { Deferred, EnvRef, Json } from "../abi/plan.js";

type Env = ReadonlyMap<string, string>;

/**
 * A setting with every reference replaced. A variable that is set but empty counts as set.
 * @throws ToolError missing_env naming all variables that have neither a value nor a default.
 */
export function fillSettings(settings: { readonly [key: string]: Deferred }, env: Env): { readonly [key: string]: Json } {
  const missing = new Set<string>();
  const filled = fill(settings as Json, env, missing) as { readonly [key: string]: Json };
  refuseMissing(missing);
  return filled;
}

/**
 * Checks every reference of a program at once, so that a start fails with the whole list.
 * @throws ToolError missing_env.
 */
export function checkEnv(program: Pick<Program, "connections" | "embeddings">, env: Env): void {
  const missing = new Set<string>();
  for (const { settings } of Object.values(program.connections)) fill(settings as Json, env, missing);
  for (const { config } of Object.values(program.embeddings)) fill((config ?? {}) as Json, env, missing);
  refuseMissing(missing);
}

function refuseMissing(missing: ReadonlySet<string>): void {
  if (missing.size === 0) return;
  const names = [...missing].sort();
  throw new ToolError("missing_env", `no value for ${names.join(", ")}: add the line ${names[0]}=value to the file given with --env-file`, { names });
}

function fill(value: Json, env: Env, missing: Set<string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => fill(item, env, missing));
  if (!isRecord(value)) return value;
  if (isReference(value)) return lookUp(value, env, missing);
  if (isConcat(value)) return value.concat.map((part) => (typeof part === "string" ? part : lookUp(part, env, missing))).join("");
  return Object.fromEntries(Object.entries(value as { readonly [key: string]: Json }).map(([key, item]) => [key, fill(item, env, missing)]));
}

function lookUp(reference: EnvRef, env: Env, missing: Set<string>): string {
  const value = env.get(reference.env) ?? reference.default;
  if (value === undefined) missing.add(reference.env);
  return value ?? "";
}

function isReference(value: unknown): value is EnvRef {
  return isRecord(value) && typeof value["env"] === "string" && Object.keys(value).every((key) => key === "env" || (key === "default" && typeof value["default"] === "string"));
}

function isConcat(value: unknown): value is { readonly concat: readonly (string | EnvRef)[] } {
  return isRecord(value) && Object.keys(value).length === 1 && Array.isArray(value["concat"]) && value["concat"].every((part) => typeof part === "string" || isReference(part));
}
