/** docs/reference/backends.md: what each adapter was run against, from the record that `make live UPDATE=1` writes. */
import { BACKENDS } from "../../runtime/abi/plan.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { HEADER, table } from "./markdown.js";

/** One run of the contract. */
export interface LiveRun {
  /** The backend, or a variant of it. */
  readonly backend: string;
  /** Server and version. */
  readonly store: string;
  /** Random filters that were compared with the reference. */
  readonly filters: number;
  /** Cases in order: `ok`, with or without words about what was left out, `FAILED`, or why the case says nothing here. */
  readonly cases: readonly (readonly [name: string, outcome: string])[];
}

/** Cases that passed, those that apply to the store, and the others: a store within the process has no network that could break. */
export function countsOf(cases: LiveRun["cases"]): { readonly passed: number; readonly applied: number; readonly others: number } {
  const passed = cases.filter(([, outcome]) => outcome.startsWith("ok")).length;
  const applied = passed + cases.filter(([, outcome]) => outcome === "FAILED").length;
  return { passed, applied, others: cases.length - applied };
}

/** The page. @param runs As test/live/runs.json has them. */
export function backendsPage(runs: readonly LiveRun[]): string {
  const names = [...new Set(runs.flatMap(({ cases }) => cases.map(([name]) => name)))];
  const proofs = runs.map(({ backend, store, filters, cases }) => {
    const { passed, applied, others } = countsOf(cases);
    return [backend, store, `${passed} of ${applied}`, String(others), filters.toLocaleString("en-US")];
  });
  const notes = [...new Set(runs.flatMap(({ cases }) => cases.map(([, outcome]) => outcome).filter((outcome) => outcome !== "ok")))];
  const mark = (run: LiveRun, name: string): string => {
    const outcome = new Map(run.cases).get(name) ?? "–";
    return outcome === "ok" || outcome === "–" ? outcome : `${outcome.startsWith("ok") ? "ok " : ""}(${notes.indexOf(outcome) + 1})`;
  };
  return [
    HEADER,
    "# Backends and what they were proven on\n\n`make live` starts each store and runs one contract on it: random filters against the reference `evaluate`, hostile texts, keys and vectors, broken connections, two tenants in one collection, the quickstart's films. A store of your own is asked instead where PGVECTOR_URL, QDRANT_URL, CHROMA_URL, MILVUS_URL or WEAVIATE_URL names one. milvus-lite and Milvus itself (milvus-standalone) are asked both, as each has what the other lacks. This page is made from the run that `make live FILTERS=2000 UPDATE=1` recorded in test/live/runs.json; a later run that finds another store or another outcome fails.\n\n",
    ...(runs.length === 0 ? ["No run is recorded.\n"] : [table(["backend", "the contract ran on", "cases passed", "cases that don't apply", "random filters"], proofs)]),
    "\n## Without a record of such a run\n\n",
    table(["backend", "proven on"], unrecorded(runs)),
    ...(runs.length === 0 ? [] : [
      "\n## Cases\n\n",
      table(["case", ...runs.map(({ backend }) => backend)], names.map((name) => [name, ...runs.map((run) => mark(run, name))])),
      `\n${notes.map((note, index) => `${index + 1}. ${note}`).join("\n")}\n`,
    ]),
    "\n## Differences that remain\n\nWhere a limit cuts rows of one score apart, a store may have chosen another of them than the embedded store. The clients of chroma, milvus and weaviate lose a field named `__proto__`, so no row has it. On qdrant a list with the value in it does not pass `ne`, an empty list counts as missing, a time without a zone is counted as UTC but never returned by a filter on instants, and text_match has the words of Qdrant's tokenizer; counting under a collection's strict mode needs a payload index on `path[]`. On chroma lists of more than 10,000 matching records come in the store's order instead of that of their ids. On milvus `like` tells upper from lower case, milvus-lite takes a boolean for the number it counts as, a server before 2.4 compares by `like` with `text%` only and refuses other patterns in the call, the dynamic values of a record have at most 65,536 bytes, lists and counts have the consistency of the collection, a search that comes back with fewer rows than its limit is asked again as widely as an HNSW, IVF or SCANN index allows (SCANN of 2.3.5 may lose rows even so), and a list reads at most 16,384 matching records. On weaviate texts are compared without the spaces around them, equality needs a property with tokenization `field`, `like` and text_match follow the property's index, an empty list counts as missing, and a read reaches at most 10,000 records.\n",
  ].join("");
}

function unrecorded(runs: readonly LiveRun[]): readonly (readonly string[])[] {
  return BACKENDS.filter((backend) => !runs.some((run) => run.backend === backend)).map((backend) => {
    const { load, packages, provenOn } = DESCRIPTORS[backend];
    return [backend, provenOn?.join("; ") ?? (load !== undefined && packages.length === 0 ? "itself, in every build" : "nothing yet")];
  });
}
