/** The contract on Milvus: milvus-lite (make live starts it), or the server that MILVUS_URL names. */
import { contract } from "./contract.js";
import { milvusStore } from "./milvus-live.js";

const uri = process.env["TOOLSRV_TEST_MILVUS"];
contract("milvus", uri === undefined ? "needs Milvus; make live starts milvus-lite" : () => milvusStore(uri, process.env["TOOLSRV_TEST_MILVUS_TOKEN"], process.env["TOOLSRV_TEST_MILVUS_VARIANT"]));
