/** Settings without which a provider of embeddings, reranking or query expansion cannot be asked. */
import type { ProviderDescriptor } from "../../../runtime/abi/provider.js";
import { BUILT_IN_EMBEDDINGS, EMBEDDERS } from "../../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../../runtime/rerank/descriptors.js";
import type { Reporter } from "../../diagnostics.js";
import type { Path, Resolved, ResolvedQuery } from "../../ir.js";
import type { Target } from "../rule.js";

/** Models that need nothing are the other way out. */
const IN_PROCESS_HELP = `write it under config: the folder of the model in ONNX form; or use one of ${BUILT_IN_EMBEDDINGS.join(", ")}, which need none but compare words rather than meaning`;

interface Use {
  readonly descriptor: ProviderDescriptor<string>;
  readonly model: string;
  readonly what: string;
  readonly config: { readonly [key: string]: unknown };
  readonly at: Path;
  /** Instead of the code's own. */
  readonly help?: string;
}

/** Reports what every call would fail for (TS0252): an error for what is to run, a warning for what is only validated. */
export function reportProviders({ tools }: Resolved, target: Target, reporter: Reporter): void {
  if (target === "describe") return;
  const severity = target === "validate" ? "warning" : "error";
  for (const tool of tools) {
    const queries = [tool.query, ...tool.steps.map((step) => (step.kind === "retrieve" ? step.query : null))];
    const uses = queries.flatMap((query) => (query === null ? [] : ofQuery(query)));
    if (tool.rerank !== null) uses.push({ descriptor: RERANKERS[tool.rerank.provider], model: tool.rerank.model, what: "rerank", config: tool.rerank.config, at: tool.rerank.at });
    for (const { descriptor, model, what, config, at, help } of uses) {
      for (const keys of descriptor.needs(model)) {
        if (keys.some((key) => isWritten(config[key]))) continue;
        reporter.report("TS0252", { what: `${what} (provider ${descriptor.name})`, key: keys.join(" or config.") }, { path: at }, { severity, ...(help === undefined ? {} : { help }) });
      }
    }
  }
}

function ofQuery({ at, embedding, expand }: ResolvedQuery): Use[] {
  const uses: Use[] = [{ descriptor: EMBEDDERS[embedding.provider], model: embedding.model, what: "the embedding", config: embedding.config, at: embedding.at, ...(EMBEDDERS[embedding.provider].inProcess ? { help: IN_PROCESS_HELP } : {}) }];
  if (expand?.enabled === true) uses.push({ descriptor: EXPANDERS[expand.provider], model: expand.model ?? "", what: "query.expand", config: expand.config, at: [...at, "expand"] });
  return uses;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
