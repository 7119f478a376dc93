/**
 * What the attributes of a span say, found in one pass over them: a span has some ten attributes, and there are a
 * hundred names by which instrumentation may say something.
 */
import { structured } from "../../deferred.js";
import { KINDS, LIST_PREFIXES, type ListPrefix, NAMES, type Slot, type SlotKind } from "./names.js";
import type { Attributes } from "./spans.js";

/** The attributes of a span, or of a resource, sorted out. */
export interface Facts {
  readonly attributes: Attributes;
  /** By slot; `undefined` where no attribute says it. */
  readonly values: readonly unknown[];
  /** Lists that are spelled by attributes of their own, as bits. */
  readonly lists: number;
  /** There are attributes of the request beside the model. */
  readonly hasParameters: boolean;
  /** Attributes that no field and no payload holds, as members of JSON, each with a comma before it. */
  readonly rest: string;
}

interface NameUse {
  readonly uses: readonly { readonly slot: number; readonly rank: number; readonly kind: SlotKind }[];
  /** A field or a payload holds it. */
  readonly isHeld: boolean;
  readonly lists: number;
  readonly isParameter: boolean;
  /** As a member of JSON. */
  readonly member: string;
}

const SLOT_NAMES = Object.keys(NAMES) as Slot[];
const INDEX = Object.fromEntries(SLOT_NAMES.map((slot, index) => [slot, index])) as { readonly [S in Slot]: number };
/** Beyond, names are looked at again each time: a sender may make them up. */
const MAX_NAMES = 5000;
const HELD: ReadonlySet<string> = new Set([
  ...NAMES.arguments, ...NAMES.result, ...NAMES.input, ...NAMES.output, ...NAMES.inputMessages, ...NAMES.outputMessages, ...NAMES.instructions, ...NAMES.definitions,
  ...NAMES.query, ...NAMES.documents, ...NAMES.toolCalls, ...NAMES.parameters,
]);
const PARAMETER = "gen_ai.request.";

/** Sorts attributes out; remembers what their names mean. */
export class FactReader {
  readonly #names = new Map<string, NameUse>();
  readonly #ranks = new Uint8Array(SLOT_NAMES.length);

  read(attributes: Attributes): Facts {
    const values = new Array<unknown>(SLOT_NAMES.length).fill(undefined);
    const ranks = this.#ranks.fill(255);
    let lists = 0;
    let hasParameters = false;
    let rest = "";
    for (const name in attributes) {
      const value = attributes[name];
      const use = this.#use(name);
      for (const { slot, rank, kind } of use.uses) {
        const found = rank < (ranks[slot] ?? 0) ? said(kind, value) : undefined;
        if (found === undefined) continue;
        values[slot] = found;
        ranks[slot] = rank;
      }
      lists |= use.lists;
      hasParameters ||= use.isParameter;
      if (!use.isHeld) rest += use.member + (typeof value === "boolean" ? String(value) : JSON.stringify(value));
    }
    return { attributes, values, lists, hasParameters, rest };
  }

  #use(name: string): NameUse {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = useOf(name);
    if (this.#names.size < MAX_NAMES) this.#names.set(name, made);
    return made;
  }
}

function useOf(name: string): NameUse {
  const uses = SLOT_NAMES.flatMap((slot) => {
    const rank = (NAMES[slot] as readonly string[]).indexOf(name);
    return rank < 0 ? [] : [{ slot: INDEX[slot], rank, kind: KINDS[slot] }];
  });
  const lists = LIST_PREFIXES.reduce((bits, prefix, index) => (name.startsWith(`${prefix}.`) ? bits | (1 << index) : bits), 0);
  return { uses, isHeld: HELD.has(name) || lists !== 0, lists, isParameter: name.startsWith(PARAMETER) && name !== `${PARAMETER}model`, member: `,${JSON.stringify(name)}:` };
}

/** A value as its slot takes it; `undefined` when it does not. */
function said(kind: SlotKind, value: unknown): unknown {
  switch (kind) {
    case "text":
      return typeof value === "string" && value !== "" ? value : undefined;
    case "value":
      return value ?? undefined;
    case "count": {
      const count = Number(value ?? Number.NaN);
      return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
    }
    case "raw":
      return value;
    default:
      return kind satisfies never;
  }
}

/** The text of a slot; `null` when there is none. */
export function textOf(facts: Facts, slot: Slot): string | null {
  const value = facts.values[INDEX[slot]];
  return typeof value === "string" ? value : null;
}

/** The whole number of a slot; `null` when there is none. */
export function countOf(facts: Facts, slot: Slot): number | null {
  return (facts.values[INDEX[slot]] as number | undefined) ?? null;
}

/** The value of a slot, `undefined` when there is none; a text that holds JSON is read. */
export function valueOf(facts: Facts, slot: Slot): unknown {
  return structured(facts.values[INDEX[slot]]);
}

/** The attribute of a slot as it came, `undefined` when there is none. */
export function rawOf(facts: Facts, slot: Slot): unknown {
  return facts.values[INDEX[slot]];
}

/** What a span asks of a model beside the messages. */
export function requestParameters({ attributes, hasParameters }: Facts): { readonly [key: string]: unknown } | undefined {
  if (!hasParameters) return undefined;
  const found = Object.entries(attributes).filter(([name]) => name.startsWith(PARAMETER) && name !== `${PARAMETER}model`);
  return Object.fromEntries(found.map(([name, value]) => [name.slice(PARAMETER.length), value]));
}

/** `llm.input_messages.0.message.role` and the like as the list they spell; `undefined` when there are none. */
export function listUnder({ attributes, lists }: Facts, prefix: ListPrefix): readonly unknown[] | undefined {
  if ((lists & (1 << LIST_PREFIXES.indexOf(prefix))) === 0) return undefined;
  const tree: { [key: string]: unknown } = {};
  const start = `${prefix}.`;
  for (const name in attributes) {
    if (!name.startsWith(start)) continue;
    const value = attributes[name];
    const path = name.slice(start.length).split(".");
    if (path.some((part) => part === "__proto__" || part === "constructor" || part === "prototype")) continue;
    let at = tree;
    for (const part of path.slice(0, -1)) {
      const inside = at[part];
      const next = typeof inside === "object" && inside !== null ? (inside as { [key: string]: unknown }) : {};
      at[part] = next;
      at = next;
    }
    at[path.at(-1) ?? ""] = value;
  }
  const list = asLists(tree);
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

function asLists(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inside]) => [key, asLists(inside)] as const);
  const isList = entries.length > 0 && entries.every(([key]) => /^\d{1,5}$/.test(key));
  return isList ? entries.sort((a, b) => Number(a[0]) - Number(b[0])).map(([, inside]) => inside) : Object.fromEntries(entries);
}
