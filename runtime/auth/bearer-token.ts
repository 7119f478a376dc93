/** One token for everybody: the authentication of the trace service. Compared by digest, in constant time. */
import type { Principal } from "../abi/call.js";
import type { Authenticator, Challenge } from "./authenticate.js";
import { digestOf, sameDigest } from "./digest.js";

export interface BearerToken extends Authenticator {
  /** Token of a WebSocket: the query parameter when there is one, else the last sub-protocol. */
  authorizesSocket(queryToken: string | null, protocols: string): boolean;
}

const HOLDER: Principal = { id: null, claims: {}, headers: {} };
const REFUSED: Challenge = { status: 401, code: "unauthorized", message: "Unauthorized", headers: [["www-authenticate", "Bearer"]] };

/** @param token `null` lets everybody in. */
export function bearerToken(token: string | null): BearerToken {
  const wanted = token === null ? null : digestOf(token);
  const wantedHeader = token === null ? null : digestOf(`Bearer ${token}`);
  const same = (value: string, expected: Buffer | null): boolean => expected === null || sameDigest(digestOf(value), expected);
  return {
    headers: ["authorization"],
    authenticate: (head) => (same(head.header("authorization"), wantedHeader) ? HOLDER : REFUSED),
    authorizesSocket(queryToken, protocols) {
      if (queryToken !== null) return same(queryToken, wanted);
      return same(protocols.split(",").at(-1)?.trim() ?? "", wanted);
    },
  };
}
