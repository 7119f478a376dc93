/** A run to look at: an agent that asks a model and calls tools, one of them in vain. */

type Event = { readonly [field: string]: unknown };

/** Events of one finished run that ended at `nowMs`. */
export function demoEvents(runId: string, nowMs: number): Event[] {
  const at = (ms: number): string => new Date(nowMs - 620 + ms).toISOString();
  const root = { run_id: runId, root_run_id: runId };
  const child = (name: string): Event => ({ run_id: `${runId}-${name}`, parent_run_id: runId, root_run_id: runId });
  const model = { ...child("model"), agent_name: "gpt-4o-mini", model: "gpt-4o-mini" };
  const search = { ...child("search"), tool_name: "web_search", mcp_server: "tavily" };
  const place = { ...child("place"), tool_name: "geocode" };
  const question = "What is the weather in Paris tomorrow?";
  const answer = "Tomorrow in Paris: 18 °C with light rain in the afternoon.";
  return [
    { ...root, event_type: "run_start", agent_name: "research_agent", timestamp: at(0), tags: ["demo"] },
    { ...root, event_type: "chain_start", agent_name: "research_agent", timestamp: at(0), summary: question, payload: { inputs: { question } } },
    { ...model, event_type: "chat_model_start", timestamp: at(5), payload: { messages: [{ role: "user", content: question }] } },
    { ...model, event_type: "llm_end", timestamp: at(215), token_input: 42, token_output: 58, payload: { messages: [{ role: "assistant", tool_calls: [{ name: "web_search", arguments: { query: "weather Paris tomorrow" } }] }] } },
    { ...place, event_type: "tool_start", timestamp: at(218), payload: { input: { place: "Paris" } } },
    { ...place, event_type: "tool_error", timestamp: at(238), error_message: "no answer from the geocoder", payload: { error: "no answer from the geocoder", type: "TimeoutError" } },
    { ...search, event_type: "tool_start", timestamp: at(240), payload: { input: { query: "weather Paris tomorrow" } } },
    { ...search, event_type: "tool_end", timestamp: at(590), payload: { output: [{ title: "Paris forecast", text: "18 °C, light rain" }] } },
    { ...root, event_type: "chain_end", timestamp: at(620), summary: answer, payload: { outputs: answer } },
  ];
}
