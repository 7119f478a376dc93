/** Models that choose tools: any endpoint that speaks the chat completions API, or a script for machines without one. */
import { isRecord } from "../../runtime/base/paths.js";
import { isSecureUrl } from "../../runtime/base/web.js";
import type { Choice } from "./checks.js";
import { meantTool, type ShownTool } from "./hosts.js";
import { ModelProblem, type ChooseTool } from "./run.js";
import type { Scenario } from "./scenarios.js";

const TIMEOUT_MS = 60_000;
/** Longest answer that is read. */
const MAX_ANSWER = 1_000_000;

export interface ModelSettings {
  readonly model: string;
  /** Address of the API, without `/chat/completions`. */
  readonly url: string;
  /** Null for an endpoint that asks for none. */
  readonly apiKey: string | null;
}

export interface Shown {
  readonly tools: readonly ShownTool[];
}

/** Why an address cannot be used; null for one that can. A key is sent over TLS or to this machine only. */
export function urlProblem(url: string, hasKey: boolean): string | null {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return "it is not a URL";
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return "it is not an http address";
  if (parsed.username !== "" || parsed.password !== "") return "it has a password in it; write the key to the env file";
  return hasKey && !isSecureUrl(parsed) ? "the key would be sent without TLS; use https" : null;
}

/** Asks an endpoint with the tools as functions; the request is the only message. */
export function endpointModel({ model, url, apiKey }: ModelSettings, { tools }: Shown, send: typeof fetch = fetch): ChooseTool {
  const functions = tools.map(({ name, description, inputSchema }) => ({ type: "function", function: { name, description, parameters: inputSchema } }));
  return async ({ request }, signal) => {
    const body = JSON.stringify({ model, temperature: 0, messages: [{ role: "user", content: request }], tools: functions, tool_choice: "auto" });
    const headers = { "content-type": "application/json", ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) };
    const text = await answerTo(send, `${url.replace(/\/+$/, "")}/chat/completions`, { method: "POST", headers, body, redirect: "error", signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) }, signal);
    return choiceIn(text, tools);
  };
}

async function answerTo(send: typeof fetch, url: string, init: RequestInit, stop: AbortSignal): Promise<string> {
  try {
    const response = await send(url, init);
    if (!response.ok) {
      await response.body?.cancel();
      throw new ModelProblem(`HTTP ${response.status}`);
    }
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ANSWER) throw new ModelProblem("the answer is too long");
    }
    return text;
  } catch (error) {
    if (stop.aborted || error instanceof ModelProblem) throw error;
    throw new ModelProblem(error instanceof Error && error.name === "TimeoutError" ? `no answer after ${TIMEOUT_MS / 1000} s` : "the endpoint cannot be reached", { cause: error });
  }
}

/** The first tool call of an answer. */
function choiceIn(text: string, tools: readonly ShownTool[]): Choice {
  const message = messageIn(text);
  const calls = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as readonly unknown[]) : [];
  const [first] = calls;
  if (first === undefined) return { tool: null, arguments: {} };
  const called = isRecord(first) && isRecord(first["function"]) ? first["function"] : {};
  if (typeof called["name"] !== "string") throw new ModelProblem("the answer has a tool call without a name");
  return meantTool(called["name"], argumentsIn(called["arguments"]), tools);
}

function messageIn(text: string): { readonly [key: string]: unknown } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ModelProblem("the answer is not JSON");
  }
  const [choice] = isRecord(answer) && Array.isArray(answer["choices"]) ? (answer["choices"] as readonly unknown[]) : [];
  if (!isRecord(choice) || !isRecord(choice["message"])) throw new ModelProblem("the answer has no message");
  return choice["message"];
}

function argumentsIn(text: unknown): { readonly [name: string]: unknown } {
  if (text === undefined || text === null || text === "") return {};
  try {
    const args: unknown = typeof text === "string" ? JSON.parse(text) : text;
    if (isRecord(args)) return args;
  } catch {
    // Reported below.
  }
  throw new ModelProblem("the arguments of the tool call are not a JSON object");
}

/** What a script says, by the name of a scenario or by its request. */
export interface Script {
  readonly [nameOrRequest: string]: { readonly tool: string | null; readonly arguments?: { readonly [name: string]: unknown } };
}

/** A script, or what is wrong with its text. */
export function readScript(text: string): Script | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `it is not JSON: ${(error as SyntaxError).message}` };
  }
  if (!isRecord(value)) return { problem: "it is not an object of requests" };
  for (const [request, choice] of Object.entries(value)) {
    const isChoice = isRecord(choice) && (choice["tool"] === null || typeof choice["tool"] === "string") && (choice["arguments"] === undefined || isRecord(choice["arguments"]));
    if (!isChoice) return { problem: `'${request.slice(0, 80)}' is not {"tool": NAME, "arguments": {…}}` };
  }
  return value as Script;
}

/** Chooses what the script says; a request that it does not have is a model without an answer. */
export function scriptedModel(script: Script, { tools }: Shown): ChooseTool {
  return ({ name, request }: Scenario) => {
    const found = [name, request ?? ""].find((key) => Object.hasOwn(script, key));
    const choice = found === undefined ? undefined : script[found];
    if (choice === undefined) return Promise.reject(new ModelProblem("the script has no line for this request"));
    if (choice.tool === null) return Promise.resolve({ tool: null, arguments: {} });
    const shown = tools.find((one) => one.name === choice.tool) ?? tools.find(({ tool }) => tool === choice.tool);
    if (shown === undefined) return Promise.reject(new ModelProblem(`the script names '${choice.tool}', which the host does not show`));
    return Promise.resolve(meantTool(shown.name, choice.arguments ?? {}, tools));
  };
}
