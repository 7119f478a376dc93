/** Rules about `security.auth`: what a server would refuse at its start is an error of the catalog. */
import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from "../../../runtime/abi/signatures.js";
import { isHeaderName, isSecureUrl } from "../../../runtime/base/web.js";
import type { Rule } from "../rule.js";

const JWT = ["security", "auth", "jwt"];

export const tokens: Rule = ({ catalog: { parsed } }, reporter) => {
  const jwt = parsed.value.security?.auth?.jwt;
  for (const [index, algorithm] of (jwt?.algorithms ?? []).entries()) {
    if (!isOpen(algorithm) && !isSignatureAlgorithm(algorithm)) reporter.report("TS0260", { algorithm, known: SIGNATURE_ALGORITHMS.join(", ") }, { path: [...JWT, "algorithms", index] });
  }
  if (jwt?.algorithms?.length === 0) {
    reporter.report("TS0261", { key: "jwt.algorithms", problem: "is empty, so no token would be taken", help: "name at least one, or leave it out for RS256 and ES256" }, { path: [...JWT, "algorithms"], on: "key" });
  }
  const { jwks_url: url } = jwt ?? {};
  if (typeof url === "string" && !isOpen(url) && !(URL.canParse(url) && isSecureUrl(new URL(url)))) {
    reporter.report("TS0261", { key: "jwt.jwks_url", problem: `is not an https:// address: '${url}'`, help: "whoever can change the keys on their way can make tokens; http:// only on loopback" }, { path: [...JWT, "jwks_url"] });
  }
};

export const keyHeader: Rule = ({ catalog: { parsed } }, reporter) => {
  const header = parsed.value.security?.auth?.api_key?.header;
  if (header === undefined || isOpen(header) || isHeaderName(header)) return;
  reporter.report("TS0261", { key: "api_key.header", problem: `is not the name of a header: '${header}'`, help: "use letters, digits and dashes, such as X-Api-Key" }, { path: ["security", "auth", "api_key", "header"] });
};

/** Has a reference to the environment, which is filled when the server starts. */
function isOpen(text: string): boolean {
  return text.includes("${");
}
