/** Tools that a model may confuse: pairs whose names, descriptions and parameters nearly say the same. Pure. */
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { isRecord } from "../../runtime/base/paths.js";
import { wordsOf } from "../../runtime/base/text.js";

/** Vectors of a batch of texts; one a text. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

export interface ConfusedPair {
  readonly a: string;
  readonly b: string;
  /** 0–1, the weighted likeness of the three parts. */
  readonly likeness: number;
  readonly parts: { readonly name: number; readonly description: number; readonly parameters: number };
  /** Words of the description of one that the other does not have; the requests are made of them. */
  readonly only: { readonly a: readonly string[]; readonly b: readonly string[] };
}

/** How much each part counts: descriptions decide most. */
const WEIGHTS = { name: 0.25, description: 0.5, parameters: 0.25 } as const;
/** Pairs at least this much alike are reported; chosen on labelled pairs, whose figures are in docs/evals.md. */
export const CONFUSING = 0.45;
/** Pairs that are reported, the likest first. */
const MAX_PAIRS = 200;
/** Pairs compared between two turns of the event loop. */
const SLICE = 100_000;

interface Part {
  readonly name: Float32Array;
  readonly description: Float32Array;
  readonly parameters: Float32Array;
}

/**
 * The pairs, likest first. Words that most descriptions of the catalog share tell no tools apart, so they are left out.
 * @param onRow after each tool was compared with those behind it
 * @param least pairs less alike are left out
 */
export async function confusedPairs(tools: readonly ToolDefinition[], embed: EmbedTexts, onRow: (done: number) => void = () => undefined, least = CONFUSING): Promise<readonly ConfusedPair[]> {
  const common = commonWords(tools);
  const texts = tools.flatMap((tool) => [tool.name.replaceAll("_", " "), tellingWords(tool.description, common).join(" "), parameterText(tool)]);
  const vectors = await embed(texts);
  const parts = tools.map((_, index): Part => ({ name: vectors[index * 3] as Float32Array, description: vectors[index * 3 + 1] as Float32Array, parameters: vectors[index * 3 + 2] as Float32Array }));
  const found: ConfusedPair[] = [];
  let compared = 0;
  for (let i = 0; i < tools.length; i += 1) {
    for (let j = i + 1; j < tools.length; j += 1) {
      const likeness = likenessOf(parts[i] as Part, parts[j] as Part);
      if (likeness.total >= least) found.push(pairOf(tools[i] as ToolDefinition, tools[j] as ToolDefinition, likeness, common));
    }
    compared += tools.length - i;
    onRow(i + 1);
    if (compared > SLICE) {
      compared = 0;
      await new Promise((resume) => setImmediate(resume));
    }
  }
  return found.sort((x, y) => y.likeness - x.likeness || (x.a + x.b < y.a + y.b ? -1 : 1)).slice(0, MAX_PAIRS);
}

function likenessOf(a: Part, b: Part): ConfusedPair["parts"] & { readonly total: number } {
  const [name, description, parameters] = [cosine(a.name, b.name), cosine(a.description, b.description), cosine(a.parameters, b.parameters)];
  return { name, description, parameters, total: WEIGHTS.name * name + WEIGHTS.description * description + WEIGHTS.parameters * parameters };
}

/** Vectors are normalised; two that are all zero are of two texts without words, which are alike. */
function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, left, right] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] as number, b[index] as number];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 && right === 0 ? 1 : Math.max(0, Math.min(1, dot));
}

function pairOf(a: ToolDefinition, b: ToolDefinition, { total, ...parts }: ReturnType<typeof likenessOf>, common: ReadonlySet<string>): ConfusedPair {
  const round = (number: number): number => Math.round(number * 1000) / 1000;
  const [left, right] = [tellingWords(a.description, common), tellingWords(b.description, common)];
  const rest = (own: readonly string[], other: readonly string[]): readonly string[] => [...new Set(own)].filter((word) => !other.includes(word));
  return {
    a: a.name, b: b.name, likeness: round(total),
    parts: { name: round(parts.name), description: round(parts.description), parameters: round(parts.parameters) },
    only: { a: rest(left, right), b: rest(right, left) },
  };
}

/** Words in more than half of the descriptions, where there are enough of them to say so. */
function commonWords(tools: readonly ToolDefinition[]): ReadonlySet<string> {
  if (tools.length < 5) return new Set();
  const counts = new Map<string, number>();
  for (const { description } of tools) for (const word of new Set(wordsOf(description))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count > tools.length / 2).map(([word]) => word));
}

function tellingWords(text: string, common: ReadonlySet<string>): readonly string[] {
  return wordsOf(text).filter((word) => !common.has(word));
}

/** Names and descriptions of the arguments, without those that every tool has. */
function parameterText({ inputSchema }: ToolDefinition): string {
  const { properties } = inputSchema as { readonly properties?: unknown };
  return Object.entries(isRecord(properties) ? properties : {}).filter(([name]) => name !== "limit").map(([name, schema]) => {
    const description = isRecord(schema) && typeof schema["description"] === "string" ? schema["description"] : "";
    return `${name.replaceAll("_", " ")} ${description}`;
  }).join(" ");
}

/** A scenario for each side of each pair that words tell apart: the request is what only its own description says. */
export function confusionScenarios(pairs: readonly ConfusedPair[], tools: readonly ToolDefinition[]): readonly { readonly name: string; readonly request: string; readonly expected_tool: string; readonly forbidden_tools: readonly string[] }[] {
  const descriptions = new Map(tools.map(({ name, description }) => [name, description]));
  return pairs.flatMap(({ a, b, only }) => [[a, b, only.a], [b, a, only.b]] as const).flatMap(([tool, other, words]) => {
    if (words.length === 0) return [];
    return [{ name: `${tool}, not ${other}`, request: requestOf(descriptions.get(tool) ?? "", words), expected_tool: tool, forbidden_tools: [other] }];
  });
}

/** The sentence of a description that has most of the telling words. */
function requestOf(description: string, words: readonly string[]): string {
  const sentences = description.split(/(?<=[.!?;])\s+/).map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
  const told = (sentence: string): number => wordsOf(sentence).filter((word) => words.includes(word)).length;
  const best = sentences.reduce((left, right) => (told(right) > told(left) ? right : left), sentences[0] ?? description);
  return best.replace(/^use (this )?(tool )?(when|if|for|to) (the user (asks|wants) (about|for|to) )?/i, "").replace(/[.;]$/, "").slice(0, 300);
}
