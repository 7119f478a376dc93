/** docs/reference/capabilities.md: what each backend can do, from the table that compiler and runtime ask. */
import { COMPARISON_OPS, EXTENDED_OPS } from "../../runtime/abi/filter.js";
import { BACKENDS } from "../../runtime/abi/plan.js";
import { CAPABILITIES, type Capabilities } from "../../runtime/adapters/capabilities.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { HEADER, code, table } from "./markdown.js";

const ROWS: readonly (readonly [string, (can: Capabilities) => boolean | string])[] = [
  ["support level", (can) => can.supportLevel],
  [`operators ${COMPARISON_OPS.join(" ")}`, () => true],
  ...EXTENDED_OPS.map((op) => [`operator ${op}`, (can: Capabilities) => can.extendedOps.includes(op)] as const),
  ["nested paths (a.b.c)", (can) => can.nestedPaths],
  ["list fields (keyword[])", (can) => can.arrays],
  ["hybrid search", (can) => can.hybrid],
  ["filter-only reads (scroll, lookup)", (can) => can.scroll],
  ["counting with a filter", (can) => can.countWithFilter],
  ["lookup by id under the guard", (can) => can.idLookup],
  ["score threshold of its own", (can) => can.scoreThreshold],
  ["query.ef", (can) => can.hnswEf],
  ["embeds query texts itself", (can) => can.serverSideEmbedding],
  ["introspection", (can) => can.introspection],
  ["needs an index for each filter path", (can) => can.requiresExplicitIndex],
  ["dates compared as instants (dtype datetime)", (can) => can.comparesInstants],
  ["exact search", (can) => can.exact],
];

/** The page. */
export function capabilitiesPage(): string {
  const rows = ROWS.map(([what, of]) => [what, ...BACKENDS.map((backend) => mark(of(CAPABILITIES[backend])))]);
  const named = (names: readonly string[]): string => names.map((name) => code(name)).join(" ") || "none";
  const packages = BACKENDS.flatMap((backend) => {
    const { packages: own, variant } = DESCRIPTORS[backend];
    return [[backend, named(own)], ...(variant === undefined ? [] : [[`${backend}, ${variant.summary}`, named(variant.packages)]])];
  });
  return [
    HEADER,
    "# Capabilities of the backends\n\nThe compiler refuses what a backend cannot do (VB2004, VB2012, VB2025, VB4021), and it decides filters with the very code that will run. What each adapter was run against is in [backends.md](backends.md).\n\n",
    table(["", ...BACKENDS], rows),
    "\nRow meanings that need more words: *exact search* compares every record that the filter selects; an approximate index may miss some.\nchroma and pinecone order numbers only: gt, gte, lt and lte of texts and dates are refused there, and qdrant orders numbers and dates.\nOn milvus, `like` tells upper from lower case, and a literal `%` or `_` cannot be written in a pattern; on weaviate, a literal `*` or `?` cannot.\n",
    "\n## Packages\n\nThe client of a store is an optional npm package, to be installed where that store is used.\n\n",
    table(["backend", "packages"], packages),
  ].join("");
}

function mark(value: boolean | string): string {
  return typeof value === "string" ? value : value ? "yes" : "–";
}
