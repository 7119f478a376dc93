/** A program whose tools need no store: each does one thing that a test of serving wants to see. */
import { z } from "zod";
import type { CallContext, Envelope, Program, StepWatch, ToolHandler } from "../../runtime/abi/call.js";
import { BackendError, ToolError } from "../../runtime/abi/errors.js";
import type { ToolDefinition, Validator } from "../../runtime/abi/params.js";
import { ABI, type ToolPlan } from "../../runtime/abi/plan.js";
import { pathToFileURL } from "node:url";
import { root } from "../lib/repo.js";

interface FixtureTool {
  readonly description: string;
  readonly input: z.ZodObject;
  readonly inputSchema: ToolDefinition["inputSchema"];
  readonly run: (args: { readonly [name: string]: unknown }, call: CallContext) => Promise<Envelope>;
}

/** An envelope around rows. */
export function rowsEnvelope(rows: Envelope["rows"], call: CallContext): Envelope {
  return {
    rows, count: rows.length, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none",
    warnings: call.warnings, latency_ms: 0, compiled_query: null, message: null,
  };
}

const NO_INPUT = { input: z.object({}), inputSchema: { type: "object", properties: {}, required: [] } } as const;

const TOOLS: { readonly [name: string]: FixtureTool } = {
  echo: {
    description: "Returns its text in one row",
    input: z.object({ text: z.string(), times: z.int().min(1).max(100_000).default(1) }),
    inputSchema: { type: "object", properties: { text: { type: "string" }, times: { type: "integer", minimum: 1, maximum: 100_000, default: 1 } }, required: ["text"] },
    run: async ({ text, times }, call) => rowsEnvelope([{ _id: 1, text: String(text).repeat(Number(times)) }], call),
  },
  wait: {
    description: "Ends after some milliseconds, or when it is cancelled",
    input: z.object({ ms: z.int().min(0) }),
    inputSchema: { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] },
    run: ({ ms }, call) => new Promise((resolve, reject) => {
      call.watch?.step("pipeline", "begin", "wait", {}).end(0);
      const timer = setTimeout(() => resolve(rowsEnvelope([{ _id: 1, waited: ms }], call)), Number(ms));
      call.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(call.signal.reason);
      });
    }),
  },
  store_down: { ...NO_INPUT, description: "Fails as a dead store does", run: () => Promise.reject(new BackendError("unreachable", "sqlite", "cannot open the file")) },
  bug: { ...NO_INPUT, description: "Fails as a bug does", run: () => Promise.reject(new TypeError("secret of the implementation")) },
  forbidden: { ...NO_INPUT, description: "Fails as a refusal does", run: () => Promise.reject(new ToolError("auth_error", "tool 'forbidden' is not permitted for role viewer")) },
  limited: { ...NO_INPUT, description: "Fails as a rate limit does", run: () => Promise.reject(new ToolError("rate_limited", "too many calls", { retry_after_s: 7 })) },
  stray: {
    ...NO_INPUT, description: "Writes to standard output, as a careless library does",
    run: async (_, call) => {
      process.stdout.write("stray output\n");
      return rowsEnvelope([], call);
    },
  },
};

/** Does two steps with a pause between them, fails one, and goes on with another when its answer has gone. */
export const stages: ToolHandler = async (_: never, call: CallContext) => {
  const step = (operation: string): StepWatch | undefined => call.watch?.step("pipeline", operation, "stages", {});
  step("one")?.end(0);
  await new Promise((resolve) => setImmediate(resolve));
  step("broken")?.fail(new Error("not told"));
  step("two")?.end(0);
  setImmediate(() => step("late")?.end(0));
  return rowsEnvelope([], call);
};

/** @param extra handlers of more tools, which take no arguments. */
export function fixtureProgram(settings: Program["settings"] = {}, extra: { readonly [name: string]: ToolHandler } = {}): Program {
  const plan: ToolPlan = { kind: "count", connection: "none", collection: "none", bind: [] };
  const names = [...Object.keys(TOOLS), ...Object.keys(extra)];
  return {
    abi: ABI,
    catalog: { file: "tools.yaml", version: "3", hash: `sha256:${"0".repeat(64)}` },
    settings,
    connections: {},
    embeddings: {},
    plans: Object.fromEntries(names.map((name) => [name, plan])),
    tools: names.map((name) => ({
      name,
      title: name.replaceAll("_", " "),
      description: TOOLS[name]?.description ?? name,
      inputSchema: TOOLS[name]?.inputSchema ?? NO_INPUT.inputSchema,
    })),
    code: async () => ({
      handlers: { ...Object.fromEntries(Object.entries(TOOLS).map(([name, tool]) => [name, tool.run as ToolHandler])), ...extra },
      validators: Object.fromEntries(names.map((name) => [name, (TOOLS[name]?.input ?? NO_INPUT.input) as Validator])),
    }),
    adapters: {},
    base: pathToFileURL(`${root}/`),
  };
}
