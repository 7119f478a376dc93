/**
 * References to environment values in a program. The compiler leaves every `${NAME}` open; this file is the only place
 * that replaces them, so each way to run a catalog gets the same plans and the same hash. A reference is tagged by a key
 * with `$`; the compiler refuses such keys in a catalog, so no text or map of a user can be taken for one.
 */
import { isRecord } from "../base/paths.js";
import type { EnvRef, Json, TextReference } from "./plan.js";

export type Env = ReadonlyMap<string, string>;

/** Keys that mark a reference. A catalog may not use them where references are allowed. */
export const RESERVED_KEYS: readonly string[] = ["$env", "$concat"];

/** A value with its references, and what it is without them. */
type Filled<T> = T extends TextReference ? string : T extends readonly (infer Item)[] ? readonly Filled<Item>[] : T extends object ? { readonly [K in keyof T]: Filled<T[K]> } : T;

/**
 * The value with every reference replaced. A variable that is set but empty counts as set; a filled text is not looked
 * at again. Names without a value and without a default go to `missing`, and their text is empty.
 */
export function fill<T>(value: T, env: Env, missing: Set<string>): Filled<T> {
  return fillJson(value as unknown as Json, env, missing) as Filled<T>;
}

/** Names that a value refers to and that have neither a value nor a default, in the order of the value. */
export function missingNames(value: unknown, env: Env): readonly string[] {
  const missing = new Set<string>();
  fillJson(value as Json, env, missing);
  return [...missing];
}

export function hasReferences(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReferences);
  if (!isRecord(value)) return false;
  return isReference(value) || isConcat(value) || Object.values(value).some(hasReferences);
}

function fillJson(value: Json, env: Env, missing: Set<string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => fillJson(item, env, missing));
  if (!isRecord(value)) return value;
  if (isReference(value)) return lookUp(value, env, missing);
  if (isConcat(value)) return value.$concat.map((part) => (typeof part === "string" ? part : lookUp(part, env, missing))).join("");
  return Object.fromEntries(Object.entries(value as { readonly [key: string]: Json }).map(([key, item]) => [key, fillJson(item, env, missing)]));
}

function lookUp(reference: EnvRef, env: Env, missing: Set<string>): string {
  const value = env.get(reference.$env) ?? reference.default;
  if (value === undefined) missing.add(reference.$env);
  return value ?? "";
}

function isReference(value: object): value is EnvRef {
  return "$env" in value;
}

function isConcat(value: object): value is { readonly $concat: readonly (string | EnvRef)[] } {
  return "$concat" in value;
}
