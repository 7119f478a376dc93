/** Ids of the certificates of a program's guards, for records that say which guard ran. */
import type { ServePlan } from "./call.js";
import { fingerprint } from "./fingerprint.js";
import { isRecord } from "../base/paths.js";

/**
 * Tool → `fingerprint` of its certificate, which `build` writes to manifest.json; `null` unless the settings ask for
 * access evidence, so that other programs are printed without them.
 */
export function certificateIds(settings: ServePlan, certificates: readonly { readonly tool: string }[]): { readonly [tool: string]: string } | null {
  const audit = settings.observability?.["audit"];
  if (!isRecord(audit) || audit["chain"] !== true) return null;
  return Object.fromEntries(certificates.map((certificate) => [certificate.tool, fingerprint(certificate)]));
}
