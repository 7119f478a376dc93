/** The descriptor of `k8s`: a Secret of the cluster that the server runs in, read with the pod's service account. */
import type { SecretDescriptor } from "../descriptor.js";

export const descriptor: SecretDescriptor = {
  name: "k8s",
  summary: "a Secret of the Kubernetes cluster that the server runs in",
  settings: {
    secret: { meaning: "name of the secret", missing: "VB4042" },
    key: { meaning: "the one key of it that is taken; all when absent" },
    namespace: { meaning: "namespace; the pod's own when absent" },
  },
  variables: { KUBERNETES_SERVICE_HOST: "the cluster's API; set in every pod", KUBERNETES_SERVICE_PORT: "its port; set in every pod" },
  packages: [],
  load: () => import("./index.js"),
};
