/** Three small runs to look around with: an answer, a failure, and one that still runs. */

type Event = { readonly [field: string]: unknown };

/** `nowMs` decides their ids too, so that the sample can be loaded again. */
export function sampleEvents(nowMs: number): readonly Event[] {
  return [...answered(`sample-${nowMs}-1`, nowMs - 120_000), ...failed(`sample-${nowMs}-2`, nowMs - 60_000), ...running(`sample-${nowMs}-3`, nowMs - 15_000)];
}

const QUESTION = "Which films by Hayao Miyazaki are about flying?";
const ROOT = { agent_name: "film_expert", tags: ["sample"], session_id: "sample" };
const MODEL = { agent_name: "ChatModel", model: "gpt-4o-mini" };

function begin(id: string, at: (ms: number) => string): readonly Event[] {
  const asked = [{ role: "system", content: "You know every film. Look titles up before you name them." }, { role: "user", content: QUESTION }];
  return [
    { run_id: id, event_type: "chain_start", timestamp: at(0), ...ROOT, payload: { inputs: { question: QUESTION } } },
    { run_id: `${id}-m1`, parent_run_id: id, event_type: "chat_model_start", timestamp: at(30), ...MODEL, payload: { messages: asked } },
    { run_id: `${id}-m1`, parent_run_id: id, event_type: "llm_end", timestamp: at(900), ...MODEL, token_input: 61, token_output: 18, payload: { choices: [{ message: { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "search_movies", arguments: '{"director":"Hayao Miyazaki","about":"flying"}' } }] } }] } },
    { run_id: `${id}-t1`, parent_run_id: id, event_type: "tool_start", timestamp: at(930), tool_name: "search_movies", mcp_server: "movies", payload: { input: { director: "Hayao Miyazaki", about: "flying" } } },
  ];
}

function answered(id: string, startMs: number): readonly Event[] {
  const at = (ms: number): string => new Date(startMs + ms).toISOString();
  const answer = "Two films are about flying above all:\n\n- **Porco Rosso** (1992)\n- **The Wind Rises** (2013)";
  return [
    ...begin(id, at),
    { run_id: `${id}-t1`, parent_run_id: id, event_type: "tool_end", timestamp: at(1180), tool_name: "search_movies", mcp_server: "movies", payload: { output: { content: [{ type: "text", text: '[{"title":"Porco Rosso","year":1992},{"title":"The Wind Rises","year":2013}]' }] } } },
    { run_id: `${id}-m2`, parent_run_id: id, event_type: "chat_model_start", timestamp: at(1200), ...MODEL, payload: { messages: [{ role: "user", content: QUESTION }, { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "search_movies", arguments: '{"about":"flying"}' } }] }, { role: "tool", tool_call_id: "call_1", content: '[{"title":"Porco Rosso"},{"title":"The Wind Rises"}]' }] } },
    { run_id: `${id}-m2`, parent_run_id: id, event_type: "llm_end", timestamp: at(2450), ...MODEL, token_input: 140, token_output: 44, payload: { choices: [{ message: { role: "assistant", content: answer } }] } },
    { run_id: id, event_type: "chain_end", timestamp: at(2480), ...ROOT, payload: { outputs: { answer } } },
  ];
}

function failed(id: string, startMs: number): readonly Event[] {
  const at = (ms: number): string => new Date(startMs + ms).toISOString();
  return [
    ...begin(id, at),
    { run_id: `${id}-t1`, parent_run_id: id, event_type: "tool_error", timestamp: at(5930), tool_name: "search_movies", mcp_server: "movies", error_message: "the movie server did not answer within 5 s" },
    { run_id: id, event_type: "chain_error", timestamp: at(5950), ...ROOT, error_message: "search_movies failed: the movie server did not answer within 5 s" },
  ];
}

function running(id: string, startMs: number): readonly Event[] {
  return begin(id, (ms) => new Date(startMs + ms).toISOString());
}
