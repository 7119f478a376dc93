/** What a metadata document cannot make this server do: the fetch of addresses that strangers name. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { isPublicAddress } from "../../../runtime/auth/oauth/public-address.js";
import { createPublicFetch, FetchFailed, type FetchOptions } from "../../../runtime/auth/oauth/public-fetch.js";
import { suite } from "../../lib/suite.js";

const test = suite("oauth: documents that strangers name");

let server: Server;
let port = 0;
let requests = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
let ca = "";

test.before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "oauth-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=client.example", "-addext", "subjectAltName=DNS:client.example", "-keyout", key, "-out", cert], { stdio: "ignore" });
  ca = readFileSync(cert, "utf8");
  server = createServer({ key: readFileSync(key), cert: ca }, (request, response) => {
    requests++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
test.after(() => {
  server.closeAllConnections();
  server.close();
});

/** The test's server, under a name that resolves to loopback; the guard is lifted where a test is about something else. */
const reach = (more: FetchOptions = {}) => createPublicFetch({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), isAllowed: () => true, anyPort: true, ca, ...more });
const url = (path = "/client.json"): string => `https://client.example:${port}${path}`;
const json = (body: string, headers = {}) => (_: IncomingMessage, response: ServerResponse): void => void response.writeHead(200, { "content-type": "application/json", ...headers }).end(body);

async function failure(run: Promise<unknown>): Promise<string> {
  const error = await run.then(() => null, (reason: unknown) => reason);
  assert.instance(error, FetchFailed);
  return (error as FetchFailed).message;
}

test("a document is read, with how long it may be kept", async () => {
  answer = json('{"a":1}', { "cache-control": "public, max-age=60" });
  assert.equal(await reach()(url(), 5120), { body: { a: 1 }, maxAgeMs: 60_000 });
  answer = json('{"a":1}', { "cache-control": "no-store" });
  assert.is((await reach()(url(), 5120)).maxAgeMs, 0);
});

const PRIVATE = ["127.0.0.1", "127.255.0.1", "10.0.0.1", "172.16.5.4", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "255.255.255.255", "::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "ff02::1", "2001:db8::1", "2002:7f00:1::", "2001::1", "100::1", "::127.0.0.1", "5f00::1"];
for (const address of PRIVATE) {
  test(`a name with the address ${address} is not connected to`, async () => {
    const before = requests;
    const fetch = createPublicFetch({ resolve: () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]), anyPort: true, ca });
    assert.is(await failure(fetch(url(), 5120)), "its host has no public address");
    assert.is(requests, before);
  });
}

test("public addresses are public", () => {
  for (const address of ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1"]) assert.ok(isPublicAddress(address), address);
  assert.not(isPublicAddress("example.com"));
});

test("a name that does not exist gets the same answer as one with a private address: nobody learns which names there are inside", async () => {
  const fetch = createPublicFetch({ resolve: () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" })), ca });
  assert.is(await failure(fetch("https://intranet.example/a", 5120)), "its host has no public address");
});

test("one private address among public ones refuses the name", async () => {
  const fetch = createPublicFetch({ resolve: () => Promise.resolve([{ address: "1.1.1.1", family: 4 }, { address: "10.0.0.1", family: 4 }]), ca });
  assert.is(await failure(fetch("https://client.example/a", 5120)), "its host has no public address");
});

test("the name is resolved once: the connection goes to the address that was checked", async () => {
  answer = json("{}");
  let asked = 0;
  const seen: string[] = [];
  await reach({
    resolve: () => Promise.resolve([{ address: asked++ === 0 ? "127.0.0.1" : "10.0.0.1", family: 4 }]),
    isAllowed: (address) => seen.push(address) > 0,
  })(url(), 5120);
  assert.equal([asked, seen], [1, ["127.0.0.1"]]);
});

test("addresses in place of names are refused in every spelling", async () => {
  for (const host of ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:7f00:1]", "1.1.1.1", "[2606:4700:4700::1111]", "%31%32%37.0.0.1"]) {
    assert.match(await failure(createPublicFetch()(`https://${host}/a`, 5120)), /names an IP address|is not an address/, host);
  }
});

test("other schemes, credentials and ports are refused", async () => {
  assert.is(await failure(createPublicFetch()("http://client.example/a", 5120)), "it is not https");
  assert.is(await failure(createPublicFetch()("file:///etc/passwd", 5120)), "it is not https");
  assert.is(await failure(createPublicFetch()("https://u:p@client.example/a", 5120)), "it has a user name or password");
  assert.is(await failure(createPublicFetch()("https://client.example:6379/a", 5120)), "it has a port");
});

test("redirects are not followed", async () => {
  let followed = false;
  answer = (request, response) => {
    if (request.url === "/target") followed = true;
    response.writeHead(302, { location: url("/target"), "content-type": "application/json" }).end("{}");
  };
  assert.match(await failure(reach()(url(), 5120)), /answered 302; redirects are not followed/);
  assert.not(followed);
});

test("a document over the limit is refused, also when its length is not announced", async () => {
  answer = json(`"${"x".repeat(5200)}"`);
  assert.is(await failure(reach()(url(), 5120)), "it is larger than 5120 bytes");
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const write = (): void => void (response.destroyed || (response.write("x".repeat(1000)), setImmediate(write)));
    write();
  };
  assert.is(await failure(reach()(url(), 5120)), "it is larger than 5120 bytes");
});

test("a server that does not answer is left", async () => {
  answer = () => undefined;
  assert.is(await failure(reach({ timeoutMs: 100 })(url(), 5120)), "no answer within 100 ms");
});

test("a server that sends slowly is left", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{");
  };
  assert.is(await failure(reach({ timeoutMs: 100 })(url(), 5120)), "no answer within 100 ms");
});

test("errors, other types and what is not JSON are refused", async () => {
  answer = (_, response) => void response.writeHead(500).end();
  assert.is(await failure(reach()(url(), 5120)), "its server answered 500");
  answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("{}");
  assert.is(await failure(reach()(url(), 5120)), "its server does not say that it is JSON");
  answer = json("{");
  assert.is(await failure(reach()(url(), 5120)), "it is not JSON");
});

test("a certificate that is not trusted is refused", async () => {
  answer = json("{}");
  const fetch = createPublicFetch({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]), isAllowed: () => true, anyPort: true });
  assert.match(await failure(fetch(url(), 5120)), /the connection failed/);
});

test("at most ten documents are fetched at a time", async () => {
  answer = () => undefined;
  const fetch = reach({ timeoutMs: 200 });
  const all = await Promise.all(Array.from({ length: 12 }, () => failure(fetch(url(), 5120))));
  assert.is(all.filter((message) => message === "too many documents are being fetched").length, 2);
});

test.run();
