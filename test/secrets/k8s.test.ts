/** The Secrets API of Kubernetes, in the shapes that its documentation records: https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/ */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import { source } from "../../runtime/secrets/k8s/index.js";
import { suite } from "../lib/suite.js";
import { json, secretServer, world, type SecretServer } from "./world.js";

const test = suite("secrets/k8s");

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN = "canary-service-account";
const signal = new AbortController().signal;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const SECRET = { kind: "Secret", apiVersion: "v1", metadata: { name: "search", namespace: "apps", uid: "u", resourceVersion: "1" }, data: { url: base64("http://db:6333"), api_key: base64("canary-kéy") }, type: "Opaque" };
const status = (code: number, reason: string) => json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "canary", reason, code }, code);

const folder = mkdtempSync(join(tmpdir(), "toolsrv-k8s-"));
test.after(() => rmSync(folder, { recursive: true }));

/** A certificate for 127.0.0.1, and one of somebody else. */
function certificate(name: string): { readonly key: string; readonly cert: string } | null {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const made = spawnSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]);
  return made.status === 0 ? { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") } : null;
}

const own = certificate("cluster");
const other = certificate("other");

test("outside a cluster it says so", () => {
  assert.throws(() => source.open({ secret: "search" }, world()), (error) => isToolError(error) && /runs in no cluster/.test(error.message));
});

if (own === null || other === null) {
  test.skip("a Secret of the cluster", "there is no openssl to make certificates with");
} else {
  let server: SecretServer;
  test.before(async () => {
    server = await secretServer(json(SECRET), own);
  });
  test.after(() => server.close());
  const files = (more: { readonly [name: string]: string } = {}) => Object.fromEntries(Object.entries({ token: `${TOKEN}\n`, "ca.crt": own.cert, namespace: "apps", ...more }).map(([name, text]) => [`${ACCOUNT}/${name}`, text]));
  const open = (settings: object = {}, mounted = files()) =>
    source.open({ secret: "search", ...settings }, world({ KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) }, mounted));

  test("all values of the secret are decoded, or the one that k8s.key names", async () => {
    server.answer = json(SECRET);
    assert.deepEqual(await open().fetch(signal), { url: "http://db:6333", api_key: "canary-kéy" });
    assert.deepEqual(await open({ key: "api_key" }).fetch(signal), { api_key: "canary-kéy" });
  });

  test("the service account's token goes to the API of the pod's namespace, or of the one that is named", async () => {
    server.answer = json(SECRET);
    server.asked.length = 0;
    await open().fetch(signal);
    await open({ namespace: "data" }).fetch(signal);
    assert.deepEqual(server.asked.map(({ method, path }) => `${method} ${path}`), ["GET /api/v1/namespaces/apps/secrets/search", "GET /api/v1/namespaces/data/secrets/search"]);
    assert.equal(server.asked[0]?.headers.authorization, `Bearer ${TOKEN}`);
  });

  test("a server with another certificate gets no token", async () => {
    server.asked.length = 0;
    await assert.rejects(open({}, files({ "ca.crt": other.cert })).fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable");
    assert.equal(server.asked.length, 0);
  });

  test("each failure names the secret and what to do, and repeats no value", async () => {
    const table: readonly (readonly [code: number, reason: string, want: RegExp])[] = [
      [401, "Unauthorized", /refused \(401\)/], [403, "Forbidden", /may not read it \(403\); give it a role with 'get' on this secret in namespace 'apps'/], [404, "NotFound", /no such secret in namespace 'apps' \(404\)/],
    ];
    for (const [code, reason, want] of table) {
      server.answer = status(code, reason);
      await assert.rejects(open().fetch(signal), (error) => isToolError(error) && want.test(error.message) && error.message.includes("k8s secret 'search'") && !error.message.includes("canary"), reason);
    }
    server.answer = status(500, "InternalError");
    await assert.rejects(open().fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable");
    server.answer = json({ ...SECRET, data: { api_key: Buffer.from([0xff, 0xfe]).toString("base64") } });
    await assert.rejects(open().fetch(signal), /the value of 'api_key' is no text/);
    server.answer = json(SECRET);
    await assert.rejects(open({ key: "token" }).fetch(signal), /it has no key 'token'; check k8s\.key/);
  });

  test("a pod without a token says what to mount; the token is read anew each time", async () => {
    await assert.rejects(open({}, {}).fetch(signal), /automountServiceAccountToken/);
    await assert.rejects(open({}, files({ token: "" })).fetch(signal), /the service account's token is empty/);
    server.answer = json(SECRET);
    server.asked.length = 0;
    const mounted: { [path: string]: string } = files();
    const rotating = open({}, mounted);
    await rotating.fetch(signal);
    mounted[`${ACCOUNT}/token`] = "second";
    await rotating.fetch(signal);
    assert.deepEqual(server.asked.map(({ headers }) => headers.authorization), [`Bearer ${TOKEN}`, "Bearer second"]);
  });

  test("names of secrets and namespaces reach no other path", async () => {
    for (const settings of [{ secret: "../configmaps/x" }, { secret: "a/b" }, { secret: "a?b" }, { namespace: "apps/secrets" }, { namespace: ".." }]) await assert.rejects(open(settings).fetch(signal), isToolError);
  });
}

test.run();
