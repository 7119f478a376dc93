/** What is withdrawn while a request is being judged: nothing of the old decision is kept for the next request. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isChallenge } from "../../runtime/auth/authenticate.js";
import { openSqliteStore } from "../../runtime/auth/oauth/sqlite-store.js";
import type { HttpHead } from "../../runtime/transport/types.js";
import { suite } from "../lib/suite.js";
import { Issuer } from "./issuer.js";
import { call, fullLogin, postForm, serveOauth } from "./oauth/served-oauth.js";
import { authServer } from "./server.js";

const test = suite("credentials withdrawn");

/** Opened once; what waits for it goes on then. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

test("a token whose key is withdrawn while its signature is verified is not remembered", async () => {
  const issuer = await Issuer.start();
  const server = await authServer({ mode: "jwt", issuer: issuer.url, audience: "tools", jwksUrl: issuer.url, algorithms: ["RS256"], principalClaim: "sub", claimsPrefix: "", publicUrl: null });
  const { subtle } = globalThis.crypto;
  const verify = subtle.verify.bind(subtle);
  const [entered, verified] = [gate(), gate()];
  try {
    const token = await issuer.token();
    const head = { header: (name: string) => (name === "authorization" ? `Bearer ${token}` : ""), remoteAddress: "" } as unknown as HttpHead;
    await server.auth.health?.();
    subtle.verify = async (...args: Parameters<typeof verify>) => {
      entered.open();
      await verified.opened;
      return verify(...args);
    };
    const first = server.auth.authenticator.authenticate(head);
    await entered.opened;
    await issuer.rotate("two");
    await server.auth.health?.();
    verified.open();
    assert.equal(isChallenge(await first), false, "it was good when it came");
    assert.equal(isChallenge(await server.auth.authenticator.authenticate(head)), true);
  } finally {
    subtle.verify = verify;
    await server.close();
    await issuer.close();
  }
});

test("a login that ends while its token is looked up is not remembered, and nobody joins that look", async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "withdrawn-")), "state");
  const store = openSqliteStore(join(folder, "authstate.db"), Date.now);
  const [read, released] = [gate(), gate()];
  let held = false;
  const served = await serveOauth({
    stateFolder: folder,
    opened: {
      ...store,
      async access(digest) {
        const found = await store.access(digest);
        if (!held) return found;
        held = false;
        read.open();
        await released.opened;
        return found;
      },
    },
  });
  try {
    const { clientId, tokens } = await fullLogin(served);
    held = true;
    const first = call(served, tokens.access_token);
    await read.opened;
    assert.equal((await postForm(served, "/oauth/revoke", { client_id: clientId, token: tokens.access_token })).status, 200);
    assert.equal((await call(served, tokens.access_token)).status, 401, "while the first look is under way");
    released.open();
    assert.equal((await first).status, 200, "it was good when it came");
    assert.equal((await call(served, tokens.access_token)).status, 401);
  } finally {
    await served.stop();
  }
});

test("tokens that say that they are access tokens, or only that they are tokens, are taken", async () => {
  const issuer = await Issuer.start();
  const server = await authServer({ mode: "jwt", issuer: issuer.url, audience: "tools", jwksUrl: issuer.url, algorithms: ["RS256"], principalClaim: "sub", claimsPrefix: "", publicUrl: null });
  try {
    for (const typ of ["JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT", "application/okta-internal-at+jwt", "custom"]) {
      assert.equal((await server.ask("ping", {}, { authorization: `Bearer ${await issuer.token({}, { header: { typ } })}` })).status, 200, typ);
    }
  } finally {
    await server.close();
    await issuer.close();
  }
});

test.run();
