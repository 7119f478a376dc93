/** The proof on the bytes that `build` prints: what is certified is the text that Node will run, read back from it. */
import type { ServePlan } from "../../runtime/abi/call.js";
import { certificateIds } from "../../runtime/abi/certificates.js";
import { canonicalJson, sha256Hex } from "../../runtime/abi/fingerprint.js";
import { readModule, UnreadableLiteral } from "../literal-reader.js";
import { readStockYaml } from "./stock-yaml.js";
import { certify, type Problem, type Proof } from "./certify.js";

/** A proof with the digest of the text that it is about. */
export interface PrintedProof extends Proof {
  readonly digest: string;
}

const EXPORTS = ["catalog", "settings", "connections", "embeddings", "plans", "certificates"];

/** Certifies the text of a `plans.ts` against its catalog, as `readStockYaml` gives it. References are open in both. */
export function certifyPrinted(plansText: string, catalog: unknown): PrintedProof {
  const digest = `sha256:${sha256Hex(plansText)}`;
  const unreadable = (why: string): PrintedProof => ({ digest, certificates: null, problems: [{ tool: null, at: null, branch: "plans.ts", guard: `what build prints (${why})` }] });
  try {
    const values = readModule(plansText);
    const stranger = [...values.keys()].find((name) => !EXPORTS.includes(name));
    if (stranger !== undefined) return unreadable(`it exports '${stranger}'`);
    const proof = certify({ settings: values.get("settings"), connections: values.get("connections"), plans: values.get("plans") }, catalog);
    if (proof.certificates === null) return { digest, ...proof };
    // Records name the certificates by these ids: others would point at guards that were never shown.
    const ids = certificateIds(values.get("settings") as ServePlan, proof.certificates);
    return canonicalJson(ids) === canonicalJson(values.get("certificates") ?? null) ? { digest, ...proof } : unreadable("certificates that are not those of its guards");
  } catch (error) {
    if (error instanceof UnreadableLiteral) return unreadable(error.message);
    throw error;
  }
}

/** A `plans.ts` of a build and the catalog that it was made from. */
export interface PrintedCatalog {
  /** Within the output folder. */
  readonly path: string;
  readonly catalogText: string;
}

/** Something that a printed file does not show. */
export interface Unproven extends Problem {
  readonly path: string;
}

/**
 * Certifies the plans of every catalog; `read` gives a file's text, or null where it is missing. `readCatalog` is for
 * who certifies many texts against one catalog, and must give what `readStockYaml` gives.
 */
export function problemsOf(catalogs: readonly PrintedCatalog[], read: (path: string) => string | null, readCatalog: (text: string) => unknown = readStockYaml): readonly Unproven[] {
  return catalogs.flatMap(({ path, catalogText }) => {
    const text = read(path);
    const { problems } = text === null ? { problems: [{ tool: null, at: null, branch: "plans.ts", guard: "anything, because it is missing," }] } : certifyPrinted(text, readCatalog(catalogText));
    return problems.map((problem) => ({ ...problem, path }));
  });
}
