/** The tables that plans refer to by name: connections and embeddings. */
import type { ConnectionPlan, EmbeddingPlan } from "../../runtime/abi/plan.js";
import { SECRET_SOURCES } from "../../runtime/secrets/descriptors.js";
import { CompilerBug } from "../bug.js";
import type { Resolved, ResolvedConnection, ResolvedEmbedding, ResolvedTool } from "../ir.js";
import { compact, unlessEmpty } from "./compact.js";
import { canonicalJson } from "../../runtime/abi/fingerprint.js";
import { queryBlockOf } from "./query.js";

function connectionPlan(connection: ResolvedConnection): ConnectionPlan {
  const { provider, fields } = connection.credentials;
  return compact<ConnectionPlan>({
    backend: connection.backend,
    settings: connection.settings,
    // A provider that fetches nothing only says that the settings were interpolated.
    credentials: SECRET_SOURCES[provider].load === null ? undefined : { provider, ...fields },
  });
}

/** Every connection of the catalog, in its order. */
export function connectionPlans(resolved: Resolved): { readonly [name: string]: ConnectionPlan } {
  return Object.fromEntries(resolved.connections.map((connection) => [connection.name, connectionPlan(connection)]));
}

/** Names for the distinct embeddings of a catalog. */
export interface EmbeddingNames {
  readonly table: { readonly [name: string]: EmbeddingPlan };
  nameOf(embedding: ResolvedEmbedding): string;
}

function embeddingPlan({ provider, model, dims, space, config }: ResolvedEmbedding): EmbeddingPlan {
  return compact<EmbeddingPlan>({ provider, model, dims: dims ?? undefined, space: space ?? undefined, config: unlessEmpty(config) });
}

/**
 * One entry for each distinct embedding that a tool uses, in order of first use. The catalog's default is called
 * `default`; others `provider/model`, with `#2`, `#3` … where only their settings differ.
 */
export function embeddingNames(tools: readonly ResolvedTool[]): EmbeddingNames {
  const used = tools.flatMap((tool) => queryBlockOf(tool)?.embedding ?? []);
  const plans = new Map(used.map((embedding) => [canonicalJson(embeddingPlan(embedding)), embeddingPlan(embedding)]));
  const inherited = used.find(({ origin }) => origin === "default");
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [key, plan] of plans) {
    const base = inherited !== undefined && canonicalJson(embeddingPlan(inherited)) === key ? "default" : `${plan.provider}/${plan.model}`;
    let name = base;
    for (let n = 2; taken.has(name); n += 1) name = `${base}#${n}`;
    taken.add(name);
    names.set(key, name);
  }
  return {
    table: Object.fromEntries([...plans].map(([key, plan]) => [names.get(key), plan])),
    nameOf(embedding) {
      const name = names.get(canonicalJson(embeddingPlan(embedding)));
      if (name === undefined) throw new CompilerBug(`embedding ${embedding.model} has no name`);
      return name;
    },
  };
}
