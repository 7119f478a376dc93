/**
 * The library, published as `toolsrv`: compile a catalog, or connect to it and call its tools in this process.
 * An explicit list; everything else of the compiler may change at any time.
 */
export { CatalogError, compile, connect } from "./connect.js";
export type { CallOptions, CatalogOptions, CatalogSource, CompiledCatalog, Connection } from "./connect.js";
export type { GuardCertificate, LocatedDiagnostic, Plans } from "./ir.js";
export { isBackendError, isToolError } from "../runtime/abi/errors.js";
export type { ToolError } from "../runtime/abi/errors.js";
export type { ConnectionHealth, Envelope } from "../runtime/abi/call.js";
export type { ToolDefinition } from "../runtime/abi/params.js";
