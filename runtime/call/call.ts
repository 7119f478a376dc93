/**
 * THE order of one tool call, written once. Every way in ends here: both transports, run_tool, `toolsrv test`,
 * the library. A step may refuse with a ToolError; nothing after it runs.
 */
import type { Access, CallArgs, CallContext, CallServices, Caller, CallWatch, Envelope, Program, ToolCode } from "../abi/call.js";
import { isBackendError, isToolError, ToolError } from "../abi/errors.js";
import { authorize } from "./authorize.js";
import { Call } from "./context.js";
import { isUnresolved } from "./directory.js";
import { emptyEnvelope } from "./envelope.js";
import { alsoTelling, observeCall, type Observing } from "./observe.js";
import type { ProgramServices } from "./services.js";
import { validateArgs } from "./validate.js";

/** Milliseconds a call may take where neither the caller nor the catalog says. */
export const DEFAULT_DEADLINE_MS = 25_000;

/** What all calls of a program share. */
export interface Running {
  readonly program: Program;
  readonly access: Access;
  readonly services: ProgramServices;
  /** For calls of tools that name none of their own. */
  readonly deadlineMs: number;
  /** `null` when nobody watches the calls. */
  readonly observing: Observing | null;
  /** Validators and handlers, once they are loaded. */
  readonly code: ToolCode | null;
  load(): Promise<ToolCode>;
}

/**
 * Runs one tool for one caller. Promises by hand, not an async function: each await of the way costs every call.
 * @throws ToolError for everything the caller can understand; anything else is a bug.
 */
export function runCall(running: Running, tool: string, args: unknown, caller: Caller): Promise<Envelope> {
  const observing = caller.onStep === undefined || caller.onStep === null ? running.observing : alsoTelling(running.observing, caller.onStep);
  if (observing === null) return runSteps(running, tool, args, caller, running.services, null);
  return observeCall(running, observing, tool, args, caller, (services, watch) => runSteps(running, tool, args, caller, services, watch));
}

function runSteps(running: Running, tool: string, args: unknown, caller: Caller, services: CallServices, watch: CallWatch | null): Promise<Envelope> {
  const { code } = running;
  return code === null ? running.load().then((loaded) => start(running, loaded, tool, args, caller, services, watch)) : start(running, code, tool, args, caller, services, watch);
}

type Handler = (args: CallArgs, call: CallContext) => Promise<Envelope>;

/** What throws in here rejects the promise. */
function start(running: Running, code: ToolCode, tool: string, args: unknown, caller: Caller, services: CallServices, watch: CallWatch | null): Promise<Envelope> {
  return new Promise((resolve, reject) => {
    authorize(running.program, running.access, tool, caller.principal);
    const handler = code.handlers[tool] as Handler | undefined;
    const validator = code.validators[tool];
    if (handler === undefined || validator === undefined) throw new Error(`tool '${tool}' has a plan but no handler or validator`);
    const validated = validateArgs(validator, args);
    const call = new Call(tool, caller, deadlineOf(running, tool, caller), services, watch);
    const fail = (error: unknown): void => {
      if (isUnresolved(error)) resolve(emptyEnvelope(error.message, call));
      else reject(callerError(error, call));
      call.deadline.end();
    };
    try {
      handler(validated, call).then((envelope) => {
        resolve(envelope);
        call.deadline.end();
      }, fail);
      // The handler's result or the deadline's error, whichever is first, even where a step ignores the signal.
      call.deadline.onAbort(fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Milliseconds for one call: the caller's word, else the tool's, else the catalog's. */
function deadlineOf({ program, deadlineMs }: Running, tool: string, caller: Caller): number {
  const ownS = program.plans[tool]?.deadline_s;
  return caller.deadlineMs ?? (ownS === undefined ? deadlineMs : ownS * 1000);
}

/** Trouble of a store in the caller's words; a step that failed because it was aborted reports the abort. */
function callerError(error: unknown, call: Call): unknown {
  if (call.deadline.aborted) return call.signal.reason;
  if (isToolError(error)) return error;
  if (!isBackendError(error)) return error;
  return new ToolError(error.kind === "unsupported" ? "invalid_arguments" : "backend_unreachable", error.message, { backend: error.backend, kind: error.kind }, { cause: error });
}
