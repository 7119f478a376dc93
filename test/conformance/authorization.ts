/**
 * The authorization scenarios of the official suite against `--auth builtin`: behind a small TLS proxy, because an issuer
 * is https, with this program as the person in front of the browser. Part of `make conformance`.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { logIn } from "../auth/oauth/served-oauth.js";
import { start } from "../lib/served.js";

/** Metadata and code grant. */
const SCENARIOS = 2;
const serverFile = fileURLToPath(new URL(`../mcp/fixture-server${extname(fileURLToPath(import.meta.url))}`, import.meta.url));

/** Runs the scenarios, each of which uses what the one before has found. @returns whether all passed. */
export async function runAuthorization(node: string, cli: string, say: (line: string) => void): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "conformance-authorization-"));
  const proxy = await tlsProxy(folder);
  const served = start(serverFile, ["--http", "127.0.0.1:0", "--auth", "builtin", "--public-url", proxy.url], { env: { HOME: folder } });
  try {
    const [, port = ""] = await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
    proxy.target = Number(port);
    const secret = readFileSync(join(folder, ".toolsrv", "access-secret.once"), "utf8").trim();
    const output = await runScenarios({ node, cli, url: proxy.url, ca: proxy.ca, port: Number(port), secret });
    const passed = [...output.matchAll(/^.*: ([1-9]\d*) passed, 0 failed/gm)].filter(([line]) => !line.startsWith("Total"));
    const isGood = passed.length === SCENARIOS && /^Total: \d+ passed, 0 failed/m.test(output);
    say(`conformance of --auth builtin: ${passed.length} of ${SCENARIOS} scenarios pass`);
    if (!isGood) say(`  DIFFERS: ${output.trim().split("\n").slice(-25).join("\n    ")}`);
    return isGood;
  } finally {
    await served.kill();
    proxy.server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Run {
  readonly node: string;
  readonly cli: string;
  readonly url: string;
  readonly ca: string;
  readonly port: number;
  readonly secret: string;
}

/** What the suite printed. */
async function runScenarios({ node, cli, url, ca, port, secret }: Run): Promise<string> {
  const back = await freePort();
  const direct: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(String(input));
    const headers = new Headers(init?.headers);
    if (headers.has("origin")) headers.set("origin", url);
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { redirect: "manual", ...init, headers });
  };
  const registration = await direct(`${url}/oauth/register`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${back}/callback`], token_endpoint_auth_method: "none", client_name: "Conformance" }) });
  const { client_id: id } = (await registration.json()) as { readonly client_id: string };
  const words = ["authorization", "--url", url, "--client-id", id, "--resource", `${url}/mcp`, "--port", String(back)];
  const child = spawn(node, [cli, ...words], { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let isLoggedIn = false;
  const read = (text: string): void => {
    output += text;
    const address = new RegExp(`${url}/oauth/authorize\\?\\S+`).exec(output)?.[0];
    if (address === undefined || isLoggedIn) return;
    isLoggedIn = true;
    // The person logs in, and the browser follows the way back.
    logIn({ fetch: direct, secret }, address.replace(url, "http://127.0.0.1")).then((callback) => fetch(callback)).catch((error: unknown) => void (output += String(error)));
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return output;
}

interface TlsProxy {
  readonly server: Server;
  readonly url: string;
  /** File of the certificate that clients have to trust. */
  readonly ca: string;
  /** Port behind it. */
  target: number;
}

async function tlsProxy(folder: string): Promise<TlsProxy> {
  const [key, ca] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", ca], { stdio: "ignore" });
  const proxy = { target: 0 };
  const server = createServer({ key: readFileSync(key), cert: readFileSync(ca) }, (from, to) => {
    const { remoteAddress = "" } = from.socket;
    const onward = request({ host: "127.0.0.1", port: proxy.target, method: from.method, path: from.url, headers: { ...from.headers, "x-forwarded-for": remoteAddress } }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    onward.on("error", () => to.writeHead(502).end());
    from.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(proxy, { server, ca, url: `https://localhost:${(server.address() as AddressInfo).port}` });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createTcpServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
