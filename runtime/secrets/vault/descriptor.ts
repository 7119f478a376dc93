/** The descriptor of `vault`: HashiCorp Vault, OpenBao, and what else answers their HTTP API. */
import type { SecretDescriptor } from "../descriptor.js";

export const descriptor: SecretDescriptor = {
  name: "vault",
  summary: "a key-value secret of Vault or OpenBao, version 1 or 2, over HTTP",
  settings: {
    addr: { meaning: "address; VAULT_ADDR when absent" },
    path: { meaning: "path of the secret below /v1/, such as secret/data/search", missing: "VB4040" },
    role: { meaning: "sent as X-Vault-Role" },
  },
  variables: { VAULT_ADDR: "address, where the catalog has none", VAULT_TOKEN: "the token; required", VAULT_NAMESPACE: "sent as X-Vault-Namespace" },
  packages: [],
  load: () => import("./index.js"),
};
