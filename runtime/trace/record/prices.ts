/** What a model's tokens cost: by the longest start of its name that has a price, in the settings or in the table. */
import { LIST_PRICES, type Price } from "./price-table.js";

export type Prices = { readonly [model: string]: Price };

/** The price of a model; `null` when none is known. */
export type PriceOf = (model: string) => Price | null;

/** A row of the prices in force; `own` is one of the settings. */
export interface PriceRow extends Price {
  readonly model: string;
  readonly own: boolean;
}

/** Every price in force, by the start of a model's name; sorted by that. */
export function priceRows(own: Prices): readonly PriceRow[] {
  const listed = Object.entries(LIST_PRICES).filter(([model]) => !Object.hasOwn(own, model)).map(([model, price]) => ({ model, input: price.input, output: price.output, own: false }));
  const given = Object.entries(own).map(([model, price]) => ({ model, input: price.input, output: price.output, own: true }));
  return [...listed, ...given].sort((a, b) => (a.model < b.model ? -1 : 1));
}

/** Names of models come from senders. */
const MAX_CACHED = 1000;

/** Prices of the settings, and below them the list prices. */
export function createPrices(own: Prices): PriceOf {
  const rows = [
    ...Object.entries(own).map(([name, price]) => ({ name, price, matches: isContinued })),
    ...Object.entries(LIST_PRICES).filter(([name]) => !Object.hasOwn(own, name)).map(([name, price]) => ({ name, price, matches: isVersion })),
  ].sort((a, b) => b.name.length - a.name.length);
  const find = (model: string): Price | null => rows.find(({ name, matches }) => model.startsWith(name) && matches(model.slice(name.length)))?.price ?? null;
  const found = new Map<string, Price | null>();
  return (model) => {
    const known = found.get(model);
    if (known !== undefined) return known;
    const price = find(model) ?? find(withoutProvider(model));
    if (found.size >= MAX_CACHED) found.clear();
    found.set(model, price);
    return price;
  };
}

/** `openai/gpt-4o`, `models/gemini-2.5-pro`, `us.anthropic.claude-sonnet-4-20250514-v1:0` */
function withoutProvider(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "");
}

/** A row of the settings counts for every name that goes on after a separator. */
function isContinued(rest: string): boolean {
  return rest === "" || /^[-@:.]/.test(rest);
}

/**
 * A row of the table counts for versions of its model alone, as `-2024-07-18` or `@20240620`: another model that only
 * begins with the same letters, as `gpt-4o-audio`, has another price.
 */
function isVersion(rest: string): boolean {
  if (rest === "") return true;
  if (!/^[-@:]/.test(rest)) return false;
  const [first = "", ...parts] = rest.slice(1).split(/[-@:]/);
  return /^(?:\d{3,}|v\d+|latest|preview|exp)$/.test(first) && parts.every((part) => /^(?:\d+|v\d+|latest|preview|exp)$/.test(part));
}
