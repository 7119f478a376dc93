/** The contract on Qdrant: its engine behind our REST layer (make live starts it), or the server that QDRANT_URL names. */
import { contract } from "./contract.js";
import { qdrantStore } from "./qdrant-live.js";

const url = process.env["TOOLSRV_TEST_QDRANT"];
const what = process.env["TOOLSRV_TEST_QDRANT_WHAT"] ?? "a Qdrant server";
contract("qdrant", url === undefined ? "needs Qdrant; make live starts its engine" : () => qdrantStore(url, process.env["TOOLSRV_TEST_QDRANT_KEY"], what));
