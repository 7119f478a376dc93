/** `toolsrv discover`: proposes a draft for each collection of a connection. Never edits the catalog, never approves. */
import { resolve } from "node:path";
import { discoveryReport, discoveryText, type DiscoveryReport } from "../../discover/report.js";
import { hasErrors } from "../../diagnostics.js";
import { collectionNames, introspect } from "../../schema/introspect.js";
import { openConnection } from "../../schema/open-connection.js";
import { UsageError, type CommandModule } from "../command.js";
import { EXIT } from "../exit.js";
import { requireExperimental } from "../experimental.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  requireExperimental(invocation, "discover");
  const collections = collectionNames(invocation);
  const out = typeof options["out"] === "string" ? options["out"] : "tools.discovered.drafts.yaml";
  const path = resolve(io.cwd, out);
  if ((await io.host.realPath(path)) === (await io.host.realPath(resolve(io.cwd, args[0] ?? "")))) throw new UsageError("--out is the catalog; discover never writes it");
  const opened = await openConnection(invocation, io, "discover");
  if (typeof opened === "string") return opened === "no catalog" ? EXIT.USAGE : EXIT.LIVE;
  if (hasErrors(opened.diagnostics)) {
    opened.print();
    return EXIT.LIVE;
  }
  const schema = await introspect(opened, { command: "discover", collections, redacted: false }, io);
  if (schema === null) return EXIT.LIVE;
  const report = discoveryReport(schema, { catalog: opened.resolved, connection: opened.connection, env: opened.env });
  await io.host.write(path, discoveryText(report));
  io.stderr.write(summary(report, out));
  return EXIT.OK;
};

function summary({ drafts, tenant_field_candidates: candidates }: DiscoveryReport, out: string): string {
  const failed = drafts.filter(({ issues }) => issues.some(({ severity }) => severity === "error")).length;
  const tenants = Object.entries(candidates).filter(([, paths]) => paths.length > 0);
  return [
    `wrote ${out}: ${drafts.length} draft(s)${failed === 0 ? "" : `, ${failed} with errors`}`,
    ...tenants.map(([collection, paths]) => `${collection}: ${paths.join(", ")} may name the tenant; restrict the tool by it before you approve (security.tenancy or static_filters)`),
    "",
  ].join("\n");
}
