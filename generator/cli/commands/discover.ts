/** `toolsrv discover`: proposes a draft for each collection of a connection. Never edits the catalog, never approves. */
import { discoveryReport, discoveryText, guardedPaths, type DiscoveryReport } from "../../discover/report.js";
import { hasErrors } from "../../diagnostics.js";
import { visible } from "../../drafts/untrusted.js";
import { collectionNames, introspect } from "../../schema/introspect.js";
import { openConnection } from "../../schema/open-connection.js";
import type { CommandModule } from "../command.js";
import { EXIT } from "../exit.js";
import { requireExperimental } from "../experimental.js";
import { refuseOverInputs, writeOutput } from "../write-output.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  requireExperimental(invocation, "discover");
  const collections = collectionNames(invocation);
  const out = typeof options["out"] === "string" ? options["out"] : "tools.discovered.drafts.yaml";
  await refuseOverInputs([out], args, io);
  const opened = await openConnection(invocation, io, "discover");
  if (typeof opened === "string") return opened === "no catalog" ? EXIT.USAGE : EXIT.LIVE;
  if (hasErrors(opened.diagnostics)) {
    opened.print();
    return EXIT.LIVE;
  }
  const schema = await introspect(opened, { command: "discover", collections, redacted: false }, io);
  if (schema === null) return EXIT.LIVE;
  const report = discoveryReport(schema, { catalog: opened.resolved, connection: opened.connection, env: opened.env });
  await writeOutput(out, discoveryText(report), io);
  io.stderr.write(summary(report, out, guardedPaths(opened.resolved, opened.connection)));
  return EXIT.OK;
};

/** A field that restricts every tool already needs no advice. */
function summary({ drafts, tenant_field_candidates: candidates }: DiscoveryReport, out: string, guarded: ReadonlySet<string>): string {
  const failed = drafts.filter(({ issues }) => issues.some(({ severity }) => severity === "error")).length;
  const tenants = Object.entries(candidates).filter(([, paths]) => paths.length > 0 && !paths.some((path) => guarded.has(path)));
  return [
    `wrote ${out}: ${drafts.length} draft(s)${failed === 0 ? "" : `, ${failed} with errors`}`,
    ...tenants.map(([collection, paths]) => `${visible(collection)}: ${paths.join(", ")} may name the tenant; restrict the tool by it before you approve (security.tenancy or static_filters)`),
    "",
  ].join("\n");
}
