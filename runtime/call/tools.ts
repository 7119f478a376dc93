/** The tools that an engine runs, each with its handler: compiled tools, meta tools and extra tools. */
import type { Access, CallArgs, Envelope, Program, ToolCode } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import type { ExtraResult, ExtraTool, ExtraTools } from "../abi/extra-tools.js";
import { isRecord } from "../base/paths.js";
import type { Call } from "./context.js";
import { metaHandler, META_TOOLS } from "./meta-tools.js";
import type { Validator } from "../abi/params.js";
import type { Json } from "../abi/plan.js";
import { argumentCheck, type ArgumentCheck } from "./steps/arguments.js";
import { validateArgs } from "./steps/validate.js";

/** Milliseconds a call may take where neither the caller nor the catalog says. */
export const DEFAULT_DEADLINE_MS = 25_000;

type Handler = (args: CallArgs, call: Call) => Promise<Envelope | ExtraResult>;

export interface RunnableTool {
  readonly kind: "compiled" | "meta" | "extra";
  readonly handler: Handler;
  /** Milliseconds for a call whose caller gives none: the tool's own, else the catalog's. */
  readonly deadlineMs: number;
  /** Capabilities that the client must have. */
  readonly needs: readonly string[];
  /**
   * The arguments as the handler takes them: defaults applied, unknown names dropped.
   * @throws ToolError invalid_arguments that names each argument and what was expected of it.
   */
  validate(args: unknown): CallArgs;
}

/** The tools by name; a name is a meta tool, else a compiled one, else an extra one. */
export interface RunnableTools {
  get(tool: string): RunnableTool | undefined;
  /** Names of the compiled and the extra tools. */
  names(): readonly string[];
}

const NO_NEEDS: readonly string[] = [];

class CompiledTool implements RunnableTool {
  readonly kind = "compiled";
  readonly needs = NO_NEEDS;
  /** Made by the first call: of the tools that a server has, few are used. */
  private check: ArgumentCheck | null = null;

  constructor(
    readonly handler: Handler,
    private readonly validator: Validator,
    /** What the tool advertises; absent for one that tools/list does not show. */
    private readonly inputSchema: Json | undefined,
    readonly deadlineMs: number,
  ) {}

  validate(args: unknown): CallArgs {
    this.check ??= argumentCheck(this.inputSchema);
    return this.check.accept(args) ?? this.check.withInstants(validateArgs(this.validator, args));
  }
}

/** @throws Error when a plan has no handler or validator: the parts of the program do not belong together. */
export function runnableTools(program: Program, { handlers, validators }: ToolCode, access: Access, metaTools: boolean): RunnableTools {
  const { plans, settings, tools: definitions, extra } = program;
  const tools = new Map<string, RunnableTool>();
  const schemas = new Map(definitions.map((definition) => [definition.name, definition.inputSchema]));
  const defaultMs = settings.deadline_s === undefined ? DEFAULT_DEADLINE_MS : settings.deadline_s * 1000;
  for (const [name, plan] of Object.entries(plans)) {
    const handler = handlers[name] as Handler | undefined;
    const validator = validators[name];
    if (handler === undefined || validator === undefined) throw new Error(`tool '${name}' has a plan but no handler or validator`);
    tools.set(name, new CompiledTool(handler, validator, schemas.get(name), plan.deadline_s === undefined ? defaultMs : plan.deadline_s * 1000));
  }
  for (const { name } of metaTools ? META_TOOLS : []) {
    // run_tool reads its arguments itself: models quote the inner ones.
    tools.set(name, { kind: "meta", handler: metaHandler(name, program, access), deadlineMs: defaultMs, needs: NO_NEEDS, validate: (args) => (isRecord(args) ? args : {}) });
  }
  const compiled = Object.keys(plans);
  if (extra === undefined) return { get: (name) => tools.get(name), names: () => compiled };
  return {
    get: (name) => tools.get(name) ?? extraTool(extra, name, defaultMs),
    names: () => [...compiled, ...extra.definitions.map(({ name }) => name)],
  };
}

/** Looked up for each call: the list may change at any time. */
function extraTool(extra: ExtraTools, name: string, deadlineMs: number): RunnableTool | undefined {
  const definition = extra.definitions.find((one) => one.name === name);
  if (definition === undefined) return undefined;
  return {
    kind: "extra",
    needs: definition.needs ?? NO_NEEDS,
    deadlineMs,
    validate: (args) => validateExtra(definition, args),
    async handler(args, call) {
      // Starts the deadline, which ends the call whether or not the tool listens to the signal.
      if (call.signal.aborted) throw call.signal.reason;
      return extra.call(name, args, call);
    },
  };
}

function validateExtra({ validator }: ExtraTool, args: unknown): CallArgs {
  if (validator !== undefined) return validateArgs(validator, args);
  if (args === undefined || args === null) return {};
  if (!isRecord(args)) throw new ToolError("invalid_arguments", "arguments: expected object");
  return args;
}
