/** Faults on request: the errors of a store or an embedder, for a share of a tool's calls, the same for the same seed. */
import type { ToolCode, ToolHandler } from "../abi/call.js";
import { BackendError, toolError } from "../abi/errors.js";
import { nearestName } from "../base/nearest.js";
import { FAULT_CODES } from "../config/serve-flags.js";
import { createRandom } from "./random.js";

export type FaultCode = (typeof FAULT_CODES)[number];

/** What a caller that is limited by a fault waits for. */
const RETRY_AFTER_S = 1;

export interface Fault {
  readonly code: FaultCode;
  readonly tool: string;
  /** Share of the calls that fail, 0 to 1. */
  readonly rate: number;
}

/** `timeout:search_movies:0.1,…` as faults, or what is wrong with it; none where nothing was asked for. */
export function readFaults(text: unknown, tools: readonly string[]): readonly Fault[] | { readonly problem: string } {
  if (typeof text !== "string") return [];
  const faults: Fault[] = [];
  for (const part of text.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const [code = "", tool = "", rate = "", ...rest] = part.split(":");
    const known = FAULT_CODES.find((one) => one === code);
    const share = Number(rate);
    if (rest.length > 0 || tool === "" || rate === "") return { problem: `'${part}' is not CODE:TOOL:RATE, such as timeout:${tools[0] ?? "search_movies"}:0.1` };
    if (known === undefined) return { problem: `'${code}' is not a fault; there are ${FAULT_CODES.join(", ")}` };
    if (!tools.includes(tool)) return { problem: `there is no tool '${tool}'${didYouMean(tool, tools)}` };
    if (!(share >= 0 && share <= 1)) return { problem: `the rate '${rate}' is not a number from 0 to 1` };
    faults.push({ code: known, tool, rate: share });
  }
  return faults.length === 0 ? { problem: "no fault is named" } : faults;
}

function didYouMean(tool: string, tools: readonly string[]): string {
  const meant = nearestName(tool, tools);
  return meant === null ? "" : `; did you mean '${meant}'?`;
}

/** The handlers, of which those with faults fail as often as asked; arguments and permissions are judged before. */
export function withFaults(code: ToolCode, faults: readonly Fault[], seed: number): ToolCode {
  const wrapped = faults.reduce<{ readonly [tool: string]: ToolHandler }>((handlers, fault) => {
    const { tool, rate } = fault;
    const handler = handlers[tool];
    if (handler === undefined) return handlers;
    const random = createRandom(`${seed}/${fault.code}/${tool}`);
    return { ...handlers, [tool]: (args, call) => (random() < rate ? Promise.reject(errorOf(fault, call.deadlineMs)) : handler(args, call)) };
  }, code.handlers);
  return { ...code, handlers: wrapped };
}

/** With the words of the real ones. */
function errorOf({ code, tool }: Fault, deadlineMs: number): Error {
  switch (code) {
    case "timeout":
      return toolError("timeout", { tool, seconds: deadlineMs / 1000 });
    case "backend_unreachable":
      return new BackendError("unreachable", "twin", "the store cannot be reached (a fault that was asked for)");
    case "embedding_error":
      return toolError("embedding_error", { detail: "the embedding service does not answer (a fault that was asked for)" });
    case "schema_drift":
      return toolError("schema_drift", { detail: "stored values have another type (a fault that was asked for)" });
    case "rate_limited":
      return toolError("rate_limited", { detail: `rate limit: a fault that was asked for; try again in ${RETRY_AFTER_S} s` }, { retry_after_s: RETRY_AFTER_S });
    case "internal":
      return new Error(`a fault of ${tool} that was asked for`);
    default:
      return code satisfies never;
  }
}
