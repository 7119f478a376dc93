/** AWS Secrets Manager by AWS's own client, against a server that answers as its documentation records; moto in `make live-secrets`. */
import assert from "node:assert/strict";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import { source } from "../../runtime/secrets/aws-sm/index.js";
import { suite } from "../lib/suite.js";
import { json, secretServer, world, type SecretServer } from "./world.js";

const test = suite("secrets/aws-sm");

const KEYS = { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "canary-aws-secret" };
const signal = new AbortController().signal;
const stored = (value: object): object => ({ ARN: "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/pg-a1b2c3", CreatedDate: 1.7e9, Name: "prod/pg", VersionId: "EXAMPLE1-90ab-cdef-fedc-ba987EXAMPLE", VersionStages: ["AWSCURRENT"], ...value });
const failure = (name: string, status = 400) => json({ __type: name, message: "canary-aws-secret" }, status);

let server: SecretServer;
test.before(async () => {
  server = await secretServer(json(stored({ SecretString: '{"dsn":"postgresql://h"}' })));
});
test.after(() => server.close());
const open = (settings: object = {}, variables: { readonly [name: string]: string } = {}) =>
  source.open({ secret_id: "prod/pg", ...settings }, world({ ...KEYS, AWS_ENDPOINT_URL: server.url, ...variables }));

test("a JSON object gives its fields; any other text is one value", async () => {
  server.answer = json(stored({ SecretString: '{"dsn":"postgresql://h","port":5432,"tags":["a"]}' }));
  assert.deepEqual(await open().fetch(signal), { dsn: "postgresql://h", port: "5432" });
  server.answer = json(stored({ SecretString: "plain" }));
  assert.deepEqual(await open().fetch(signal), { value: "plain" });
});

test("the request is signed for the region of the catalog, else of the variables, and names the secret", async () => {
  server.answer = json(stored({ SecretString: "{}" }));
  server.asked.length = 0;
  await open({ region: "us-east-2" }).fetch(signal);
  await open().fetch(signal);
  await source.open({ secret_id: "x" }, world({ ...KEYS, AWS_REGION: undefined as never, AWS_DEFAULT_REGION: "us-west-1", AWS_ENDPOINT_URL: server.url })).fetch(signal);
  assert.deepEqual(server.asked.map(({ headers }) => /\/([a-z0-9-]+)\/secretsmanager\//.exec(headers.authorization ?? "")?.[1]), ["us-east-2", "eu-central-1", "us-west-1"]);
  assert.equal(server.asked[0]?.headers["x-amz-target"], "secretsmanager.GetSecretValue");
});

test("each failure names the secret, the region and what to do, and repeats no value", async () => {
  const table: readonly (readonly [name: string, want: RegExp])[] = [
    ["ResourceNotFoundException", /^aws_sm 'prod\/pg': there is no such secret \(region eu-central-1\); check aws_sm\.secret_id/],
    ["AccessDeniedException", /not allowed.*GetSecretValue/], ["UnrecognizedClientException", /credentials are refused/], ["InvalidSignatureException", /credentials are refused/],
    ["ExpiredTokenException", /credentials are refused/], ["DecryptionFailure", /KMS/], ["InvalidRequestException", /scheduled for deletion/],
  ];
  for (const [name, want] of table) {
    server.answer = failure(name);
    await assert.rejects(open().fetch(signal), (error) => isToolError(error) && error.code === "missing_env" && want.test(error.message) && !error.message.includes("canary"), name);
  }
  server.answer = failure("InternalServiceError", 500);
  await assert.rejects(open().fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable" && !error.message.includes("canary"));
  server.answer = json(stored({ SecretBinary: "AAAA" }));
  await assert.rejects(open().fetch(signal), /it is binary; store a JSON object of texts/);
});

test("without a region, with half a key or an address that is not https it says so", async () => {
  assert.throws(() => source.open({ secret_id: "x" }, world()), /set AWS_REGION/);
  await assert.rejects(source.open({ secret_id: "x" }, world({ AWS_REGION: "r", AWS_ACCESS_KEY_ID: "a", AWS_ENDPOINT_URL: server.url })).fetch(signal), /belong together/);
  assert.throws(() => open({}, { AWS_ENDPOINT_URL_SECRETS_MANAGER: "http://secrets.example" }), /AWS_ENDPOINT_URL_SECRETS_MANAGER is not https/);
});

test("a package that is missing says how to get it", async () => {
  const without = { ...world({ ...KEYS }), find: () => Promise.reject(new Error("not found")) };
  await assert.rejects(source.open({ secret_id: "x" }, without).fetch(signal), /npm i @aws-sdk\/client-secrets-manager/);
});

test("the keys are known to the log", async () => {
  const surroundings = world({ ...KEYS, AWS_SESSION_TOKEN: "canary-session", AWS_ENDPOINT_URL: server.url });
  server.answer = json(stored({ SecretString: "{}" }));
  await source.open({ secret_id: "x" }, surroundings).fetch(signal);
  assert.deepEqual(surroundings.seen, ["canary-aws-secret", "canary-session"]);
});

test.run();
