/** The contract on Chroma's own server (make live starts it), or the one that CHROMA_URL names. */
import { contract } from "./contract.js";
import { chromaStore } from "./chroma-live.js";

const url = process.env["TOOLSRV_TEST_CHROMA"];
contract("chroma", url === undefined ? "needs a Chroma server; make live starts one" : () => chromaStore(url, process.env["TOOLSRV_TEST_CHROMA_TOKEN"], process.env["TOOLSRV_TEST_CHROMA_WHAT"]));
