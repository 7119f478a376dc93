/**
 * List prices of common models, dollars per million tokens, by the start of the model's name. Discounts, cached
 * tokens and long contexts are not in it: the setting `model_prices` has precedence, row by row.
 */

export interface Price {
  readonly input: number;
  readonly output: number;
}

/** The month the prices are for. They are estimates, not checked against the pages of the providers; set `model_prices` to yours. */
export const PRICES_AS_OF = "2026-01";

const row = (input: number, output: number): Price => ({ input, output });

export const LIST_PRICES: { readonly [model: string]: Price } = {
  "gpt-5": row(1.25, 10), "gpt-5-mini": row(0.25, 2), "gpt-5-nano": row(0.05, 0.4), "gpt-5-pro": row(15, 120), "gpt-5.1": row(1.25, 10), "gpt-5.2": row(1.75, 14),
  "gpt-4.1": row(2, 8), "gpt-4.1-mini": row(0.4, 1.6), "gpt-4.1-nano": row(0.1, 0.4),
  "gpt-4o": row(2.5, 10), "gpt-4o-2024-05-13": row(5, 15), "gpt-4o-mini": row(0.15, 0.6),
  "o1": row(15, 60), "o3": row(2, 8), "o3-mini": row(1.1, 4.4), "o4-mini": row(1.1, 4.4),
  "text-embedding-3-small": row(0.02, 0), "text-embedding-3-large": row(0.13, 0),
  "claude-opus-4-5": row(5, 25), "claude-opus-4-1": row(15, 75), "claude-opus-4": row(15, 75),
  "claude-sonnet-4-5": row(3, 15), "claude-sonnet-4": row(3, 15), "claude-haiku-4-5": row(1, 5),
  "claude-3-7-sonnet": row(3, 15), "claude-3-5-sonnet": row(3, 15), "claude-3-5-haiku": row(0.8, 4), "claude-3-haiku": row(0.25, 1.25), "claude-3-opus": row(15, 75),
  "gemini-3-pro": row(2, 12), "gemini-2.5-pro": row(1.25, 10), "gemini-2.5-flash": row(0.3, 2.5), "gemini-2.5-flash-lite": row(0.1, 0.4), "gemini-2.0-flash": row(0.1, 0.4),
};
