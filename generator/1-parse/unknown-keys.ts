/** Keys that the schema does not know: most are ignored with a warning, those that were meant to protect are refused. */
import { nearestName } from "../../runtime/base/nearest.js";
import type { At, Path } from "../ir.js";
import type { Place } from "./place.js";
import { isProtecting, misplacedHelp } from "./protecting.js";
import type { SchemaNode } from "./schema-node.js";

/**
 * Reports an unknown key: refused where it was probably meant to protect something, ignored with a warning elsewhere.
 * @returns whether what the mapping says has no meaning with it.
 */
export function reportUnknownKey(place: Place, key: string, member: unknown, { title, properties = {}, additionalProperties }: SchemaNode): boolean {
  const at = place.atKey(key);
  const known = Object.keys(properties);
  const guess = nearestName(key, known);
  const misplaced = misplacedHelp(key);
  const isGuard = title === "StaticFilterObject";
  const nearby = guess === null ? null : `did you mean '${guess}'?`;
  if (isGuard) {
    place.reporter.report("VB2021", { key }, at, nearby === null ? {} : { help: `${nearby} A misspelt guard would protect nothing, so the catalog is refused` });
  } else if (additionalProperties === false) {
    refuseKey(place, key, at, nearby ?? misplaced ?? `known here: ${known.join(", ")}`);
    return false;
  } else if (guess !== null && (isProtecting(guess) || decidesRecords(title, guess))) {
    refuseKey(place, key, at, nearby ?? "");
    return false;
  } else if (guess === null && misplaced !== null) {
    refuseKey(place, key, at, misplaced);
    return false;
  } else if (known.includes(FILTERS) && holdsConditions(member) && !isOwn(key) && !place.isTemplate(at.path)) {
    refuseKey(place, key, at, `it has conditions: did you mean '${FILTERS}'?`);
    return false;
  }
  place.reporter.report("VB0001", { key }, at, { help: nearby ?? `it is ignored; known here: ${known.join(", ")}` });
  // Keys of the author's own are left alone.
  if (isOwn(key)) return isGuard;
  place.below(key, () => searchIgnored(place, member, { path: at.path, isTemplate: null }));
  return isGuard;
}

const FILTERS = "static_filters";

function isOwn(key: string): boolean {
  return key.startsWith("x-") || key.startsWith(".");
}

/** Whether a value has a condition of a filter, such as `filters: [{path: org, op: eq, value: acme}]`. Parameters have names. */
function holdsConditions(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsConditions);
  if ("path" in value && "value" in value && !("name" in value)) return true;
  return ["must", "must_not", "and", "or"].some((key) => key in value && holdsConditions((value as { readonly [key: string]: unknown })[key]));
}

/** Mappings whose every key decides which calls leave an audit record, or what of a call is in it. */
const ABOUT_RECORDS: ReadonlySet<string | undefined> = new Set(["Audit", "AuditInclude"]);
/** Mappings above those, and the key that leads to them. */
const LEADS_TO_RECORDS: { readonly [title: string]: string } = { Catalog: "observability", Observability: "audit" };

/** Whether a key that was probably meant to be `guess` leaves calls without a record, or records what was meant to stay out. */
function decidesRecords(title: string | undefined, guess: string): boolean {
  return title !== undefined && (ABOUT_RECORDS.has(title) || LEADS_TO_RECORDS[title] === guess);
}

/** Looks for protecting keys below a key that is ignored: what they say is not in force. */
function searchIgnored(place: Place, value: unknown, top: { readonly path: Path; isTemplate: boolean | null }): void {
  if (typeof value !== "object" || value === null) return;
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, member] of entries) {
    const help = typeof key === "string" ? misplacedHelp(key) : null;
    // What is written for aliases is in force where they are.
    if (help !== null) top.isTemplate ??= place.isTemplate(top.path);
    if (help !== null && top.isTemplate === false) refuseKey(place, String(key), place.atKey(String(key)), help);
    place.below(key, () => searchIgnored(place, member, top));
  }
}

function refuseKey(place: Place, key: string, at: At, help: string): void {
  place.reporter.report("TS0112", { where: place.where(), key }, at, { help: `${help}${help.endsWith("?") ? " An" : "; an"} unknown key here is refused, because what it was meant to restrict would stay open` });
}
