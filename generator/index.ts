/**
 * The library, published as `toolsrv`: compile a catalog, connect to it and call its tools in this process,
 * or load them for an agent framework (toolsrv/langchain and its neighbours have the formats).
 * An explicit list; everything else of the compiler may change at any time.
 */
export { CatalogError, compile, connect } from "./connect.js";
export { loadTools } from "./frameworks/toolset.js";
export type { BoundTool, ContextSource, Format, LoadOptions, Toolset, ToolOutcome } from "./frameworks/toolset.js";
export type { CallContext, CallOptions } from "./call-context.js";
export type { Arguments, CatalogOptions, CatalogSource, CompiledCatalog, Connection } from "./connect.js";
export type { GuardCertificate, LocatedDiagnostic, Plans } from "./ir.js";
export { isBackendError, isToolError } from "../runtime/abi/errors.js";
export type { ToolError } from "../runtime/abi/errors.js";
export type { ConnectionHealth, Envelope } from "../runtime/abi/call.js";
export type { Failure } from "../runtime/abi/failure.js";
export type { ToolDefinition } from "../runtime/abi/params.js";
