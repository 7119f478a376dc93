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
  const proofs = BACKENDS.flatMap((backend) => {
    const { load, variant } = DESCRIPTORS[backend];
    return [[backend, mark(load !== undefined), provenOn(backend)], ...(variant === undefined ? [] : [[`${backend}, ${variant.summary}`, mark(true), variant.provenOn]])];
  });
  return [
    HEADER,
    "# Capabilities of the backends\n\nThe compiler refuses what a backend cannot do (VB2004, VB2012, VB2025, VB4021), and it decides filters with the very code that will run.\n\n",
    table(["", ...BACKENDS], rows),
    "\nRow meanings that need more words: *exact search* compares every record that the filter selects; an approximate index may miss some.\nchroma and pinecone order numbers only: gt, gte, lt and lte of texts and dates are refused there, and qdrant orders numbers and dates.\nOn milvus, `like` tells upper from lower case, and a literal `%` or `_` cannot be written in a pattern; on weaviate, a literal `*` or `?` cannot.\n",
    "\n## What was proven on what\n\n`make live` runs one contract on each store: random filters against the reference, hostile values, broken connections, two tenants in one collection. A store of your own is asked instead where PGVECTOR_URL, QDRANT_URL, CHROMA_URL, MILVUS_URL or WEAVIATE_URL names one. No engine of Pinecone can be had: its adapter has a suite of its own on a stand-in, which is no proof of the service.\n\n",
    table(["backend", "served", "the contract ran on"], proofs),
    "\nDifferences that remain: on qdrant a list with the value in it does not pass `ne`, an empty list counts as missing, a time without a zone is counted as UTC but never returned by a filter on instants, and text_match has the words of Qdrant's tokenizer; counting under a collection's strict mode needs a payload index on `path[]`. On chroma lists of more than 10,000 matching records come in the store's order instead of that of their ids. On milvus `like` tells upper from lower case, milvus-lite takes a boolean for the number it counts as, and a list reads at most 16,384 matching records. On weaviate texts are compared without the spaces around them, equality needs a property with tokenization `field`, `like` and text_match follow the property's index, an empty list counts as missing, and a read reaches at most 10,000 records.\n",
    "\n## Packages\n\nThe client of a store is an optional npm package, to be installed where that store is used.\n\n",
    table(["backend", "packages"], packages),
  ].join("");
}

function provenOn(backend: (typeof BACKENDS)[number]): string {
  const { load, packages, provenOn: store } = DESCRIPTORS[backend];
  return store ?? (load !== undefined && packages.length === 0 ? "itself, in every build" : "nothing yet");
}

function mark(value: boolean | string): string {
  return typeof value === "string" ? value : value ? "yes" : "–";
}
