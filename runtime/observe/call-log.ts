/**
 * The call log: one line for each call, however it ended. It sees calls as an observer, so refusals are in it too.
 * A line has the tool, the caller and how the call ended, never arguments or rows; the cause of a failure is written
 * without credentials.
 */
import { isBackendError, isToolError } from "../abi/errors.js";
import type { CallObserver, ObservedCall } from "../abi/observer.js";
import { quoted, visible } from "../base/json-text.js";
import type { Scrub } from "./credentials.js";
import type { Log, LogFields, LogFormat } from "./log.js";

/** Longest tool name and principal in a line: a client may call any name. */
const MAX_NAME = 128;
const MAX_CAUSE = 2000;
const MAX_STACK = 8000;
/** Errors that one cause names; a chain may be a ring. */
const MAX_CHAIN = 5;

export interface CallLogOptions {
  readonly log: Log;
  readonly format: LogFormat;
  readonly scrub: Scrub;
  /** The trace and the span that a line names: those of the caller by default, where it named any. */
  readonly traceOf?: TraceOf;
}

export type TraceOf = (call: ObservedCall) => { readonly traceId: string; readonly spanId: string } | null;

const CALLERS: TraceOf = ({ trace }) => trace;

/** Writes ordinary ends at info, failures of stores and embedders at warn, and bugs with their stack at error. */
export function createCallLog({ log, format, scrub, traceOf = CALLERS }: CallLogOptions): CallObserver {
  const line = lineWriter(format, traceOf);
  const fieldsOf = (call: ObservedCall): LogFields => callFields(call, traceOf(call));
  return {
    end(call, error) {
      const trouble = error === null ? null : troubleOf(error);
      if (trouble === null) {
        if (log.enabled("info")) log.append(line(call));
      } else if (trouble === "backend") {
        log.warn("call failed in a backend", { ...fieldsOf(call), ...backendOf(error), cause: clip(scrub(causeText(error)), MAX_CAUSE) });
      } else {
        log.error("tool call failed", { ...fieldsOf(call), exc: clip(scrub(stackOf(error)), MAX_STACK) });
      }
    },
  };
}

/** `null` for an end that the caller alone has to do with: a refusal, a deadline, a cancelled call. */
function troubleOf(error: unknown): "backend" | "bug" | null {
  if (isBackendError(error)) return "backend";
  if (!isToolError(error) || error.code === "internal") return "bug";
  // Credentials that cannot be had: the caller can do nothing about it.
  if (error.code === "missing_env") return "backend";
  return error.cause === undefined ? null : "backend";
}

function statusOf({ outcome }: ObservedCall): string {
  return outcome === null || outcome.kind === "ok" ? "ok" : outcome.code;
}

function latencyOf({ startedMs, endedMs }: ObservedCall): number {
  return Math.max(0, Math.round((endedMs - startedMs) * 10)) / 10;
}

function callFields(call: ObservedCall, trace: ReturnType<TraceOf>): LogFields {
  return { request_id: call.requestId, ...(trace === null ? {} : { trace_id: trace.traceId, span_id: trace.spanId }), principal: nameOf(call.principal), tool: nameOf(call.tool), latency_ms: latencyOf(call), status: statusOf(call) };
}

/**
 * Makes the line of an ordinary call. Written by hand, with the text of the second kept: this is done for every call of
 * a server, and a general writer costs several times as much.
 */
function lineWriter(format: LogFormat, traceOf: TraceOf): (call: ObservedCall) => string {
  const isJson = format === "json";
  let second = Number.NaN;
  let prefix = "";
  const timeOf = ({ startedAt, startedMs, endedMs }: ObservedCall): string => {
    const ms = Math.floor(startedAt + (endedMs - startedMs));
    const current = Math.floor(ms / 1000);
    if (current !== second) {
      second = current;
      prefix = new Date(current * 1000).toISOString().slice(isJson ? 0 : 11, 20);
    }
    const rest = ms - current * 1000;
    return `${prefix}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
  };
  if (!isJson) {
    return (call) => {
      const { requestId, principal, tool } = call;
      const trace = traceOf(call);
      const traced = trace === null ? "" : ` trace_id=${trace.traceId} span_id=${trace.spanId}`;
      return `${timeOf(call)} INFO call request_id=${plain(requestId)}${traced} principal=${principal === null ? "null" : plain(nameOf(principal))} tool=${plain(nameOf(tool))} latency_ms=${latencyText(call)} status=${statusOf(call)}\n`;
    };
  }
  return (call) => {
    const { requestId, principal, tool } = call;
    const trace = traceOf(call);
    const traced = trace === null ? "" : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`;
    return (
      `{"level":"info","ts":"${timeOf(call)}Z","request_id":${quoted(requestId)}${traced},"principal":${principal === null ? "null" : quoted(nameOf(principal))}` +
      `,"tool":${quoted(nameOf(tool))},"latency_ms":${latencyText(call)},"status":"${statusOf(call)}","msg":"call"}\n`
    );
  };
}

/** A text that needs no quotes. */
const SIMPLE = /^[\w.:@-]+$/;

function plain(text: string): string {
  return SIMPLE.test(text) ? text : visible(JSON.stringify(text));
}

/** With one decimal, from integers: the general way is slow. */
function latencyText({ startedMs, endedMs }: ObservedCall): string {
  const tenths = Math.max(0, Math.round((endedMs - startedMs) * 10));
  const whole = Math.floor(tenths / 10);
  return `${whole}.${tenths - whole * 10}`;
}

function nameOf<T extends string | null>(name: T): T | string {
  return name === null ? name : clip(name, MAX_NAME);
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

function backendOf(error: unknown): LogFields {
  const failure = isBackendError(error) ? error : error instanceof Error && isBackendError(error.cause) ? error.cause : null;
  return failure === null ? {} : { backend: failure.backend, kind: failure.kind };
}

/** The messages of an error and of its causes, each once. */
function causeText(error: unknown): string {
  const messages: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CHAIN && current !== undefined && current !== null; depth += 1) {
    const message = messageOf(current);
    if (message !== messages.at(-1)) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return messages.join("; caused by: ");
}

/** Several addresses of one host fail as one error without a message of its own. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "") return error.message;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.slice(0, MAX_CHAIN).map(messageOf).join(", ");
  return "code" in error ? String(error.code) : error.name;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? String(error);
  return error.cause === undefined ? own : `${own}\ncaused by: ${causeText(error.cause)}`;
}
