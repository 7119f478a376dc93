/** Parameters of a query or a form, read strictly: what two readers could understand differently is refused. */
import type { HttpHead, HttpRequest } from "../../transport/types.js";
import { OauthError } from "./oauth-error.js";

/** Parameters by name; an empty value counts as absent (RFC 6749 section 3.1). */
export interface Form {
  get(name: string): string | null;
  /** Values of a parameter that may repeat. */
  all(name: string): readonly string[];
}

const MAX_PARAMETERS = 50;
/** RFC 8707 lets a client name several resources. */
const REPEATABLE: readonly string[] = ["resource"];

/** @throws OauthError invalid_request */
export function readQuery(head: HttpHead): Form {
  return parseForm(head.query);
}

/** @throws OauthError invalid_request unless the body is a form. */
export function readForm(request: HttpRequest): Form {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.header("content-type"))) {
    throw new OauthError("invalid_request", "the body of this request is application/x-www-form-urlencoded");
  }
  return parseForm(request.text() ?? "%");
}

/** @throws OauthError invalid_request */
export function parseForm(text: string): Form {
  const values = new Map<string, string[]>();
  const pairs = text.split("&").filter((pair) => pair !== "");
  if (pairs.length > MAX_PARAMETERS) throw new OauthError("invalid_request", `more than ${MAX_PARAMETERS} parameters`);
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const [name, value] = at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
    const known = values.get(name);
    if (known !== undefined && !REPEATABLE.includes(name)) throw new OauthError("invalid_request", `the parameter ${name.slice(0, 40)} is there twice`);
    values.set(name, [...(known ?? []), value]);
  }
  return {
    get: (name) => values.get(name)?.[0] || null,
    all: (name) => (values.get(name) ?? []).filter((value) => value !== ""),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new OauthError("invalid_request", "a parameter is not percent-encoded UTF-8");
  }
}
