/** What every store does: what is recorded, what sums say, what filters and search find. Proven on each store by the same tests. */
import type { Suite } from "../lib/suite.js";
import { findingContract } from "./store-contract/finding.js";
import { graphContract } from "./store-contract/graph.js";
import { recordingContract } from "./store-contract/recording.js";
import { sumsContract } from "./store-contract/sums.js";
import type { Stores } from "./stores.js";

/** Registers the tests of the contract. */
export function storeContract(test: Suite, stores: Stores): void {
  recordingContract(test, stores);
  sumsContract(test, stores);
  findingContract(test, stores);
  graphContract(test, stores);
}
