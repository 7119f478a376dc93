/** The file of --api-keys-file: a JSON object of keys, each with {principal, claims}. No message holds a key. */
import { readFileSync, statSync } from "node:fs";
import type { Principal } from "../abi/call.js";
import { firstDuplicate } from "../base/json-duplicates.js";
import { isRecord } from "../base/paths.js";
import { systemProblem } from "../base/system-error.js";

/** A shorter key can be guessed. */
const SHORT_KEY = 16;
/** What a client can send in a header as it is: no white space, and no comma, which joins repeated headers. */
const SENDABLE = /^[\x21-\x2b\x2d-\x7e]+$/;
const ENTRY_KEYS = ["principal", "claims"];

export interface ApiKey {
  readonly key: string;
  readonly principal: Principal;
}

export interface ApiKeys {
  /** In the order of the file. */
  readonly keys: readonly ApiKey[];
  readonly warnings: readonly string[];
}

/**
 * The file as it is after a signal. What is no regular file, such as a pipe, can be read once, at the start: reading it
 * again would wait for ever, and every request with it.
 * @throws ApiKeysError
 */
export function readApiKeysAgain(file: string): ApiKeys {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new ApiKeysError(`the API keys file ${file} cannot be used: it is not a regular file, which alone can be read again`);
  return readApiKeys(file);
}

/** Why a file cannot be used: what, where, what to do. */
export class ApiKeysError extends Error {
  override readonly name = "ApiKeysError";
}

/** @throws ApiKeysError; a file is used whole or not at all. */
export function readApiKeys(file: string): ApiKeys {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new ApiKeysError(`the API keys file ${file} cannot be used: ${systemProblem(error) ?? "it is not UTF-8"}`);
  }
  return parseApiKeys(text, file);
}

/** @throws ApiKeysError */
export function parseApiKeys(text: string, file: string): ApiKeys {
  const refuse = (problem: string): never => {
    throw new ApiKeysError(`the API keys file ${file} cannot be used: ${problem}`);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse(`it is not JSON${placeOf(text, error)}`);
  }
  if (!isRecord(value) || Array.isArray(value)) return refuse('it must be a JSON object: {"KEY": {"principal": "NAME", "claims": {}}}');
  const twice = firstDuplicate(text);
  if (twice !== null) refuse(twice.depth === 1 ? `the key on line ${twice.line} is there twice; which entry counts would be chance` : `'${twice.name}' on line ${twice.line} is there twice`);
  const keys = Object.entries(value).map(([key, entry], index) => ({ key, principal: principalOf(key, entry, `entry ${index + 1}`, refuse) }));
  return { keys, warnings: warningsOf(keys, file) };
}

function principalOf(key: string, entry: unknown, where: string, refuse: (problem: string) => never): Principal {
  if (!SENDABLE.test(key)) return refuse(`the key of ${where} is ${key === "" ? "empty" : "not one that a client can send: use letters, digits and punctuation of ASCII, without spaces and commas"}`);
  if (!isRecord(entry) || Array.isArray(entry)) return refuse(`${where} is not an object with principal and claims`);
  const { principal, claims = {} } = entry;
  const stray = Object.keys(entry).find((name) => !ENTRY_KEYS.includes(name));
  if (stray !== undefined) return refuse(`${where} has '${stray}'; an entry has principal and claims`);
  if (typeof principal !== "string" || principal === "") return refuse(`${where} needs a principal: the name of the caller, as text`);
  if (!isRecord(claims) || Array.isArray(claims)) return refuse(`the claims of ${where} ('${principal}') are not an object`);
  return { id: principal, claims, headers: {} };
}

function warningsOf(keys: readonly ApiKey[], file: string): readonly string[] {
  const short = keys.filter(({ key }) => key.length < SHORT_KEY).map(({ principal }) => `'${principal.id}'`);
  return [
    ...(keys.length === 0 ? [`the API keys file ${file} has no key: every call is refused`] : []),
    ...(short.length === 0 ? [] : [`the API keys file ${file} has keys shorter than ${SHORT_KEY} characters, which can be guessed: of ${short.slice(0, 10).join(", ")}${short.length > 10 ? " and more" : ""}`]),
  ];
}

/** Where a text stops being JSON. The parser's own message quotes the text around the mistake, which may be a key. */
function placeOf(text: string, error: unknown): string {
  if (text.trim() === "") return ": it is empty";
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? "" : ` (line ${text.slice(0, Number(position)).split("\n").length})`;
}
