/** What differs between two steps, and whether it makes sense to compare them. */
import { field, isFields, isList, type Json, type Message } from "../../trace/messages/message.js";
import { chatOf } from "./chat.js";
import type { Delta } from "./comparison.js";
import { type DiffPart, diffLines, diffWords } from "./diff.js";
import type { Span } from "./spans.js";

/** One of the steps with its payloads; `null` where there is none, or it is not loaded. */
export interface StepSide {
  readonly span: Span;
  readonly input: Json;
  readonly output: Json;
}

export function stepDeltas({ span: a }: StepSide, { span: b }: StepSide): readonly Delta[] {
  const deltas: readonly Delta[] = [
    { term: "Duration", unit: "ms", a: a.durationMs, b: b.durationMs },
    { term: "Tokens in", unit: "count", a: a.tokensIn, b: b.tokensIn },
    { term: "Tokens out", unit: "count", a: a.tokensOut, b: b.tokensOut },
    { term: "Cost", unit: "usd", a: a.costUsd, b: b.costUsd },
  ];
  return deltas.filter((delta) => delta.a !== null || delta.b !== null);
}

const KIND_WORDS: { readonly [kind in Span["kind"]]: string } = { agent: "agent", chain: "chain", tool: "tool", llm: "model", retriever: "retriever", run: "run", mark: "event" };

/** Why the steps should not be compared, or what to keep in mind; empty when nothing. */
export function stepWarnings({ span: a }: StepSide, { span: b }: StepSide): readonly string[] {
  if (a.id === b.id) return ["Both are the same step."];
  if (a.kind !== b.kind) return [`The steps can't be compared: one is a call of a ${KIND_WORDS[a.kind]} (${a.name}), the other of a ${KIND_WORDS[b.kind]} (${b.name}).`];
  const warnings: string[] = [];
  if (a.name !== b.name || a.server !== b.server) warnings.push(`The steps called different things (${placeOf(a)} and ${placeOf(b)}): differences may mean nothing.`);
  if (a.model !== b.model && a.model !== null && b.model !== null) warnings.push(`The models differ (${a.model} and ${b.model}): they count tokens and cost each in its own way.`);
  if (a.state === "open" || b.state === "open") warnings.push("A step without an end is compared as far as it has come.");
  return warnings;
}

function placeOf({ server, name }: Span): string {
  return server === null ? name : `${server}/${name}`;
}

export interface TextChange {
  readonly title: string;
  /** Both are equal. */
  readonly same: boolean;
  readonly parts: readonly DiffPart[];
}

/** Texts beyond this are compared by lines, and no further than the limit. */
const WORDS_CHARS = 12_000;
const MAX_CHARS = 200_000;

/** Prompts and answers as texts where both steps hold messages, else the payloads as data. What both lack is left out. */
export function textChanges(a: StepSide, b: StepSide): readonly TextChange[] {
  const [chatA, chatB] = [chatOf(a.input, a.output, a.span.kind), chatOf(b.input, b.output, b.span.kind)];
  const changes = chatA !== null && chatB !== null
    ? [changeOf("Prompt", saidText([...chatA.earlier, ...chatA.fresh]), saidText([...chatB.earlier, ...chatB.fresh]), false), changeOf("Answer", saidText(chatA.output), saidText(chatB.output), false)]
    : [changeOf("Input", dataText(a.input), dataText(b.input), true), changeOf("Output", dataText(a.output), dataText(b.output), true)];
  changes.push(changeOf("Error", a.span.error ?? "", b.span.error ?? "", false));
  return changes.flatMap((change) => change ?? []);
}

function changeOf(title: string, a: string, b: string, data: boolean): TextChange | null {
  if (a === "" && b === "") return null;
  const byWords = !data && a.length + b.length <= WORDS_CHARS;
  return { title, same: a === b, parts: byWords ? diffWords(a, b) : diffLines(a.slice(0, MAX_CHARS), b.slice(0, MAX_CHARS)) };
}

function dataText(value: Json): string {
  return value === null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function saidText(messages: readonly Message[]): string {
  return messages.map((message) => {
    const calls = message.tool_calls.map((call) => `→ ${call.name}(${typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)})`);
    const other = message.other.map((part) => JSON.stringify(part));
    return [`${message.role}:`, message.text, ...calls, ...other].filter((line) => line !== "").join("\n");
  }).join("\n\n");
}

/** Keys under which frameworks send the tools that a model may call. */
const TOOL_KEYS = new Set(["tools", "functions", "available_tools"]);
const MAX_DEPTH = 6;
const MAX_VALUES = 5000;

/** Names of the tools that a request offers to a model, wherever the framework puts them; sorted, each once. */
export function toolSetOf(input: Json): readonly string[] {
  const names = new Set<string>();
  const waiting: { readonly value: Json; readonly depth: number }[] = [{ value: input, depth: 0 }];
  for (let seen = 0; waiting.length > 0 && seen < MAX_VALUES; seen++) {
    const next = waiting.pop();
    if (next === undefined || typeof next.value !== "object" || next.value === null || next.depth > MAX_DEPTH) continue;
    const entries: readonly (readonly [string, Json])[] = isList(next.value) ? next.value.map((item) => ["", item] as const) : Object.entries(next.value);
    for (const [key, value] of entries) {
      if (TOOL_KEYS.has(key) && isList(value)) for (const tool of value) addNames(tool, names);
      else waiting.push({ value, depth: next.depth + 1 });
    }
  }
  return [...names].sort();
}

/** `{name}`, `{function: {name}}`, or Gemini's list of declarations. */
function addNames(tool: Json, names: Set<string>): void {
  if (typeof tool === "string") names.add(tool);
  if (!isFields(tool)) return;
  const declared = field(tool, "functionDeclarations") ?? field(tool, "function_declarations") ?? [];
  for (const holder of [tool, field(tool, "function") ?? null, ...(isList(declared) ? declared : [])]) {
    const name = isFields(holder) ? field(holder, "name") : undefined;
    if (typeof name === "string") names.add(name);
  }
}

export interface SetChange {
  readonly both: readonly string[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
}

/** `null` when neither step offers tools. */
export function toolSetChange(a: StepSide, b: StepSide): SetChange | null {
  const [setA, setB] = [toolSetOf(a.input), toolSetOf(b.input)];
  if (setA.length + setB.length === 0) return null;
  return { both: setA.filter((name) => setB.includes(name)), onlyA: setA.filter((name) => !setB.includes(name)), onlyB: setB.filter((name) => !setA.includes(name)) };
}
