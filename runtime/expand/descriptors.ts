/** All providers of query expansion. Adding one is a folder, its row here and its name in runtime/abi/plan.ts. */
import type { ExpandProvider } from "../abi/plan.js";
import type { ExpandDescriptor } from "./descriptor.js";
import { descriptor as hosted } from "./hosted/descriptor.js";
import { descriptor as http } from "./http/descriptor.js";
import { descriptor as none } from "./none/descriptor.js";

export const EXPANDERS: { readonly [P in ExpandProvider]: ExpandDescriptor } = { hosted, http, none };

/** Where the catalog names none. */
export const DEFAULT_EXPANDER = none;
