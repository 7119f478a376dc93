/** Changes in the four formats. */
import { CHANGE_CLASSES, type Change, type ChangeClass } from "./change.js";
import type { Surface } from "./compare.js";

export const DIFF_FORMATS = ["text", "json", "sarif", "github"] as const;
export type DiffFormat = (typeof DIFF_FORMATS)[number];

const MEANING: { readonly [C in ChangeClass]: string } = {
  "isolation-weakening": "Rows, fields or tools become reachable that were not.",
  "quality-weakening": "A search may lose rows that it was certified to find.",
  breaking: "A call that worked is refused, or its result lacks something.",
  behavioural: "The same call may give another result.",
  additive: "Something new that changes nothing for those who do not use it.",
};
const SARIF_LEVEL: { readonly [C in ChangeClass]: string } = { "isolation-weakening": "error", "quality-weakening": "error", breaking: "error", behavioural: "warning", additive: "note" };
const GITHUB_LEVEL: { readonly [C in ChangeClass]: string } = { "isolation-weakening": "error", "quality-weakening": "error", breaking: "error", behavioural: "warning", additive: "notice" };

interface Printed extends Change {
  readonly file: string;
  /** Line of the tool in the new catalog; null for what is gone or concerns the whole catalog. */
  readonly line: number | null;
}

function printed(changes: readonly Change[], next: readonly Surface[]): readonly Printed[] {
  return changes.map((change) => {
    const surface = next.find(({ project }) => project === change.project) ?? (next[0] as Surface);
    return { ...change, file: catalogFile(surface), line: change.tool !== null && Object.hasOwn(surface.lines, change.tool) ? (surface.lines[change.tool] ?? null) : null };
  });
}

/** The file to point at: the catalog itself, also where only a build or a git version of it was given. */
function catalogFile({ file, catalog }: Surface): string {
  const path = file.startsWith("git:") ? file.slice(file.indexOf(":", 4) + 1) : file;
  return path.endsWith("manifest.json") ? catalog.file : path;
}

/** The whole report; formats for programs always give a complete document. */
export function printChanges(format: DiffFormat, changes: readonly Change[], next: readonly [Surface, ...Surface[]]): string {
  const rows = printed(changes, next);
  switch (format) {
    case "text":
      return textReport(rows);
    case "json":
      return `${JSON.stringify(rows.map(({ class: kind, project, tool, subject, message, file, line }) => ({ class: kind, ...(project === undefined ? {} : { project }), tool, subject, message, file, line })), null, 2)}\n`;
    case "sarif":
      return sarif(rows);
    case "github":
      return rows.map(annotation).join("");
    default:
      return format satisfies never;
  }
}

function textReport(rows: readonly Printed[]): string {
  if (rows.length === 0) return "no difference\n";
  const groups = CHANGE_CLASSES.flatMap((kind) => {
    const members = rows.filter((row) => row.class === kind);
    if (members.length === 0) return [];
    const lines = members.map(({ project, tool, subject, message, file, line }) => `  ${tool ?? (project === undefined ? "catalog" : `catalog ${project}`)} · ${subject}: ${message}${line === null ? "" : ` (${file}:${line})`}\n`);
    return [`${kind}\n${lines.join("")}`];
  });
  const counts = CHANGE_CLASSES.map((kind) => [rows.filter((row) => row.class === kind).length, kind] as const).filter(([n]) => n > 0);
  return `${groups.join("\n")}\n${counts.map(([n, kind]) => `${n} ${kind}`).join(", ")}\n`;
}

/** SARIF 2.1.0. */
function sarif(rows: readonly Printed[]): string {
  const rules = CHANGE_CLASSES.map((kind) => ({ id: kind, shortDescription: { text: MEANING[kind] }, defaultConfiguration: { level: SARIF_LEVEL[kind] } }));
  const results = rows.map(({ class: kind, tool, subject, message, file, line }) => ({
    ruleId: kind,
    ruleIndex: CHANGE_CLASSES.indexOf(kind),
    level: SARIF_LEVEL[kind],
    message: { text: `${tool === null ? "" : `${tool}: `}${subject}: ${message}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(file.replaceAll("\\", "/")) }, ...(line === null ? {} : { region: { startLine: line } }) } }],
  }));
  const run = { tool: { driver: { name: "toolsrv diff", rules } }, results };
  return `${JSON.stringify({ $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] }, null, 2)}\n`;
}

/** https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
function annotation({ class: kind, tool, subject, message, file, line }: Printed): string {
  const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const place = `file=${property(file)}${line === null ? "" : `,line=${line}`},title=${property(kind)}`;
  return `::${GITHUB_LEVEL[kind]} ${place}::${data(`${tool === null ? "" : `${tool}: `}${subject}: ${message}`)}\n`;
}
