/** The compiled program as it is probed: its own guards and handlers over the temporary store, and nothing that asks another service. */
import { pathToFileURL } from "node:url";
import type { Program } from "../../runtime/abi/call.js";
import { missingNames, type Env } from "../../runtime/abi/references.js";
import type { AdapterModule } from "../../runtime/adapters/adapter.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import { alone } from "../../runtime/twin/alone.js";
import type { Plans } from "../ir.js";
import { programOf } from "../program.js";
import { EMBEDDED, fileOf } from "./store.js";

/** Values for every reference; those that are not given get one of their own. */
export function probeEnv(plans: Plans, env: Env): Env {
  const missing = Object.values(plans.tools).flatMap((plan) => missingNames(plan, env));
  return new Map([...missing.map((name) => [name, `probe-value-of-${name}`] as const), ...env]);
}

/**
 * Connections, embeddings and settings are replaced; reranking and query expansion, which ask other services and show
 * no further rows, are left out. An address (namespace, tenant of a connection) is left out as well: the embedded store
 * has none.
 */
export function probeProgram(plans: Plans, folder: string, adapter: AdapterModule): Program {
  if (EMBEDDED === undefined) throw new TypeError("no backend can be filled");
  const backend = EMBEDDED.name;
  const { rbac } = plans.settings.security ?? {};
  const program = programOf({
    ...plans,
    settings: rbac === undefined ? {} : { security: { rbac } },
    connections: Object.fromEntries(Object.keys(plans.connections).map((name, index) => [name, { backend, settings: { path: fileOf(index) } }])),
    embeddings: Object.fromEntries(Object.keys(plans.embeddings).map((name) => [name, SMALLEST_EMBEDDING])),
    tools: Object.fromEntries(Object.entries(plans.tools).map(([name, plan]) => [name, alone(plan)])),
  }, { base: pathToFileURL(`${folder}/`) });
  return { ...program, adapters: { [backend]: async () => ({ adapter }) } };
}
