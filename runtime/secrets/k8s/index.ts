/** Reads a Secret from the API of the cluster, as the service account of the pod. */
import { urlHost } from "../../base/loopback.js";
import { isRecord } from "../../base/paths.js";
import { getJson } from "../get-json.js";
import { textOf, unreachable, unusable, type SecretSource, type SecretValues, type SecretWorld, type SourceModule } from "../source.js";

const PROVIDER = "k8s";
/** Mounted into every pod that has a service account. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Names of secrets and namespaces. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

export const source: SourceModule = {
  open(settings, world): SecretSource {
    const secret = textOf(settings["secret"]) ?? "";
    const who = `k8s secret '${secret}'`;
    const [key, namespace] = [textOf(settings["key"]), textOf(settings["namespace"])];
    const host = world.variable("KUBERNETES_SERVICE_HOST");
    if (host === undefined) throw unusable(who, "this process runs in no cluster", "KUBERNETES_SERVICE_HOST is set in every pod");
    const port = world.variable("KUBERNETES_SERVICE_PORT") ?? "443";
    return {
      async fetch(signal) {
        const own = async (name: string): Promise<string> => readAccount(who, name, world);
        const place = namespace ?? (await own("namespace"));
        if (!NAME.test(secret) || !NAME.test(place)) throw unusable(who, "k8s.secret or k8s.namespace is not a name", "names have lower-case letters, digits, - and .");
        const url = URL.canParse(`https://${urlHost(host)}:${port}`) ? new URL(`https://${urlHost(host)}:${port}/api/v1/namespaces/${place}/secrets/${secret}`) : null;
        if (url === null) throw unusable(who, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no address", "they are set in every pod");
        // Read anew each time: the cluster replaces the token every hour.
        const [token, ca] = [await own("token"), await own("ca.crt")];
        world.learned(token);
        const { status, body } = await getJson({ provider: PROVIDER, who, url, headers: { authorization: `Bearer ${token}` }, ca, signal });
        if (status !== 200) throw refusal(who, place, status);
        return valuesOf(who, body, key);
      },
    };
  },
};

async function readAccount(who: string, name: string, world: SecretWorld): Promise<string> {
  try {
    const text = (await world.readFile(`${ACCOUNT}/${name}`)).trim();
    if (text !== "") return text;
  } catch (cause) {
    throw unusable(who, `the service account has no ${name}`, "let the pod mount its token (automountServiceAccountToken)", cause);
  }
  throw unusable(who, `the service account's ${name} is empty`, "let the pod mount its token (automountServiceAccountToken)");
}

function refusal(who: string, namespace: string, status: number): Error {
  if (status === 401) return unusable(who, "the service account is refused (401)", "check the token that the pod mounts");
  if (status === 403) return unusable(who, `the service account may not read it (403)`, `give it a role with 'get' on this secret in namespace '${namespace}'`);
  if (status === 404) return unusable(who, `there is no such secret in namespace '${namespace}' (404)`, "check k8s.secret and k8s.namespace");
  return unreachable(PROVIDER, who, `the answer is ${status}`);
}

function valuesOf(who: string, body: unknown, key: string | undefined): SecretValues {
  const data = isRecord(body) && isRecord(body["data"]) ? body["data"] : {};
  const chosen = key === undefined ? Object.keys(data) : [key];
  return Object.fromEntries(chosen.map((name) => {
    const encoded = Object.hasOwn(data, name) ? data[name] : undefined;
    if (typeof encoded !== "string") throw unusable(who, `it has no key '${name}'`, "check k8s.key");
    return [name, decoded(who, name, encoded)];
  }));
}

function decoded(who: string, name: string, encoded: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    throw unusable(who, `the value of '${name}' is no text`, "store it as UTF-8");
  }
}
