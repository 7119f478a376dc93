/**
 * The tools that the official conformance suites call, by the names and with the behaviour they expect. Handed to the
 * runtime through its seam for extra tools: what carries, lists, checks and words them is the server that users run.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ContentBlock, ExtraCall, ExtraTool, ExtraTools } from "../../runtime/abi/extra-tools.js";
import { ToolError } from "../../runtime/abi/errors.js";
import type { Json } from "../../runtime/abi/plan.js";

/** A red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
/** The head of a WAV file without a sample. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, words: string): ContentBlock => ({ type: "resource", resource: { uri, mimeType, text: words } });

interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: Json;
  readonly needs?: readonly string[];
  readonly run: (call: ExtraCall, args: { readonly [key: string]: unknown }, change: () => void) => readonly ContentBlock[] | Promise<readonly ContentBlock[]>;
}

/** Keywords of JSON Schema 2020-12 that a server may not lose on the way to the client. */
const SCHEMA_2020_12: Json = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
  properties: {
    name: { type: "string" }, address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] }, phone: { type: "string" }, email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Arguments of each type that clients repeat in headers, one of them further down. */
const MIRRORED: Json = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    limit: { type: "integer", "x-mcp-header": "Limit" },
    dry_run: { type: "boolean", "x-mcp-header": "Dry-Run" },
    options: { type: "object", properties: { tenant: { type: "string", "x-mcp-header": "Tenant" } } },
  },
};

const TOOLS: { readonly [name: string]: FixtureTool } = {
  test_simple_text: { description: "Returns a text", run: () => [text("This is a simple text response for testing.")] },
  test_image_content: { description: "Returns an image", run: () => [image] },
  test_audio_content: { description: "Returns a sound", run: () => [{ type: "audio", data: WAV, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    description: "Returns a resource within its result",
    run: () => [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  },
  test_multiple_content_types: {
    description: "Returns a text, an image and a resource",
    run: () => [text("Multiple content types test:"), image, resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
  },
  test_tool_with_logging: {
    description: "Writes three log messages while it runs",
    run: async (call) => {
      for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        call.log("info", words);
        await pause(50);
      }
      return [text("Logged three messages.")];
    },
  },
  test_logging_tool: {
    description: "Writes a log message",
    run: (call) => {
      call.log("info", "one message");
      return [text("Logged one message, for clients that want it.")];
    },
  },
  test_tool_with_progress: {
    description: "Reports its progress, if the client wants to know",
    run: async (call) => {
      for (const done of [0, 50, 100]) {
        call.progress(done, 100, `Completed ${done} of 100`);
        await pause(50);
      }
      return [text("Done, in three steps.")];
    },
  },
  test_error_handling: {
    description: "Always fails",
    run: () => {
      throw new ToolError("backend_unreachable", "This tool intentionally returns an error for testing");
    },
  },
  test_missing_capability: {
    description: "Needs a client that can sample",
    needs: ["sampling"],
    run: () => [text("The client can sample.")],
  },
  test_streaming_elicitation: {
    description: "Answers on a stream, on which a server may never put a request of its own",
    needs: ["elicitation"],
    run: (call) => {
      call.progress(1, 1, "nothing to ask");
      return [text("Nothing was asked.")];
    },
  },
  test_trigger_tool_change: {
    description: "Changes the list of tools",
    run: (_call, _args, change) => {
      change();
      return [text("The list has changed.")];
    },
  },
  json_schema_2020_12_tool: { description: "Has a schema with keywords of JSON Schema 2020-12", inputSchema: SCHEMA_2020_12, run: (_, args) => [text(JSON.stringify(args))] },
  test_mirrored_arguments: { description: "Has arguments that are repeated in headers", inputSchema: MIRRORED, run: (_, args) => [text(JSON.stringify(args))] },
};

/** The tools of one server; calling test_trigger_tool_change adds one, or takes it away again. */
export function conformanceTools(): ExtraTools {
  const listeners: (() => void)[] = [];
  const constant = Object.entries(TOOLS).map(([name, tool]): ExtraTool => ({
    name,
    title: name.replaceAll("_", " "),
    description: tool.description,
    inputSchema: tool.inputSchema ?? { type: "object", properties: {} },
    ...(tool.needs === undefined ? {} : { needs: tool.needs }),
  }));
  const added: ExtraTool = { name: "test_added_tool", title: "Added tool", description: "Is there every other time", inputSchema: { type: "object", properties: {} } };
  let definitions: readonly ExtraTool[] = constant;
  const change = (): void => {
    definitions = definitions === constant ? [...constant, added] : constant;
    for (const tell of listeners) tell();
  };
  return {
    get definitions() {
      return definitions;
    },
    async call(name, args, call) {
      const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
      return { content: tool === undefined ? [text("I am here.")] : await tool.run(call, args, change) };
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
