/** The contract on Weaviate: a server that make live builds, or the one that WEAVIATE_URL names. */
import { contract } from "./contract.js";
import { weaviateStore } from "./weaviate-live.js";

const url = process.env["TOOLSRV_TEST_WEAVIATE"];
contract("weaviate", url === undefined ? "needs Weaviate; make live builds it" : () => weaviateStore(url, process.env["TOOLSRV_TEST_WEAVIATE_GRPC"] ?? "", process.env["TOOLSRV_TEST_WEAVIATE_KEY"]));
