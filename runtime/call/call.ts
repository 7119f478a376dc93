/**
 * THE order of one tool call, written once. Every way in ends here: both transports, run_tool, `toolsrv test`,
 * the library; and so does every tool: compiled ones, meta tools and extra tools. A step may refuse with a ToolError; nothing after it runs.
 */
import type { Access, CallEnd, CallServices, Caller, CallWatch, Program } from "../abi/call.js";
import { isBackendError, isToolError, ToolError } from "../abi/errors.js";
import { authorize } from "./steps/authorize.js";
import { Call } from "./context.js";
import { isUnresolved } from "./directory/directory.js";
import { emptyEnvelope } from "./envelope.js";
import { ObservedRun, observeFailure, withStepCallback, type Observing } from "./observe.js";
import type { ProgramServices } from "./services.js";
import type { RateLimit } from "../limits/rate-limit.js";
import type { RunnableTools } from "./tools.js";

/** What all calls of a program share. */
export interface Running {
  readonly program: Program;
  /** `null` where the catalog limits nothing. */
  readonly rateLimit: RateLimit | null;
  readonly access: Access;
  readonly services: ProgramServices;
  /** `null` when the calls are not observed. */
  readonly observing: Observing | null;
  /** What runs each tool, once it is loaded. */
  readonly tools: RunnableTools | null;
  load(): Promise<RunnableTools>;
}

/** Runs one tool for one caller. Ends in a callback, not a promise: each promise on the way costs every call. */
export function runCall(running: Running, tool: string, args: unknown, caller: Caller, end: CallEnd): void {
  const { onStep } = caller;
  const observing = onStep === undefined || onStep === null ? running.observing : withStepCallback(running.observing, onStep);
  if (observing === null) runSteps(running, tool, args, caller, running.services, null, end);
  else if (observing.failuresOnly === true && observing.observer.steps === undefined) runSteps(running, tool, args, caller, running.services, null, reportingFailures(running, observing, tool, args, caller, end));
  else {
    const run = new ObservedRun(running, observing, tool, args, caller, end);
    runSteps(running, tool, args, caller, run.services, run.watch, run);
  }
}

/** The end of a call whose failure is observed, and nothing else of it. */
function reportingFailures(running: Running, observing: Observing, tool: string, args: unknown, caller: Caller, end: CallEnd): CallEnd {
  const startedMs = running.services.now();
  return {
    done: (envelope) => end.done(envelope),
    doneExtra: (result) => end.doneExtra(result),
    failed(error) {
      observeFailure(running, observing, tool, args, caller, startedMs, error);
      end.failed(error);
    },
  };
}

function runSteps(running: Running, tool: string, args: unknown, caller: Caller, services: CallServices, watch: CallWatch | null, end: CallEnd): void {
  const { tools } = running;
  if (tools !== null) {
    admit(running, tools, tool, args, caller, services, watch, end);
    return;
  }
  running.load().then((loaded) => admit(running, loaded, tool, args, caller, services, watch, end)).catch((error: unknown) => end.failed(error));
}

/** Counts the call before anything of it is decided: names and roles that are guessed cost as much as a call that works. */
function admit(running: Running, tools: RunnableTools, tool: string, args: unknown, caller: Caller, services: CallServices, watch: CallWatch | null, end: CallEnd): void {
  const { rateLimit } = running;
  let waiting: Promise<void> | null = null;
  try {
    if (rateLimit !== null) waiting = rateLimit.admit({ tool, via: caller.via ?? null, args, principal: caller.principal.id });
  } catch (error) {
    end.failed(callerError(error));
    return;
  }
  if (waiting === null) start(running, tools, tool, args, caller, services, watch, end);
  else waiting.then(() => start(running, tools, tool, args, caller, services, watch, end), (error: unknown) => end.failed(callerError(error)));
}

function start(running: Running, tools: RunnableTools, tool: string, args: unknown, caller: Caller, services: CallServices, watch: CallWatch | null, end: CallEnd): void {
  let begun: Call | null = null;
  try {
    const runnable = authorize(tools, running.access, tool, caller);
    const validated = runnable.validate(args);
    const call = new Call(tool, caller, caller.deadlineMs ?? runnable.deadlineMs, services, watch, end);
    begun = call;
    runnable.handler(validated, call).then((result) => call.done(result), (error: unknown) => failed(call, error));
  } catch (error) {
    if (begun === null) end.failed(error);
    else failed(begun, error);
  }
}

function failed(call: Call, error: unknown): void {
  if (isUnresolved(error)) call.done(emptyEnvelope(error.message, call));
  else call.failed(callerError(error));
}

/** A failure of a store as the caller's error. */
function callerError(error: unknown): unknown {
  if (isToolError(error) || !isBackendError(error)) return error;
  const code = error.kind === "unsupported" ? "invalid_arguments" : error.kind === "setup" ? "internal" : "backend_unreachable";
  return new ToolError(code, error.message, { backend: error.backend, kind: error.kind }, { cause: error, retryable: error.retryable });
}
