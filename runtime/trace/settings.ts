/**
 * Every setting of the trace service as data: `--kebab-name`, TRACE_SERVICE_<NAME> and the key of a settings file are
 * one row. Flags win over the environment, the environment over the file.
 */
import { join } from "node:path";
import { noStateFolder, stateFolder } from "../base/state-folder.js";
import { DETECTOR_NAMES, type Detector, patternProblem } from "./ingest/redact.js";
import { PRICES_AS_OF } from "./record/price-table.js";

interface SettingRow {
  readonly kind: "switch" | "whole" | "number" | "text" | "list" | "map";
  readonly default: unknown;
  readonly min?: number;
  readonly max?: number;
  /** The bound itself is not allowed. */
  readonly above?: boolean;
  readonly oneOf?: readonly string[];
  readonly help: string;
}

export const PREFIX = "TRACE_SERVICE_";

function rows<const T extends { readonly [name: string]: SettingRow }>(table: T): T {
  return table;
}

export const SETTINGS = rows({
  enabled: { kind: "switch", default: true, help: "off starts nothing, opens nothing and records nothing" },
  host: { kind: "text", default: "127.0.0.1", help: "address to bind; anything but loopback needs a token" },
  port: { kind: "whole", default: 7842, min: 0, max: 65_535, help: "0 picks a free port" },
  port_auto: { kind: "switch", default: true, help: "try the next 20 ports, then any, when the port is taken" },
  auth_token: { kind: "text", default: null, help: "bearer token that every gated endpoint asks for" },
  project_name: { kind: "text", default: null, help: "label shown by /api/health and the user interface" },
  public_url: { kind: "text", default: null, help: "address under which a proxy shows the service" },
  print_run_url: { kind: "switch", default: true, help: "an embedded service prints a link for each new run on stderr" },
  start_server: { kind: "switch", default: true, help: "an embedded service listens; off records only" },
  read_only: { kind: "switch", default: false, help: "only show: nothing is taken, deleted, ended or retired" },
  cors_origins: { kind: "list", default: [], help: "origins of web pages that may use the API; * is all of them" },
  store: { kind: "text", default: "sqlite", oneOf: ["sqlite", "postgres"], help: "sqlite: files in data_dir; postgres: the database of store_url, which several services can share" },
  store_url: { kind: "text", default: null, help: "postgresql://USER:PASSWORD@HOST:5432/DATABASE; better given as a variable than as a flag" },
  store_schema: { kind: "text", default: "toolsrv_trace", help: "schema of the tables in that database, made when there is none" },
  data_dir: { kind: "text", default: null, help: "directory of the database (default ~/.toolsrv/trace)" },
  db_filename: { kind: "text", default: "traces.db", help: "name of the database in the directory" },
  blob_subdir: { kind: "text", default: "blobs", help: "folder of the payloads in the directory" },
  db_pool_size: { kind: "whole", default: 1, min: 1, max: 16, help: "threads that read; with postgres, connections" },
  queue_maxsize: { kind: "whole", default: 50_000, min: 1, help: "events that may wait to be written" },
  queue_max_bytes: { kind: "whole", default: 67_108_864, min: 1, help: "bytes of events that may wait to be written" },
  worker_batch_size: { kind: "whole", default: 500, min: 1, max: 50_000, help: "events of one transaction" },
  worker_batch_timeout: { kind: "number", default: 0.005, min: 0, above: true, max: 60, help: "seconds that a batch may wait to become full" },
  sample_rate: { kind: "number", default: 1, min: 0, max: 1, help: "share of runs that are kept" },
  per_run_event_cap: { kind: "whole", default: 50_000, min: 1, help: "events of one run; its end is always kept" },
  summary_max_chars: { kind: "whole", default: 500, min: 1, max: 100_000, help: "length of a step's summary" },
  max_runs: { kind: "whole", default: 10_000, min: 1, help: "older ended runs are deleted beyond" },
  max_blob_size_gb: { kind: "number", default: 10, min: 0, above: true, help: "payloads of the oldest runs are deleted beyond" },
  max_age_days: { kind: "number", default: 0, min: 0, help: "ended runs that started before are deleted; 0 keeps every age" },
  stale_run_timeout_s: { kind: "number", default: 3600, min: 0, above: true, help: "a running run without events for so long is failed as interrupted" },
  settle_run_timeout_s: { kind: "number", default: 60, min: 0, above: true, help: "a run whose root never came and in which nothing is open ends after so long" },
  redact_patterns: { kind: "list", default: [], help: "regular expressions (linear time: no lookahead, no backreference) whose matches are replaced before anything is stored" },
  redact_replacement: { kind: "text", default: "[REDACTED]", help: "what takes their place" },
  redact_detectors: { kind: "list", default: ["api_keys", "jwts", "cards"], oneOf: DETECTOR_NAMES, help: `built-in detectors: ${DETECTOR_NAMES.join(", ")}` },
  model_prices: { kind: "map", default: {}, help: `dollars per million tokens, by the start of a model's name: {"MODEL": {"input": 2.5, "output": 10}}; beside the list prices of ${PRICES_AS_OF}` },
  otlp_endpoint: { kind: "text", default: null, help: "collector that ended runs are sent to as spans; /v1/traces is added" },
  otlp_service_name: { kind: "text", default: "toolsrv", help: "service.name of those spans" },
  otlp_headers: { kind: "map", default: {}, help: 'headers of those requests: {"authorization": "Bearer …"}' },
  log_level: { kind: "text", default: "warn", oneOf: ["trace", "debug", "info", "warn", "warning", "error", "silent"], help: "least severe message that is logged" },
  startup_health_timeout_s: { kind: "number", default: 15, min: 0, above: true, help: "time that an embedded service may take to listen" },
});

export type SettingName = keyof typeof SETTINGS;

type ValueOf<Row extends SettingRow> = Row["kind"] extends "switch"
  ? boolean
  : Row["kind"] extends "whole" | "number"
    ? number
    : Row["kind"] extends "list"
      ? readonly string[]
      : Row["kind"] extends "map"
        ? { readonly [key: string]: unknown }
        : Row["default"] extends null
          ? string | null
          : string;

export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };
/** Where the service may listen without a token. */
const OPEN_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** A setting that can't be used: one line for a person. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

/** Values by setting name, as they come from flags, variables or a file. */
export type GivenSettings = { readonly [name: string]: unknown };

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** `--worker-batch-size` */
export function flagOf(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

/** Settings from variables of the environment; lists and maps are JSON. Names that are not settings are no concern of ours. */
export function environmentSettings(environment: { readonly [name: string]: string | undefined }): GivenSettings {
  return Object.fromEntries(SETTING_NAMES.flatMap((name) => {
    const value = environment[`${PREFIX}${name.toUpperCase()}`];
    return value === undefined ? [] : [[name, value] as const];
  }));
}

/**
 * Settings from several places, earlier ones first; what none gives has its default.
 * @throws SettingError for a value that breaks its rule, or a non-loopback host without a token.
 */
export function resolveSettings(...places: readonly { readonly from: (name: string) => string; readonly given: GivenSettings }[]): Settings {
  const values: { [name: string]: unknown } = {};
  for (const name of SETTING_NAMES) {
    const place = places.find(({ given }) => given[name] !== undefined);
    values[name] = place === undefined ? SETTINGS[name].default : read(name, place.given[name], place.from(name));
  }
  for (const { given, from } of places) {
    for (const name of Object.keys(given)) if (!(name in SETTINGS)) throw new SettingError(`${from(name)} is not a setting`);
  }
  values["data_dir"] ??= defaultDirectory();
  const settings = values as unknown as Settings;
  if (settings.enabled && settings.start_server && !OPEN_HOSTS.has(settings.host.toLowerCase()) && settings.auth_token === null) {
    throw new SettingError(`host ${settings.host} needs a token: set ${PREFIX}AUTH_TOKEN, or bind 127.0.0.1, localhost or ::1`);
  }
  // RFC 6750 has no other characters, and HTTP libraries cut others off a header's end.
  if (settings.auth_token !== null && !/^[\x21-\x7e]+$/.test(settings.auth_token)) throw new SettingError("auth_token must be visible ASCII characters without spaces");
  const problem = settings.otlp_endpoint === null ? null : endpointProblem(settings.otlp_endpoint);
  if (problem !== null) throw new SettingError(`otlp_endpoint ${problem}`);
  for (const name of ["db_filename", "blob_subdir"] as const) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(settings[name])) throw new SettingError(`${name} must be a plain file name, not '${settings[name]}'`);
  }
  checkStore(settings);
  return settings;
}

const TRACES = "trace";

/** A directory of the embedded store in the user's home, by default that of the service; `null` without a home. */
export function defaultDirectory(name = TRACES, home?: string): string | null {
  const folder = stateFolder(home);
  return folder === null ? null : join(folder, name);
}

export const NO_DATA_DIRECTORY = noStateFolder("the traces", "--data-dir");

/** @throws SettingError when none is given and the user has no home: a relative one would be another one in each working directory. */
export function dataDirectory({ data_dir }: Pick<Settings, "data_dir">): string {
  if (data_dir === null) throw new SettingError(NO_DATA_DIRECTORY);
  return data_dir;
}

/** Without the text itself: it may hold a password. */
function endpointProblem(endpoint: string): string | null {
  if (!URL.canParse(endpoint)) return "must be an address such as http://127.0.0.1:4318";
  const { protocol, username, password } = new URL(endpoint);
  if (protocol !== "http:" && protocol !== "https:") return "must be an http:// or https:// address";
  return username === "" && password === "" ? null : "must not hold credentials; they belong into otlp_headers";
}

function checkStore({ store, store_url, store_schema }: Settings): void {
  if (store === "postgres" && store_url === null) throw new SettingError("store postgres needs store_url: postgresql://USER:PASSWORD@HOST:5432/DATABASE");
  if (store !== "postgres" && store_url !== null) throw new SettingError("store_url is only for store postgres");
  const problem = store_url === null ? null : urlProblem(store_url);
  if (problem !== null) throw new SettingError(`store_url ${problem}`);
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(store_schema)) throw new SettingError(`store_schema must be 1 to 40 small letters, digits and underscores, not '${store_schema}'`);
}

/** What is wrong with the URL of a database, or `null`; never with a part of it. */
export function urlProblem(url: string): string | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== "postgresql:" && parsed.protocol !== "postgres:")) return "must look like postgresql://USER:PASSWORD@HOST:5432/DATABASE";
  return parsed.pathname.length < 2 ? "must end with the name of a database" : null;
}

function read(name: SettingName, given: unknown, from: string): unknown {
  const row: SettingRow = SETTINGS[name];
  const fail = (rule: string): never => {
    throw new SettingError(`${from} must be ${rule}, not ${SECRET.has(name) ? "what was given" : JSON.stringify(given)}`);
  };
  switch (row.kind) {
    case "switch": {
      if (typeof given === "boolean") return given;
      const text = String(given).toLowerCase();
      if (["1", "true", "yes", "on"].includes(text)) return true;
      return ["0", "false", "no", "off"].includes(text) ? false : fail("true or false");
    }
    case "whole":
    case "number": {
      const value = typeof given === "number" ? given : typeof given === "string" && given.trim() !== "" ? Number(given) : Number.NaN;
      const { min = -Infinity, max = Infinity } = row;
      const whole = row.kind === "whole";
      const fits = (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) && value <= max && (row.above === true ? value > min : value >= min);
      const low = row.above === true ? `above ${min}` : `from ${min}`;
      return fits ? value : fail(`a ${whole ? "whole number" : "number"} ${low}${max === Infinity ? "" : ` to ${max}`}`);
    }
    case "text":
      if (typeof given !== "string") return fail("text");
      if (row.oneOf !== undefined && !row.oneOf.includes(given.toLowerCase())) return fail(`one of ${row.oneOf.join(", ")}`);
      if (given === "") return row.default === null ? null : fail("text that is not empty");
      return row.oneOf === undefined ? given : given.toLowerCase();
    case "list": {
      const value = json(given);
      if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) return fail("a JSON list of texts");
      if (row.oneOf !== undefined && !value.every((item) => row.oneOf?.includes(item as string))) return fail(`a JSON list of ${row.oneOf.join(", ")}`);
      if (name === "redact_patterns") checkPatterns(value as readonly string[], from);
      return value;
    }
    case "map": {
      const value = json(given);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return fail("a JSON object");
      if (name === "otlp_headers" && !Object.entries(value).every(isHeader)) return fail("a JSON object of header names and texts");
      if (name === "model_prices" && !Object.values(value).every(isPrice)) return fail('a JSON object of {"input": number, "output": number}');
      return value;
    }
    default:
      return row.kind satisfies never;
  }
}

/** A pattern that is left out would keep what it is there to hide. @throws SettingError */
function checkPatterns(patterns: readonly string[], from: string): void {
  for (const pattern of patterns) {
    const problem = patternProblem(pattern);
    if (problem !== null) throw new SettingError(`${from} has a pattern that can't be used: ${pattern} (${problem}); lookahead and backreferences are not supported`);
  }
}

function json(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

/** Settings whose values are in no message. */
const SECRET: ReadonlySet<SettingName> = new Set(["auth_token", "otlp_headers", "store_url"]);

function isHeader([name, value]: [string, unknown]): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && typeof value === "string" && /^[\t\x20-\x7e]*$/.test(value);
}

function isPrice(value: unknown): boolean {
  const price = value as { readonly input?: unknown; readonly output?: unknown } | null;
  return typeof price === "object" && price !== null && typeof price.input === "number" && typeof price.output === "number" && price.input >= 0 && price.output >= 0;
}

export type { Detector };
