/** The provider aws_sm against moto (make live-secrets starts one): a secret is made, read, rotated and deleted. */
import assert from "node:assert/strict";
import { isToolError } from "../../runtime/abi/errors.js";
import { source } from "../../runtime/secrets/aws-sm/index.js";
import { suite } from "../lib/suite.js";
import { world } from "./world.js";

const test = suite("secrets/aws-sm on moto");

const endpoint = process.env["TOOLSRV_TEST_AWS"];
if (endpoint === undefined) {
  test.skip("a secret is read, and read anew after its rotation", "make live-secrets starts the service");
} else {
  const keys = { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "canary-aws" };
  const read = (secretId: string, region?: string): Promise<unknown> =>
    source.open({ secret_id: secretId, ...(region === undefined ? {} : { region }) }, world({ ...keys, AWS_ENDPOINT_URL: endpoint })).fetch(new AbortController().signal);

  test("a secret is read, and read anew after its rotation", async () => {
    const { SecretsManagerClient, CreateSecretCommand, PutSecretValueCommand, DeleteSecretCommand } = await import("@aws-sdk/client-secrets-manager");
    const client = new SecretsManagerClient({ endpoint, region: "eu-central-1", credentials: { accessKeyId: "x", secretAccessKey: "y" } });
    const name = `prod/search-${process.pid}`;
    const { ARN: arn } = await client.send(new CreateSecretCommand({ Name: name, SecretString: '{"api_key":"one","url":"http://db"}' }));
    assert.deepEqual(await read(name), { api_key: "one", url: "http://db" });
    assert.deepEqual(await read(arn ?? ""), { api_key: "one", url: "http://db" });
    await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: '{"api_key":"two"}' }));
    assert.deepEqual(await read(name), { api_key: "two" });
    await assert.rejects(read(name, "us-east-1"), (error) => isToolError(error) && /no such secret \(region us-east-1\)/.test(error.message));
    await assert.rejects(read("nope"), (error) => isToolError(error) && /no such secret/.test(error.message));
    await client.send(new DeleteSecretCommand({ SecretId: name }));
    await assert.rejects(read(name), (error) => isToolError(error) && /scheduled for deletion/.test(error.message));
    client.destroy();
  }, { timeoutMs: 60_000 });
}

test.run();
