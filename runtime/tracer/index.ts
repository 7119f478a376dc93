/** Recording from TypeScript, published as toolsrv/trace: a tracer, and what plugs it into LangChain.js and MCP clients. */
export { createHttpSink, type HttpSinkOptions, type TraceEvent, type TraceSink } from "./sink.js";
export { createTracer, type SpanEnd, type SpanKind, type SpanOptions, type Tracer, type TracerOptions, type TraceSpan } from "./tracer.js";
export { createLangChainHandler, type LangChainHandler, type LangChainOptions } from "./langchain.js";
export { type McpClient, traceMcpClient } from "./mcp.js";
