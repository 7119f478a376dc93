/** Reads a secret of AWS Secrets Manager by the client of AWS. */
import { getSecretError } from "./errors.js";
import { secretAddress } from "../get-json.js";
import { readValues, textOf, unusable, type SecretSource, type SecretWorld, type SourceModule } from "../source.js";

const PACKAGE = "@aws-sdk/client-secrets-manager";
type Sdk = typeof import("@aws-sdk/client-secrets-manager");

export const source: SourceModule = {
  open(settings, world): SecretSource {
    const secretId = textOf(settings["secret_id"]) ?? "";
    const who = `aws_sm '${secretId}'`;
    const region = textOf(settings["region"]) ?? world.variable("AWS_REGION") ?? world.variable("AWS_DEFAULT_REGION");
    if (region === undefined) throw unusable(who, "there is no region", "set AWS_REGION, or aws_sm.region in the catalog");
    const endpoint = endpointOf(who, world);
    return {
      async fetch(signal) {
        const { SecretsManagerClient, GetSecretValueCommand } = await loadSdk(who, world);
        const client = new SecretsManagerClient({ region, maxAttempts: 2, ...endpoint, ...keysOf(who, world) });
        try {
          const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }), { abortSignal: signal });
          if (text === undefined) throw unusable(who, "it is binary", "store a JSON object of texts");
          return readValues(parsed(text)) ?? { value: text };
        } catch (error) {
          throw getSecretError(who, region, error);
        } finally {
          client.destroy();
        }
      },
    };
  },
};

/** Another address than AWS's own: a private endpoint, or a stand-in. */
function endpointOf(who: string, world: SecretWorld): { readonly endpoint?: string } {
  for (const name of ["AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS_ENDPOINT_URL"]) {
    const text = world.variable(name);
    if (text !== undefined) return { endpoint: secretAddress(who, name, text).href };
  }
  return {};
}

/** Keys that are written out win; without them the client looks where AWS clients look, roles of machines included. */
function keysOf(who: string, world: SecretWorld): object {
  const [accessKeyId, secretAccessKey, sessionToken] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].map((name) => world.variable(name));
  if (accessKeyId === undefined && secretAccessKey === undefined) return {};
  if (accessKeyId === undefined || secretAccessKey === undefined) throw unusable(who, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together", "set both or none");
  world.learned(secretAccessKey);
  if (sessionToken !== undefined) world.learned(sessionToken);
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
}

async function loadSdk(who: string, world: SecretWorld): Promise<Sdk> {
  try {
    return (await world.find(PACKAGE)) as Sdk;
  } catch (cause) {
    throw unusable(who, `the package ${PACKAGE} cannot be loaded`, `run: npm i ${PACKAGE}`, cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
