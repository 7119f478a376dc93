/**
 * THE door: every name that generated code may use, published as toolsrv/runtime/v1. An explicit list, because each
 * name here is a promise to files that users have committed. Nothing inside this repository imports it.
 */
export { serve, serveProjects } from "../serve/main.js";
export { serveTwin, serveTwins } from "../serve/twin.js";
export type { PrintedTwin } from "../serve/twin.js";
export { serveTrace } from "../serve/trace-entry.js";
export type { TraceOperations } from "../serve/trace-entry.js";
export { bind } from "../call/steps/bind.js";
export { collections } from "../call/steps/collections.js";
export { resolve } from "../call/directory/directory.js";
export { pipeline } from "../call/pipeline/pipeline.js";
export { count, lookup, scroll, search } from "../call/steps/search.js";
export { shape } from "../call/steps/shape.js";
export type { CallContext, Envelope, Handler, Program, ServePlan, ToolCode } from "./call.js";
export type { Client, EnvelopeOf, ToolCalls } from "./client.js";
export type { ExplainedTools } from "./explained.js";
export type { Row } from "./filter.js";
export type { TraceRoute } from "./trace.js";
export type { ToolDefinition } from "./params.js";
export type { Project } from "./projects.js";
export type { SkillParts } from "./skill.js";
export type { CatalogPlan, ConnectionPlan, EmbeddingPlan, PlanTable, ToolPlan } from "./plan.js";
