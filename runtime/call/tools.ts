/** The tools of a program with what runs each of them, looked up once for a call. */
import type { CallArgs, CallContext, Envelope, Program, ToolCode } from "../abi/call.js";
import type { Validator } from "../abi/params.js";
import type { Json } from "../abi/plan.js";
import { argumentCheck, type ArgumentCheck } from "./steps/arguments.js";
import { validateArgs } from "./steps/validate.js";

/** Milliseconds a call may take where neither the caller nor the catalog says. */
export const DEFAULT_DEADLINE_MS = 25_000;

type Handler = (args: CallArgs, call: CallContext) => Promise<Envelope>;

export type RunnableTools = ReadonlyMap<string, RunnableTool>;

export class RunnableTool {
  /** Made by the first call: of the tools that a server has, few are used. */
  private check: ArgumentCheck | null = null;

  constructor(
    readonly handler: Handler,
    private readonly validator: Validator,
    /** What the tool advertises; absent for one that tools/list does not show. */
    private readonly inputSchema: Json | undefined,
    /** Milliseconds for a call whose caller says nothing: the tool's own, else the catalog's. */
    readonly deadlineMs: number,
  ) {}

  /**
   * The arguments as the schema returns them: defaults applied, unknown names dropped.
   * @throws ToolError invalid_arguments that names each argument and what was expected of it.
   */
  validate(args: unknown): CallArgs {
    this.check ??= argumentCheck(this.inputSchema);
    return this.check.accept(args) ?? this.check.withInstants(validateArgs(this.validator, args));
  }
}

/** @throws Error when a plan has no handler or validator: the parts of the program do not belong together. */
export function runnableTools({ plans, settings, tools: definitions }: Program, { handlers, validators }: ToolCode): RunnableTools {
  const tools = new Map<string, RunnableTool>();
  const schemas = new Map(definitions.map((definition) => [definition.name, definition.inputSchema]));
  for (const [name, plan] of Object.entries(plans)) {
    const handler = handlers[name] as Handler | undefined;
    const validator = validators[name];
    if (handler === undefined || validator === undefined) throw new Error(`tool '${name}' has a plan but no handler or validator`);
    const seconds = plan.deadline_s ?? settings.deadline_s;
    tools.set(name, new RunnableTool(handler, validator, schemas.get(name), seconds === undefined ? DEFAULT_DEADLINE_MS : seconds * 1000));
  }
  return tools;
}
