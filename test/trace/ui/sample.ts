/** Runs that look like those of real agents: chats with tools, a recovered and a fatal error, a call that hangs, many workers. */
import type { Json, RunningTrace } from "../lib.js";

type Said = { readonly [key: string]: unknown };

const SYSTEM = "You are the support agent of an online shop. Answer in the language of the customer. Never promise a delivery date that the carrier has not confirmed. Quote order numbers as they are. Ask before you cancel anything.";

/** Steps of a support agent that looks an order up. `at` is milliseconds since the epoch. */
export function supportRun(id: string, at: number, end: "answers" | "fails" | "hangs" = "answers"): Json[] {
  const time = (ms: number): string => new Date(at + ms).toISOString();
  const question = "Where is my order 4711? It should have been here on **Monday**.";
  const asked: Said[] = [{ role: "system", content: SYSTEM }, { role: "user", content: question }];
  const called: Said = { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "find_order", arguments: '{"order": "4711"}' } }] };
  const found: Said = { role: "tool", tool_call_id: "call_1", content: '{"order": "4711", "state": "shipped", "carrier": "Nordic Parcel", "items": [{"sku": "A-17", "count": 2}]}' };
  const tracked: Said = { role: "assistant", content: "", tool_calls: [{ id: "call_2", type: "function", function: { name: "carrier_status", arguments: '{"parcel": "NP-90210"}' } }] };
  const answer = "Your order **4711** left our warehouse on Friday with *Nordic Parcel*.\n\n1. It was sorted in Oslo this morning.\n2. The carrier expects to deliver it **tomorrow before noon**.\n\nYou can follow it with `NP-90210`.";
  const common = { session_id: "chat-20", user_id: "ada", tags: ["prod", "eu"] };
  const step = (run: string, type: string, ms: number, more: Said): Json => ({ run_id: `${id}-${run}`, parent_run_id: id, event_type: type, timestamp: time(ms), ...more } as unknown as Json);
  const model = { agent_name: "ChatOpenAI", model: "gpt-4o-mini" };
  const events: Json[] = [
    { run_id: id, event_type: "chain_start", timestamp: time(0), agent_name: "support_agent", ...common, payload: { inputs: { messages: [{ role: "user", content: question }] } } } as unknown as Json,
    step("m1", "chat_model_start", 20, { ...model, payload: { messages: asked } }),
    step("m1", "llm_end", 1240, { ...model, event_id: `${id}-m1-end`, token_input: 412, token_output: 31, payload: { choices: [{ message: called, finish_reason: "tool_calls" }] } }),
    step("t1", "tool_start", 1260, { tool_name: "find_order", mcp_server: "shop", payload: { input: { order: "4711" } } }),
    step("t1", "tool_end", 1420, { tool_name: "find_order", mcp_server: "shop", payload: { output: { content: [{ type: "text", text: found["content"] }] } } }),
    step("m2", "chat_model_start", 1430, { ...model, payload: { messages: [...asked, called, found] } }),
    step("m2", "llm_end", 2310, { ...model, event_id: `${id}-m2-end`, token_input: 530, token_output: 28, payload: { choices: [{ message: tracked }] } }),
    step("t2", "tool_start", 2330, { tool_name: "carrier_status", mcp_server: "logistics", payload: { input: { parcel: "NP-90210" } } }),
    { run_id: `${id}-h1`, parent_run_id: `${id}-t2`, event_type: "chain_start", timestamp: time(2340), agent_name: "http_request" } as unknown as Json,
    { run_id: `${id}-h1`, parent_run_id: `${id}-t2`, event_type: "chain_error", timestamp: time(3140), agent_name: "http_request", error_message: "ConnectTimeout after 800 ms" } as unknown as Json,
    { run_id: `${id}-t2`, parent_run_id: id, event_type: "retry", timestamp: time(3150), summary: "retry 1 of 2" } as unknown as Json,
  ];
  if (end === "hangs") return events;
  if (end === "fails") {
    return [
      ...events,
      { run_id: `${id}-h2`, parent_run_id: `${id}-t2`, event_type: "chain_start", timestamp: time(3400), agent_name: "http_request" } as unknown as Json,
      { run_id: `${id}-h2`, parent_run_id: `${id}-t2`, event_type: "chain_error", timestamp: time(4200), agent_name: "http_request", error_message: "502 Bad Gateway from carrier.example" } as unknown as Json,
      step("t2", "tool_error", 4230, { tool_name: "carrier_status", mcp_server: "logistics", error_message: "carrier_status failed: 502 Bad Gateway from carrier.example" }),
      { run_id: id, event_type: "chain_error", timestamp: time(4300), agent_name: "support_agent", error_message: "carrier_status failed: 502 Bad Gateway from carrier.example" } as unknown as Json,
    ];
  }
  return [
    ...events,
    step("t2", "tool_end", 3900, { tool_name: "carrier_status", mcp_server: "logistics", payload: { output: { content: [{ type: "text", text: "sorted in Oslo, delivery tomorrow before 12:00" }] } } }),
    step("m3", "chat_model_start", 3920, { ...model, payload: { messages: [...asked, called, found, tracked, { role: "tool", tool_call_id: "call_2", content: "sorted in Oslo, delivery tomorrow before 12:00" }] } }),
    step("m3", "llm_end", 5600, { ...model, token_input: 610, token_output: 96, payload: { choices: [{ message: { role: "assistant", content: answer }, finish_reason: "stop" }] } }),
    { run_id: id, event_type: "chain_end", timestamp: time(5620), agent_name: "support_agent", payload: { outputs: { messages: [{ role: "user", content: question }, { role: "assistant", content: answer }] } } } as unknown as Json,
  ];
}

/** A run with many calls of one name below its root. */
export function workersRun(id: string, at: number, workers = 820): Json[] {
  const time = (ms: number): string => new Date(at + ms).toISOString();
  const events: Json[] = [{ run_id: id, event_type: "chain_start", timestamp: time(0), agent_name: "crawler", tags: ["nightly"], payload: { topic: "prices of bicycles" } } as unknown as Json];
  for (let index = 0; index < workers; index++) {
    const from = index * 10;
    const failed = index === 417;
    events.push({ run_id: `${id}-w${index}`, parent_run_id: id, event_type: "tool_start", timestamp: time(from), tool_name: "worker", mcp_server: "farm" } as unknown as Json);
    events.push({ run_id: `${id}-w${index}`, parent_run_id: id, event_type: failed ? "tool_error" : "tool_end", timestamp: time(from + 40 + (index * 37) % 400), tool_name: "worker", mcp_server: "farm", ...(failed ? { error_message: "page 417 is empty" } : {}) } as unknown as Json);
  }
  events.push({ run_id: `${id}-s`, parent_run_id: id, event_type: "chat_model_start", timestamp: time(workers * 10 + 500), agent_name: "Summarizer", model: "claude-sonnet-4-5" } as unknown as Json);
  events.push({ run_id: `${id}-s`, parent_run_id: id, event_type: "llm_end", timestamp: time(workers * 10 + 4200), agent_name: "Summarizer", token_input: 48_100, token_output: 940 } as unknown as Json);
  events.push({ run_id: id, event_type: "chain_end", timestamp: time(workers * 10 + 4300), agent_name: "crawler", payload: { summary: "Prices fell by 4 % since last week." } } as unknown as Json);
  return events;
}

/** Five runs of the last hours: two that succeed, one that hangs, one with many workers, one that fails. */
export async function fillSample(trace: RunningTrace, now: number): Promise<void> {
  for (const run of [supportRun("ok-2", now - 7_200_000), supportRun("ok-1", now - 3_600_000), supportRun("hang-1", now - 1_500_000, "hangs"), workersRun("crawl-1", now - 500_000), supportRun("bad-1", now - 60_000, "fails")]) await trace.ingest(run);
}
