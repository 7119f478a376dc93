/** Reads a key-value secret of Vault over its HTTP API. */
import { isRecord } from "../../base/paths.js";
import { getJson, secretAddress } from "../get-json.js";
import { readValues, textOf, unreachable, unusable, type SecretSource, type SourceModule } from "../source.js";

const PROVIDER = "vault";

export const source: SourceModule = {
  open(settings, world): SecretSource {
    const path = textOf(settings["path"]) ?? "";
    const who = `vault '${path}'`;
    const addr = textOf(settings["addr"]) ?? world.variable("VAULT_ADDR");
    if (addr === undefined) throw unusable(who, "there is no address", "set VAULT_ADDR, or vault.addr in the catalog");
    const url = secretUrl(secretAddress(who, "the address (vault.addr or VAULT_ADDR)", addr), path, who);
    const role = textOf(settings["role"]);
    return {
      async fetch(signal) {
        const token = world.variable("VAULT_TOKEN")?.trim();
        if (token === undefined) throw unusable(who, "there is no token", "set VAULT_TOKEN in the file given with --env FILE or in the environment");
        if (!/^[\x21-\x7e]+$/.test(token)) throw unusable(who, "VAULT_TOKEN is not a token", "it is one line of ASCII");
        world.learned(token);
        const namespace = world.variable("VAULT_NAMESPACE");
        const headers = { "x-vault-token": token, "x-vault-request": "true", ...(role === undefined ? {} : { "x-vault-role": role }), ...(namespace === undefined ? {} : { "x-vault-namespace": namespace }) };
        const { status, body } = await getJson({ provider: PROVIDER, who, url, headers, signal });
        if (status !== 200) throw refusal(who, status);
        const values = readValues(dataOf(body));
        if (values === null) throw unusable(who, "the answer is no key-value secret", "for version 2 of the engine the path is MOUNT/data/NAME");
        return values;
      },
    };
  },
};

/** Segments of the path are names: nothing in it reaches another endpoint. */
function secretUrl(address: URL, path: string, who: string): URL {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length === 0 || segments.some((segment) => segment === "." || segment === "..")) throw unusable(who, "vault.path is not a path of a secret", "write it as secret/data/NAME");
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${segments.map(encodeURIComponent).join("/")}`;
  url.search = "";
  url.hash = "";
  return url;
}

function refusal(who: string, status: number): Error {
  if (status === 403 || status === 401) return unusable(who, `the token is refused (${status})`, "check VAULT_TOKEN and the policy that allows it to read this path");
  if (status === 404) return unusable(who, "there is no such secret (404)", "check vault.path; for version 2 of the engine it is MOUNT/data/NAME");
  if (status === 400) return unusable(who, "the request is refused (400)", "check vault.path and VAULT_NAMESPACE");
  return unreachable(PROVIDER, who, `the answer is ${status}`);
}

/** The secret of an answer: in version 2 of the engine it is one level deeper, beside its metadata. */
function dataOf(body: unknown): unknown {
  const data = isRecord(body) ? body["data"] : undefined;
  return isRecord(data) && isRecord(data["data"]) ? data["data"] : isRecord(data) && "data" in data && "metadata" in data ? null : data;
}
