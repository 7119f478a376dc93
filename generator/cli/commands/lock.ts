/** `toolsrv lock --embedding`: records the space of each embedding in the catalog, so that a model that changes is noticed. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBackendError } from "../../../runtime/abi/errors.js";
import type { Json } from "../../../runtime/abi/plan.js";
import { fill } from "../../../runtime/abi/references.js";
import { setSpaces, type SpaceAt } from "../../edit/set-space.js";
import type { ResolvedEmbedding } from "../../ir.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { UsageError, type CommandModule, type Io } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  if (options["embedding"] !== true) throw new UsageError("say what to lock: --embedding");
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  const { embeddingsToAsk } = await import("../../3-check/live.js");
  const spaces: SpaceAt[] = [];
  for (const embedding of embeddingsToAsk(catalog.compiled.checked)) {
    const space = await measure(embedding, catalog, io);
    if (space === null) return EXIT.LIVE;
    spaces.push({ path: embedding.at, space, means: { provider: embedding.provider, model: embedding.model } });
  }
  if (spaces.length === 0) io.stderr.write("no tool searches by text, so there is nothing to lock\n");
  return options["write"] === true ? write(args[0] ?? "", catalog.text, spaces, io) : print(spaces, io);
};

/** The space of an embedding as it is now; null when its provider cannot be asked, which was printed. */
async function measure({ provider, model, dims, config }: ResolvedEmbedding, { env, base }: OpenedCatalog, io: Io): Promise<string | null> {
  const [{ openEmbedder }, { measureSpace }] = await Promise.all([import("../../../runtime/embed/table.js"), import("../../../runtime/embed/space.js")]);
  const plan = { provider, model, ...(dims === null ? {} : { dims }), config: fill(config, env, new Set()) as { readonly [key: string]: Json } };
  try {
    return await measureSpace((use) => openEmbedder(plan, { use, base: fileURLToPath(base) }), io.signal);
  } catch (error) {
    if (!isBackendError(error)) throw error;
    io.stderr.write(`toolsrv lock: ${error.message}\n`);
    return null;
  }
}

function print(spaces: readonly SpaceAt[], io: Io): number {
  for (const { path, space } of spaces) io.stdout.write(`${path.join(".")}: space: "${space}"\n`);
  return EXIT.OK;
}

async function write(shown: string, text: string, spaces: readonly SpaceAt[], io: Io): Promise<number> {
  const { text: locked, byHand } = setSpaces(text, spaces);
  if (locked !== text) await io.host.replace(resolve(io.cwd, shown), locked);
  const written = spaces.length - byHand.length;
  io.stdout.write(locked === text && byHand.length === 0 ? `${shown} is locked already\n` : `${written} embedding${written === 1 ? "" : "s"} locked in ${shown}\n`);
  for (const { path, space } of byHand) io.stderr.write(`${path.join(".")} is not a mapping of its own; write it as one with provider, model and\n  space: "${space}"\n`);
  return byHand.length === 0 ? EXIT.OK : EXIT.FINDINGS;
}
