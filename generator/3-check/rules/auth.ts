/** Rules about `security.auth`: what a server would refuse at its start is an error of the catalog. */
import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from "../../../runtime/abi/signatures.js";
import { isHeaderName, isSecureUrl } from "../../../runtime/base/web.js";
import type { Rule } from "../rule.js";

/** The sections that name an issuer, its keys and algorithms. */
const ISSUERS: readonly (readonly string[])[] = [["jwt"], ["builtin", "id_jag"]];

interface IssuerSection {
  readonly algorithms?: readonly string[];
  readonly jwks_url?: string | null;
}

export const tokens: Rule = ({ catalog: { parsed } }, reporter) => {
  const auth = parsed.value.security?.auth;
  for (const at of ISSUERS) {
    const section: IssuerSection | undefined = at[0] === "jwt" ? auth?.jwt : auth?.builtin?.id_jag;
    if (section !== undefined) checkIssuer(section, at, reporter);
  }
};

function checkIssuer({ algorithms, jwks_url: url }: IssuerSection, at: readonly string[], reporter: Parameters<Rule>[1]): void {
  const path = ["security", "auth", ...at];
  const key = at.join(".");
  for (const [index, algorithm] of (algorithms ?? []).entries()) {
    if (!isOpen(algorithm) && !isSignatureAlgorithm(algorithm)) reporter.report("TS0260", { key, algorithm, known: SIGNATURE_ALGORITHMS.join(", ") }, { path: [...path, "algorithms", index] });
  }
  if (algorithms?.length === 0) {
    reporter.report("TS0261", { key: `${key}.algorithms`, problem: "is empty, so no token would be taken", help: "name at least one, or leave it out for RS256 and ES256" }, { path: [...path, "algorithms"], on: "key" });
  }
  if (typeof url === "string" && !isOpen(url) && !(URL.canParse(url) && isSecureUrl(new URL(url)))) {
    reporter.report("TS0261", { key: `${key}.jwks_url`, problem: `is not an https:// address: '${url}'`, help: "use https://, because anyone who can change the keys in transit can make valid tokens; http:// is for loopback only" }, { path: [...path, "jwks_url"] });
  }
}

export const keyHeader: Rule = ({ catalog: { parsed } }, reporter) => {
  const header = parsed.value.security?.auth?.api_key?.header;
  if (header === undefined || isOpen(header) || isHeaderName(header)) return;
  reporter.report("TS0261", { key: "api_key.header", problem: `is not the name of a header: '${header}'`, help: "use letters, digits and dashes, such as X-Api-Key" }, { path: ["security", "auth", "api_key", "header"] });
};

/** Has a reference to the environment, which is filled when the server starts. */
function isOpen(text: string): boolean {
  return text.includes("${");
}
