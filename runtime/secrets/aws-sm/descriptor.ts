/** The descriptor of `aws_sm`: AWS Secrets Manager, by the client of AWS, which is optional. */
import type { SecretDescriptor } from "../descriptor.js";

export const descriptor: SecretDescriptor = {
  name: "aws_sm",
  summary: "AWS Secrets Manager",
  settings: {
    secret_id: { meaning: "name or ARN of the secret", missing: "VB4041" },
    region: { meaning: "region; AWS_REGION or AWS_DEFAULT_REGION when absent" },
  },
  variables: {
    AWS_REGION: "region, where the catalog has none",
    AWS_DEFAULT_REGION: "region, where there is no AWS_REGION",
    AWS_ACCESS_KEY_ID: "key, with AWS_SECRET_ACCESS_KEY; without them the chain of the AWS client decides",
    AWS_SECRET_ACCESS_KEY: "its secret",
    AWS_SESSION_TOKEN: "its session, where it has one",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: "another address of the service",
    AWS_ENDPOINT_URL: "another address of all services",
  },
  packages: ["@aws-sdk/client-secrets-manager"],
  load: () => import("./index.js"),
};
