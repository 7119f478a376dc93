/** Optional npm packages that a catalog needs; asked only where the caller can say what is installed. */
import { dirname, join } from "node:path";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import type { Reporter } from "../diagnostics.js";
import type { Host } from "../host.js";
import type { Resolved, ResolvedEmbedding } from "../ir.js";
import type { Target } from "./rules/unsupported.js";

const TRANSFORMERS = "@huggingface/transformers";
const BUILT_IN_MODEL = /^hashing-(?:256|512|1024)$/;

/** Every package that some catalog needs and toolsrv does not bring along. */
export const OPTIONAL_PACKAGES: readonly string[] = [...Object.values(DESCRIPTORS).flatMap(({ packages }) => packages), TRANSFORMERS];

/**
 * Reports each missing package once for each place that needs it (VB2019, VB4032). A store that this version can only
 * build for needs none here; asking for its client would refuse builds that work.
 */
export function reportPackages({ connections, parsed, tools }: Resolved, isInstalled: (name: string) => boolean, target: Target, reporter: Reporter): void {
  for (const { name, at, backend } of connections) {
    if (target !== "describe" && DESCRIPTORS[backend].load === undefined) continue;
    const missing = DESCRIPTORS[backend].packages.filter((extra) => !isInstalled(extra));
    if (missing.length > 0) reporter.report("VB2019", { what: `connection '${name}' (backend ${backend})`, package: missing.join(" ") }, { path: [...at, "backend"] });
  }
  const seen = new Set<string>();
  for (const tool of tools) {
    const queries = [tool.query, ...tool.steps.map((step) => (step.kind === "retrieve" ? step.query : null))];
    for (const query of queries) {
      if (query === null || !needsTransformers(query.embedding)) continue;
      const { at: path, model } = query.embedding;
      if (seen.has(JSON.stringify(path)) || isInstalled(TRANSFORMERS)) continue;
      seen.add(JSON.stringify(path));
      reporter.report("VB2019", { what: `the embedding model '${model}' (provider local)`, package: TRANSFORMERS }, { path }, {
        help: `run \`npm i ${TRANSFORMERS}\` in the folder of ${parsed.file.path}, or where toolsrv is installed; local/hashing-256 needs no package, but compares words rather than meaning`,
      });
    }
    if (tool.rerank?.provider === "cross_encoder" && !isInstalled(TRANSFORMERS)) {
      reporter.report("VB4032", { package: TRANSFORMERS }, { path: [...tool.rerank.at, "provider"] }, { tool: tool.name });
    }
  }
}

function needsTransformers({ provider, model }: ResolvedEmbedding): boolean {
  return provider === "local" && !BUILT_IN_MODEL.test(model);
}

/** Which optional packages Node finds from one of the folders: that of the catalog, and where toolsrv itself lies. */
export async function findPackages(host: Host, folders: readonly string[]): Promise<(name: string) => boolean> {
  const places = new Set((await Promise.all(folders.map((folder) => host.realPath(folder)))).flatMap(withParents));
  const found = new Set<string>();
  await Promise.all(OPTIONAL_PACKAGES.flatMap((name) => [...places].map(async (place) => {
    if (await host.exists(join(place, "node_modules", name, "package.json"))) found.add(name);
  })));
  return (name) => found.has(name);
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}
