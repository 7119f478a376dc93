/** docs/reference/codes.md: every code, with what to do about it. */
import { CODES, type CodeEntry } from "../../runtime/abi/codes.js";
import { HEADER } from "./markdown.js";

/** Headings and the codes below them, in the order of the page. */
const GROUPS: readonly (readonly [string, string, RegExp])[] = [
  ["Reading the file", "The catalog could not be read, or not as a catalog.", /^TS00/],
  ["Shape", "A key is missing, or a value is not what the key takes.", /^TS01/],
  ["Within the catalog", "Parts of a catalog do not fit together.", /^TS02/],
  ["What can be compiled and run", "The catalog asks for what this version or its profile does not allow.", /^TS03/],
  ["Guards", "The compiler could not show that a filter always applies.", /^TS04/],
  ["Hosts", "Advice about the programs that show the tools to a model.", /^TS05/],
  ["Drafts", "What a proposed tool may not have, or what its approver should read.", /^TS06/],
  ["Evaluations", "A scenarios file that cannot be run as written.", /^TS07/],
  ["Loading", "Versions, unknown keys, references and secrets.", /^VB[01]/],
  ["Tools, filters and queries", "A tool that would not work as written.", /^VB2/],
  ["Advice", "A tool that works, but not well.", /^VB3/],
  ["Stores, tenants, roles and results", "Live findings, security settings, and warnings in the result of a call.", /^VB4/],
  ["Profiles and policies", "Found with --enterprise, --policy and --policy-builtin, or demanded by profiles.enterprise.", /^(?:VE|POL)/],
  ["Errors of a call", "Sent to the caller with the result.", /^[a-z]/],
];

/** The page. */
export function codesPage(): string {
  const entries = Object.entries(CODES as { readonly [code: string]: CodeEntry });
  const intro = "# Codes\n\nEvery diagnostic of the compiler and every error of a call has a code. `toolsrv validate --json` reports them as data.\nErrors refuse the catalog; warnings refuse it with `--strict`; notes never do.\n";
  const sections = GROUPS.map(([title, about, pattern]) => `\n## ${title}\n\n${about}\n${entries.filter(([name]) => pattern.test(name)).map(section).join("")}`);
  return HEADER + intro + sections.join("");
}

function section([name, entry]: readonly [string, CodeEntry]): string {
  const severity = typeof entry.severity === "string" ? severityWord(entry.severity) : entry.severity.map(severityWord).join(" or ");
  const answers = [
    ...(entry.http === undefined ? [] : [`HTTP ${entry.http}`]),
    ...(entry.rpc === undefined ? [] : [`JSON-RPC ${entry.rpc}`]),
    ...(entry.retryable === true ? ["the same call may succeed later"] : []),
  ];
  const message = holes(entry.message);
  return [
    `\n### ${name}\n`,
    `\n${severity}: **${entry.title}**${answers.length === 0 ? "" : ` (${answers.join(", ")})`}\n`,
    message === "*detail*" ? "" : `\n> ${message}\n`,
    entry.help === undefined ? "" : `\n${holes(entry.help)}\n`,
  ].join("");
}

function severityWord(severity: string): string {
  return severity === "info" ? "Note" : severity.charAt(0).toUpperCase() + severity.slice(1);
}

/** `{name}` is replaced by what the message inserts. */
function holes(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("*", "\\*").replace(/(?<!\$)\{(\w+)\}/g, "*$1*");
}
