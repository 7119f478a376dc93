/**
 * The log: one JSON object or one line of text per event, on stderr. pino makes the records; it is loaded when the
 * first event passes the level, because most starts of a stdio server log nothing. Fields never hold arguments,
 * rows, credentials or vectors; the code that logs an event sees to that.
 */
import { visible } from "../base/json-text.js";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Wire names: request_id, principal, tool, latency_ms, … An `error` becomes `exc`, its stack. */
export type LogFields = { readonly [name: string]: unknown };

export interface Log {
  /** Whether events of this level are written; ask before making costly fields. */
  enabled(level: Exclude<LogLevel, "silent">): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /**
   * Adds a finished line with its line feed, whatever the level. Lines wait up to 20 ms and are written together: a
   * busy server has one write for many calls.
   */
  append(line: string): void;
  /** Resolves when everything logged so far is written. */
  flush(): Promise<void>;
}

export interface LogOptions {
  readonly format: LogFormat;
  readonly level: LogLevel;
  readonly write: (text: string) => void;
}

/** Characters of appended lines that wait to be written. */
const MAX_PENDING = 64 * 1024;
const PENDING_MS = 20;

type Writer = (level: Exclude<LogLevel, "silent">, message: string, fields: LogFields) => void;

/** A log that loads nothing before its first event. */
export function createLog({ format, level, write }: LogOptions): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  let writer: Writer | null = null;
  let loading: Promise<void> | null = null;
  let pending = "";

  const writePending = (): void => {
    const text = pending;
    pending = "";
    if (text !== "") write(text);
  };
  const writeNow = (text: string): void => {
    writePending();
    write(text);
  };
  const enabled = (asked: LogLevel): boolean => LOG_LEVELS.indexOf(asked) >= threshold;
  const log = (at: Exclude<LogLevel, "silent">, message: string, fields: LogFields = {}): void => {
    if (!enabled(at)) return;
    if (writer !== null) {
      writer(at, message, fields);
      return;
    }
    loading ??= afterInput();
    const ts = new Date().toISOString();
    loading = loading.then(async () => {
      writer ??= await openWriter(format, level, writeNow);
      writer(at, message, { ts, ...fields });
    });
  };
  return {
    enabled,
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    append(line) {
      if (pending === "") setTimeout(writePending, PENDING_MS);
      pending += line;
      if (pending.length > MAX_PENDING) writePending();
    },
    async flush() {
      writePending();
      await loading;
    },
  };
}

/** After the next round of input: a client's first message is not to wait for what writes a warning about the catalog. */
function afterInput(): Promise<void> {
  // The first one may come before the event loop looks for input.
  return new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
}

async function openWriter(format: LogFormat, level: LogLevel, write: (text: string) => void): Promise<Writer> {
  const { pino } = await import("pino");
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "msg",
      // The time is given by hand: an event may have waited for this module to load.
      timestamp: false,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: format === "json" ? write : (line: string) => write(textLine(JSON.parse(line) as LogFields)) },
  );
  return (at, message, { error, ...fields }) => {
    const exc = error === undefined ? {} : { exc: error instanceof Error ? (error.stack ?? String(error)) : String(error) };
    logger[at]({ ts: new Date().toISOString(), ...fields, ...exc }, message);
  };
}

/** A record for people: `12:00:00.000 WARN message name=value …`, a stack on the lines after it. */
function textLine({ level, ts, msg, exc, ...fields }: LogFields): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === "string" && /^[^\s"\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value)}`);
  const stack = typeof exc === "string" ? `\n  ${exc.replaceAll("\n", "\n  ")}` : "";
  // Lines after the first are indented: a text of a caller never looks like another record.
  return `${visible(`${String(ts).slice(11, 23)} ${String(level).toUpperCase()} ${String(msg).replaceAll("\n", "\n  ")}${rest.join("")}${stack}`)}\n`;
}
