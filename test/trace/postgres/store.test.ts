/** The store in PostgreSQL: the contract of every store. */
import { suite } from "../../lib/suite.js";
import { storeContract } from "../contract.js";
import { DATABASE, NO_DATABASE, postgresStores } from "./database.js";

const test = suite("trace store postgres");

if (DATABASE === undefined) test.skip("the contract of every store", NO_DATABASE);
else storeContract(test, postgresStores(DATABASE));

test.run();
