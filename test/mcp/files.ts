/** Paths of the fixtures beside the tests, whether these run from source or from dist/. */
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const extension = extname(fileURLToPath(import.meta.url));

export const fixtureServer = fileURLToPath(new URL(`./fixture-server${extension}`, import.meta.url));
export const measuredToolsrv = fileURLToPath(new URL(`./measured-toolsrv${extension}`, import.meta.url));
export const deafServer = fileURLToPath(new URL(`../http/deaf-server${extension}`, import.meta.url));
export const skillServer = fileURLToPath(new URL(`./skill-server${extension}`, import.meta.url));
