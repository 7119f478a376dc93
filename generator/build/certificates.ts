/** The recall certificates of a build: read beside its catalogs, judged where a tool asks for a recall. */
import type { Compiled } from "../compile.js";
import type { Host } from "../host.js";
import type { Diagnostic } from "../ir.js";
import type { Catalog } from "./order.js";

/** The text of the certificate of each catalog, in their order; null where there is none that can be read. */
export async function readCertificates(catalogs: readonly Pick<Catalog, "path">[], host: Pick<Host, "read">): Promise<readonly (string | null)[]> {
  const { certificatePath } = await import("../recall/certificate.js");
  return Promise.all(catalogs.map(async ({ path }) => {
    const bytes = await host.read(certificatePath(path)).catch(() => null);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }));
}

/** What the certificate of a catalog lacks of the recall that its tools ask for: errors in a build, elsewhere warnings. */
export async function judgeRecall(compiled: Compiled, certificate: string | null, severity: "error" | "warning"): Promise<readonly Diagnostic[]> {
  const { certificatePath, judgeCertificate } = await import("../recall/certificate.js");
  return judgeCertificate(compiled, certificate, certificatePath(compiled.checked.parsed.file.path), severity);
}
