/** All providers of credentials. Adding one is a folder, its row here and its name in runtime/abi/plan.ts. */
import type { SecretProvider } from "../abi/plan.js";
import { descriptor as awsSm } from "./aws-sm/descriptor.js";
import type { SecretDescriptor } from "./descriptor.js";
import { descriptor as env } from "./env/descriptor.js";
import { descriptor as k8s } from "./k8s/descriptor.js";
import { descriptor as vault } from "./vault/descriptor.js";

export const SECRET_SOURCES: { readonly [P in SecretProvider]: SecretDescriptor } = { env, vault, aws_sm: awsSm, k8s };

/** Where the catalog names none. */
export const DEFAULT_SECRET_SOURCE = env;
