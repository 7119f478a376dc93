/** The contract on PostgreSQL with pgvector (make live starts one). */
import { contract } from "./contract.js";
import { pgvectorStore } from "./pgvector-live.js";

const url = process.env["TOOLSRV_TEST_PGVECTOR"];
contract("pgvector", url === undefined ? "needs PostgreSQL with pgvector; make live starts one" : () => pgvectorStore(url));
