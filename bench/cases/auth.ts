/** What authentication costs a call: each mode against none, with the same tool and without a store. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { versus, type BenchCase, type Comparison, type Goal } from "../lib/case.js";
import { compare, type Side } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { CALL, HEADERS } from "../lib/program.js";

const LOAD = { body: CALL, headers: HEADERS, connections: 64, rounds: 7 } as const;
const TOOLS = "6";
const KEY = "key-of-the-benchmark-0123456789";

interface Issuer {
  readonly url: string;
  readonly token: string;
  close(): void;
}

/** A JWKS address and one token, with the claims that identity providers put into one. */
async function startIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "bench", alg: "RS256", use: "sig" };
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const claims = { scope: "openid profile mcp:tools", roles: ["analyst", "viewer"], org: "acme", azp: "client-0123456789", sid: "3f8d7c1e-1111-4222-8333-444455556666" };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "bench", typ: "at+jwt" })
    .setIssuer(url).setAudience("tools").setSubject("user-0123456789").setIssuedAt().setExpirationTime("1h").sign(privateKey);
  return { url, token, close: () => server.close().closeAllConnections() };
}

export const auth: BenchCase = {
  name: "auth",
  summary: "tools/call with callers who are authenticated, against --auth none",
  method: "64 connections, rounds of two seconds a side in turns of a tenth of a second; both sides are toolsrv with the same tool without a store. The side with --auth none gets no Authorization header. Every request has the same key or token: an RS256 token is verified once and then known by its digest.",
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-auth-"));
    const issuer = await startIssuer();
    try {
      const keys = join(folder, "keys.json");
      writeFileSync(keys, JSON.stringify({ [KEY]: { principal: "bench", claims: { roles: ["analyst"], org: "acme" } } }));
      return [
        await row("api_key", ["--api-keys-file", keys], KEY, { atLeast: 0.95 }),
        await row("jwt", ["--jwt-issuer", issuer.url, "--jwt-audience", "tools", "--jwks-url", issuer.url], issuer.token, { atLeast: 0.85 }),
      ];
    } finally {
      issuer.close();
      rmSync(folder, { recursive: true });
    }
  },
};

async function row(mode: string, flags: readonly string[], credential: string, goal: Goal): Promise<Comparison> {
  const file = serverFile("toolsrv");
  const ours: Side = { file, args: [TOOLS, "--auth", mode, ...flags], headers: { Authorization: `Bearer ${credential}` } };
  const { perSecond, notes } = await compare({ ours, peer: { file, args: [TOOLS] }, ...LOAD });
  return versus(`tools/call with --auth ${mode}`, "--auth none", "/s", perSecond, goal, notes);
}
