/** What each backend can do, from its descriptor. */
import type { BackendName } from "../abi/plan.js";
import type { Capabilities } from "./descriptor.js";
import { DESCRIPTORS } from "./descriptors.js";

export type { Capabilities } from "./descriptor.js";

export const CAPABILITIES = Object.fromEntries(Object.entries(DESCRIPTORS).map(([name, { capabilities }]) => [name, capabilities])) as { readonly [B in BackendName]: Capabilities };
