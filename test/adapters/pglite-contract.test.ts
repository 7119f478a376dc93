/** The contract on PostgreSQL within this process (make live: the engine takes seconds to start and half a gigabyte). */
import { contract } from "./contract.js";
import { pgliteStore } from "./pglite-live.js";

contract("pgvector", process.env["TOOLSRV_TEST_PGLITE"] === undefined ? "takes long; make live runs it" : pgliteStore);
