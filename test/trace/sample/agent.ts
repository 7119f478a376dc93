/**
 * The agent whose runs are the sample of `toolsrv trace demo`: LangChain.js with a scripted model, over the quickstart's
 * MCP server. Everything but the model's words is real: the graph, the calls, the films that are found, and the failures.
 */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { type ClientTool, tool } from "@langchain/core/tools";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createAgent, createMiddleware } from "langchain";
import { createLangChainHandler, createTracer, type TraceEvent } from "../../../runtime/tracer/index.js";

/** What the model says next: words, calls of tools, or an error of its own. */
type Turn = string | Error | readonly { readonly name: string; readonly args: object }[];

export interface SampleAgentOptions {
  /** The compiled quickstart, and the file with its values. */
  readonly server: string;
  readonly envFile: string;
  /** How long the model thinks, as a share of what it would; 0 for a test. */
  readonly pace: number;
}

/** A name with a list price, so that the sample shows costs. */
const MODEL = "gpt-4o-mini";
/** Name of the server in the agent's events. */
export const SERVER_NAME = "movies";
const SYSTEM = "You are a film expert. Look films up before you name them, and say where a number comes from. Answer in a few sentences of Markdown.";

class ScriptedModel extends BaseChatModel {
  #turns: Turn[];
  #calls = 0;

  constructor(turns: readonly Turn[], private readonly pace: number) {
    super({});
    this.#turns = [...turns];
  }

  override bindTools(): this {
    return this;
  }

  override invocationParams(): object {
    return { model: MODEL, temperature: 0.2 };
  }

  override getLsParams(options: this["ParsedCallOptions"]): ReturnType<BaseChatModel["getLsParams"]> {
    return { ...super.getLsParams(options), ls_provider: "scripted", ls_model_name: MODEL };
  }

  override _llmType(): string {
    return "scripted";
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const turn = this.#turns.shift() ?? "That is all I know.";
    this.#calls += 1;
    await pause((450 + ((this.#calls * 377) % 700)) * this.pace);
    if (turn instanceof Error) throw turn;
    const words = typeof turn === "string" ? turn : "";
    const calls = typeof turn === "string" ? [] : turn.map(({ name, args }, index) => ({ name, args: { ...args }, id: `call_${this.#calls}_${index + 1}`, type: "tool_call" as const }));
    const usage = { input_tokens: tokensIn(messages), output_tokens: Math.ceil((words.length + JSON.stringify(calls).length) / 4) };
    const message = Object.assign(new AIMessage({ content: words, tool_calls: calls }), {
      usage_metadata: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
      response_metadata: { model_name: MODEL, finish_reason: calls.length > 0 ? "tool_calls" : "stop" },
    });
    return { generations: [{ text: words, message }], llmOutput: {} };
  }
}

function tokensIn(messages: readonly BaseMessage[]): number {
  return Math.ceil(messages.reduce((sum, { content }) => sum + (typeof content === "string" ? content : JSON.stringify(content)).length, 0) / 4) + 180;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A session with the server; its process can be stopped, or ended, as happens to servers. */
interface Movies {
  readonly tools: readonly ClientTool[];
  /** The process keeps its connection and answers nothing any more. */
  freeze(): void;
  kill(): void;
  close(): Promise<void>;
}

/** `before` is invoked before a call is sent, `sent` after it. */
async function connectMovies({ server, envFile }: SampleAgentOptions, { before, sent }: { readonly before: () => void; readonly sent: () => void }): Promise<Movies> {
  const transport = new StdioClientTransport({ command: process.execPath, args: ["--", server, "--env-file", envFile], stderr: "ignore" });
  const client = new Client({ name: "film-expert", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { pid } = transport;
  const signal = (name: NodeJS.Signals): void => {
    try {
      // It may have ended by itself.
      if (pid !== null) process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  return {
    tools: tools.map(({ name, description = "", inputSchema }) => tool(async (args: unknown) => {
      before();
      const answer = client.callTool({ name, arguments: args as { [name: string]: unknown } });
      sent();
      const { content, isError } = (await answer) as { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
      const text = content.map((item) => item.text).join("\n");
      if (isError === true) throw new Error(text);
      return text;
    }, { name, description, schema: inputSchema }) as unknown as ClientTool),
    freeze: () => signal("SIGSTOP"),
    kill: () => signal("SIGKILL"),
    close: () => client.close(),
  };
}

/** What a tool server refuses is for the model to mend; a server that is gone ends the run. */
const mendRefusals = createMiddleware({
  name: "mend_refusals",
  async wrapToolCall(request, handler) {
    try {
      return await handler(request);
    } catch (error) {
      const { message } = error as Error;
      if (!/invalid_arguments/.test(message)) throw error;
      return new ToolMessage({ content: message, tool_call_id: request.toolCall.id ?? "", status: "error" });
    }
  },
});

interface Scene {
  readonly ageMs: number;
  readonly name: string;
  readonly question: string;
  readonly session: string;
  readonly user: string;
  readonly tags: readonly string[];
  readonly turns: readonly Turn[];
  /** Turns of the agent that the first one asks, where it does. */
  readonly analyst?: readonly Turn[];
  /** At the call of this number the server answers nothing any more; where it `dies` too, the run ends, else it is recorded as it hangs. */
  readonly accident?: { readonly atCall: number; readonly dies: boolean };
}

const MINUTE_MS = 60_000;

/** The five runs, oldest first. */
const SCENES: readonly Scene[] = [
  {
    ageMs: 47 * MINUTE_MS, name: "film_expert", session: "sample-ada", user: "ada", tags: ["sample", "prod"],
    question: "Which well-known films of Steven Spielberg did people like best, and what did Jurassic Park earn?",
    turns: [
      [{ name: "list_movies", args: { director: "Steven Spielberg", min_votes: 100_000, limit: 8 } }, { name: "get_movie", args: { title: "Jurassic Park" } }],
      "By the ratings of the catalog, **Schindler's List** and **Saving Private Ryan** lead.\n\n| Film | Why it is here |\n|---|---|\n| Schindler's List | highest rating of those listed |\n| Saving Private Ryan | most votes among the war films |\n\n*Jurassic Park* runs for **127 minutes**, as `get_movie` says.",
    ],
  },
  {
    ageMs: 41 * MINUTE_MS, name: "film_expert", session: "sample-ada", user: "ada", tags: ["sample", "prod"],
    question: "And was a film about a sinking ship a success at the box office?",
    turns: [
      [{ name: "ask_analyst", args: { question: "Box office of films about a sinking ship" } }, { name: "search_movies", args: { query: "sinking ship", limit: 3 } }],
      "Yes. **Titanic** (1997) took more than its budget many times over:\n\n1. The analyst found it at the top of the box office.\n2. The other films about ships earned far less.",
    ],
    analyst: [
      [{ name: "search_box_office", args: { query: "titanic ship", min_worldwide_gross: 100_000_000 } }, { name: "count_movies", args: { genre: ["Drama"] } }],
      "Titanic leads by far: $1,842,879,955 worldwide on a budget of $200,000,000.",
    ],
  },
  {
    ageMs: 29 * MINUTE_MS, name: "film_expert", session: "sample-grace", user: "grace", tags: ["sample", "prod"],
    question: "Find me three westerns from before 1970.",
    turns: [
      [{ name: "search_movies", args: { query: "cowboys and outlaws", genre: ["Westerns"], released_until: "1970-01-01T00:00:00Z", limit: 3 } }],
      [{ name: "search_movies", args: { query: "cowboys and outlaws", genre: ["Western"], released_until: "1970-01-01T00:00:00Z", limit: 3 } }],
      new Error("429 Rate limit reached for gpt-4o-mini: requests per minute. Limit 500, used 500. Try again in 120 ms."),
    ],
  },
  {
    ageMs: 16 * MINUTE_MS, name: "film_expert", session: "sample-linus", user: "linus", tags: ["sample", "canary"], accident: { atCall: 1, dies: true },
    question: "What did Paramount release with Star Trek in its title?",
    turns: [[{ name: "search_paramount_movies", args: { query: "star trek", limit: 10 } }], "not reached"],
  },
  {
    ageMs: 3 * MINUTE_MS, name: "nightly_report", session: "sample-nightly", user: "scheduler", tags: ["sample", "nightly"], accident: { atCall: 2, dies: false },
    question: "Count the films of each studio for the report.",
    turns: [[{ name: "count_movies", args: { distributor: "Walt Disney Pictures" } }], [{ name: "list_movies", args: { distributor: "Warner Bros.", limit: 50 } }], "not reached"],
  },
];

/** Events of one run. */
async function play(scene: Scene, options: SampleAgentOptions): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = [];
  const tracer = createTracer({ sink: { emit: (event) => void events.push(event), registerTools: () => undefined, flush: async () => undefined, dropped: 0 } });
  let calls = 0;
  let hangs: () => void = () => undefined;
  const hung = new Promise<void>((resolve) => (hangs = resolve));
  const movies: Movies = await connectMovies(options, {
    before() {
      calls += 1;
      if (calls === scene.accident?.atCall) movies.freeze();
    },
    sent() {
      if (calls !== scene.accident?.atCall) return;
      if (scene.accident.dies) setTimeout(() => movies.kill(), 900 * options.pace);
      else hangs();
    },
  });
  const servers = Object.fromEntries(movies.tools.map(({ name }) => [name, SERVER_NAME]));
  const callbacks = [createLangChainHandler(tracer, { servers })];
  const analyst = createAgent({ model: new ScriptedModel(scene.analyst ?? [], options.pace), tools: [...movies.tools], systemPrompt: "You know the box office.", middleware: [mendRefusals] });
  const askAnalyst = tool(async ({ question }: { question: string }, config) => {
    const { messages } = await analyst.invoke({ messages: [new HumanMessage(question)] }, { callbacks: config.callbacks, runName: "box_office_analyst" });
    return String(messages.at(-1)?.content);
  }, { name: "ask_analyst", description: "Asks an analyst who knows the box office.", schema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] } });
  const tools: ClientTool[] = [...movies.tools, askAnalyst as unknown as ClientTool];
  const agent = createAgent({ model: new ScriptedModel(scene.turns, options.pace), tools, systemPrompt: SYSTEM, middleware: [mendRefusals] });
  const run = agent.invoke({ messages: [new HumanMessage(scene.question)] }, { callbacks, runName: scene.name, tags: [...scene.tags], metadata: { session_id: scene.session, user_id: scene.user } }).then(() => undefined, () => undefined);
  await Promise.race([run, hung]);
  const taken = [...events];
  movies.kill();
  await run;
  await movies.close().catch(() => undefined);
  return taken;
}

/** Plays all five runs, one after the other. */
export async function playSample(options: SampleAgentOptions): Promise<readonly { readonly ageMs: number; readonly events: readonly TraceEvent[] }[]> {
  const played: { ageMs: number; events: readonly TraceEvent[] }[] = [];
  for (const scene of SCENES) played.push({ ageMs: scene.ageMs, events: await play(scene, options) });
  return played;
}
