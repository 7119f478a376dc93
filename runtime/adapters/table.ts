/** The adapters of all backends; each loads when a catalog names it. */
import type { Program } from "../abi/call.js";
import { DESCRIPTORS } from "./descriptors.js";

export const ADAPTERS: Program["adapters"] = Object.fromEntries(Object.values(DESCRIPTORS).map(({ name, load }) => [name, load]));
