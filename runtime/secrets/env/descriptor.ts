/** The descriptor of `env`, the default: the settings of the connection hold references, which are filled at start. */
import type { SecretDescriptor } from "../descriptor.js";

export const descriptor: SecretDescriptor = {
  name: "env",
  summary: "the settings themselves, with references to the env file",
  settings: {},
  variables: {},
  packages: [],
  load: null,
};
