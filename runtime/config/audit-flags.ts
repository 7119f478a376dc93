/** `--audit-log`, `--audit-sink` and `--audit-url`: as far as they can be checked before a catalog is read. */
import type { AuditFlags } from "../observe/audit/settings.js";
import { StartError } from "./exit.js";

const SINKS = ["file", "http", "otlp"] as const;

/**
 * The flags of audit; `null` when there is none.
 * @throws StartError exit 2 for flags that do not go together.
 */
export function readAuditFlags(read: (flag: "audit-log" | "audit-sink" | "audit-url") => string | null): AuditFlags | null {
  const [path, asked, url] = [read("audit-log"), read("audit-sink"), read("audit-url")];
  if (path === null && asked === null && url === null) return null;
  const named = SINKS.find((known) => known === asked);
  if (asked !== null && named === undefined) throw new StartError(`--audit-sink takes ${SINKS.slice(0, -1).join(", ")} or ${SINKS.at(-1)}, not '${asked}'`);
  if (path === "") throw new StartError("--audit-log takes the name of a file");
  if (url === "") throw new StartError("--audit-url takes a URL");
  const sink = named ?? (path === null ? null : "file");
  if (path !== null && sink !== "file") throw new StartError(`--audit-log names a file, and --audit-sink is ${sink}; give one of the two`);
  if (url !== null && sink === "file") throw new StartError("--audit-url is the address of sinks http and otlp, and the records go to a file; give one of the two");
  return { sink, path, url };
}
