/** The report as a table. */
import type { ToolReport } from "./probe.js";
import type { IsolationReport } from "./run.js";

const HEAD = ["tool", "probes", "rows", "verdict"] as const;

/** What each verdict is to a reader of the table. */
const VERDICTS: { readonly [V in ToolReport["verdict"]]: string } = {
  holds: "holds", crossed: "CROSSED", "no guard": "no guard: every caller reads all of it", "not probed": "NOT PROBED", denied: "denied to every caller",
};

/** One line a tool, what crossed below it, and what it means as a whole. */
export function isolationText({ tools, callers, outcome }: IsolationReport, catalog: string): string {
  const cells = tools.map(({ tool, probes, rows, verdict }) => [tool, String(probes), String(rows), VERDICTS[verdict]]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...cells.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : column === 3 ? cell : cell.padStart(widths[column] ?? 0))).join("  ").trimEnd();
  const lines = tools.flatMap(({ reasons }, index) => [line(cells[index] ?? []), ...reasons.map((reason) => `    ${reason}`)]);
  return `${[line(HEAD), ...lines].join("\n")}\n\ncallers: ${callers.join("; ")}\n${catalog}: ${conclusion(outcome, tools)}\n`;
}

function conclusion(outcome: IsolationReport["outcome"], tools: readonly ToolReport[]): string {
  const count = (verdict: ToolReport["verdict"]): string => {
    const number = tools.filter((tool) => tool.verdict === verdict).length;
    return `${number} tool${number === 1 ? "" : "s"}`;
  };
  switch (outcome) {
    case "holds":
      return tools.some(({ verdict }) => verdict === "no guard") ? `isolation holds where there is a guard; ${count("no guard")} without one` : "isolation holds";
    case "crossed":
      return `isolation is broken in ${count("crossed")}`;
    case "not probed":
      return `isolation is not known: ${count("not probed")} could not be probed`;
    case "open":
      return "no guard: nothing isolates tenants or rows; add security.tenancy, security.document_acl or static_filters";
    default:
      return outcome satisfies never;
  }
}
