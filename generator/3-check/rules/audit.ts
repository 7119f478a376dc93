/** Rules about audit records: what is written about them is in force. */
import { nearestName } from "../../../runtime/base/nearest.js";
import { isRecord } from "../../../runtime/base/paths.js";
import type { Path } from "../../ir.js";
import type { Rule } from "../rule.js";

const AT: Path = ["observability", "audit"];

/** The key that has a sink's address. */
const ADDRESS: { readonly [sink: string]: "path" | "url" } = { file: "path", http: "url", otlp: "url" };
const EXAMPLE = { path: "path: ./audit.jsonl", url: "url: https://logs.example.com" } as const;

export const auditInForce: Rule = ({ catalog }, reporter) => {
  const audit = catalog.parsed.value.observability?.audit;
  if (audit?.enabled !== true) return;
  const sink = audit.sink ?? (isText(audit.path) ? "file" : "stdout");
  const needed = ADDRESS[sink] ?? null;
  const refuse = (detail: string, key: string, help: string): void => reporter.report("TS0253", { detail }, { path: [...AT, key], ...(key === "enabled" ? {} : { on: "key" as const }) }, { severity: "error", help });
  if (needed !== null && !isText(audit[needed])) refuse(`sink ${sink} needs ${needed}`, audit.sink === undefined ? "enabled" : "sink", `add ${EXAMPLE[needed]}`);
  for (const key of ["path", "url"] as const) {
    if (key === needed || !isText(audit[key])) continue;
    const wanted = key === "path" ? "file" : "http or otlp";
    refuse(`${key} is of sink ${wanted}, and the sink is ${sink}`, key, `write sink: ${wanted}, or remove ${key}`);
  }
  // A reference is open until the server starts, which looks at the value then.
  const plan = catalog.settings.observability?.["audit"];
  const url = isRecord(plan) ? plan["url"] : null;
  if (needed === "url" && isText(url) && !isWeb(url)) refuse("url is no http:// or https:// URL", "url", `write ${EXAMPLE.url}`);
  if (audit.chain === true && sink !== "file") refuse(`chain links the records of a file, and the sink is ${sink}`, "chain", "write sink: file and a path, or remove chain");
};

/** A name that is misspelt records the calls that were meant to stay out. One that is like no tool is what a removed tool left behind. */
export const auditedTools: Rule = ({ catalog }, reporter) => {
  const audit = catalog.parsed.value.observability?.audit;
  if (audit?.enabled !== true) return;
  const names = new Set(catalog.tools.map(({ name }) => name));
  for (const [index, name] of (audit.exclude_tools ?? []).entries()) {
    if (typeof name !== "string" || names.has(name) || SERVER_TOOLS.has(name)) continue;
    const guess = nearestName(name, names);
    reporter.report("TS0253", { detail: `exclude_tools names '${name}', which is not a tool` }, { path: [...AT, "exclude_tools", index] }, guess === null ? { severity: "warning", help: "remove it, or add the tool" } : { severity: "error", help: `did you mean '${guess}'? Calls of that tool would be recorded` });
  }
};

/** Tools that the server adds. */
const SERVER_TOOLS: ReadonlySet<string> = new Set(["list_available_tools", "run_tool", "describe_collection", "define_tool", "get_started", "list_my_connections", "ping"]);

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isWeb(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
