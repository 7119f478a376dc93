/** The interface of a provider: one secret, fetched when it is asked for. */
import { BackendError, ToolError } from "../abi/errors.js";

/** Texts by the name of a connection's field. */
export type SecretValues = { readonly [field: string]: string };

/** What a provider may use of its surroundings. */
export interface SecretWorld {
  /** A variable: of the env file, else of the process. Undefined for an empty one. */
  variable(name: string): string | undefined;
  readFile(path: string): Promise<string>;
  /** Imports an optional package. */
  find(name: string): Promise<unknown>;
  /** Takes each credential that is used, so that the log can hide it. */
  learned(secret: string): void;
}

export interface SecretSource {
  /**
   * The values as they are now. Stops when the signal aborts.
   * @throws ToolError missing_env for a secret that is not there or not for us; BackendError unreachable.
   */
  fetch(signal: AbortSignal): Promise<SecretValues>;
}

/** What each `secrets/<provider>/index.ts` exports as `source`. */
export interface SourceModule {
  /** The settings of the provider's block, filled. @throws ToolError missing_env for what it needs beside them. */
  open(settings: { readonly [key: string]: unknown }, world: SecretWorld): SecretSource;
}

/** Trying again does not help: `who` names the provider and the secret, `help` says what does. Never with a value. */
export function unusable(who: string, problem: string, help: string, cause?: unknown): ToolError {
  return new ToolError("missing_env", `${who}: ${problem}; ${help}`, {}, { cause });
}

/** Trying again may help. */
export function unreachable(provider: string, who: string, problem: string, cause?: unknown): BackendError {
  return new BackendError("unreachable", provider, `${who}: ${problem}`, { cause });
}

/** The texts of a JSON object, other scalars as their text; `null` for anything else. */
export function readValues(value: unknown): SecretValues | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const kept = Object.entries(value).filter(([, each]) => ["string", "number", "boolean"].includes(typeof each));
  return Object.fromEntries(kept.map(([field, each]) => [field, String(each)]));
}

/** A setting of the block as text; undefined where there is none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
