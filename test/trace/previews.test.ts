/** What a run was asked and what it answered, in the list, while it runs and after; and what search quotes of a step. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { layoutOf, openForReading, openForWriting } from "../../runtime/trace/store/sqlite/schema.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { type Json, type RunningTrace, startTrace, temporaryDirectory } from "./lib.js";

const test = suite("trace: previews");

const lc = (name: string, content: string): unknown => ({ lc: 1, type: "constructor", id: ["langchain", "schema", "messages", name], kwargs: { content } });

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace();
});
test.after(() => trace.dispose());

type Previewed = { readonly preview: string | null; readonly answer: string | null };

const runOf = async (id: string): Promise<Previewed> => (await (await fetch(`${trace.url}/api/runs/${id}?extended=1`)).json()) as Previewed;

test("a run of LangChain is previewed by what was said, not by constructors", async () => {
  await trace.ingest([
    { run_id: "r", event_type: "chain_start", agent_name: "agent", payload: { inputs: { messages: [lc("SystemMessage", "be brief"), lc("HumanMessage", "Where is my order?")] } } },
    { run_id: "r", event_type: "chain_end", agent_name: "agent", payload: { outputs: { messages: [lc("HumanMessage", "Where is my order?"), lc("AIMessage", "On its way.")] } } },
  ]);
  const run = await runOf("r");
  assert.deepEqual([run.preview, run.answer], ["Where is my order?", "On its way."]);
});

test("a root that says nothing is previewed by the models inside it, also while it runs", async () => {
  const model = (id: string, question: string, answer: string): Json[] => [
    { run_id: id, parent_run_id: "p", event_type: "chat_model_start", agent_name: "m", payload: { messages: [{ role: "user", content: question }] } },
    { run_id: id, parent_run_id: "p", event_type: "llm_end", agent_name: "m", payload: { choices: [{ message: { role: "assistant", content: answer } }] } },
  ];
  await trace.ingest([{ run_id: "p", event_type: "chain_start", agent_name: "agent" }, ...model("m1", "first?", "looking"), ...model("m2", "second?", "found")]);
  const running = await runOf("p");
  assert.deepEqual([running.preview, running.answer], ["first?", "found"]);
  await trace.ingest([{ run_id: "p", event_type: "chain_end", agent_name: "agent", payload: { outputs: { answer: "the end" } } }]);
  assert.equal((await runOf("p")).answer, "the end");
});

test("what no table knows is previewed as it came, without the name", async () => {
  await trace.ingest([{ run_id: "q", event_type: "chain_start", agent_name: "job", payload: { order: 4711 } }, { run_id: "s", event_type: "chain_start", agent_name: "bare" }]);
  assert.equal((await runOf("q")).preview, '{"order":4711}');
  assert.equal((await runOf("s")).preview, null);
});

test("search quotes what was said around a match", async () => {
  const { payload } = JSON.parse(readFileSync(repo("test", "trace", "messages", "corpus", "langchain-js-constructors.json"), "utf8")) as { payload: Json };
  await trace.ingest([{ run_id: "t", event_type: "chain_start", agent_name: "agent", summary: "agent", payload }]);
  for (let tries = 0; tries < 100; tries++) {
    const found = (await (await fetch(`${trace.url}/api/search?q=weather`)).json()) as { hits: { snippet: string }[] };
    if (found.hits.length === 0) {
      await new Promise((next) => setTimeout(next, 50));
      continue;
    }
    assert.match(found.hits[0]?.snippet ?? "", /user: What is the \u0002weather\u0003 in Oslo\?/);
    assert.doesNotMatch(found.hits[0]?.snippet ?? "", /constructor|kwargs|schema/);
    return;
  }
  assert.fail("the step was not indexed");
});

test("a store of the release before gets the column of answers and keeps its runs", async () => {
  const directory = await temporaryDirectory();
  const layout = layoutOf(directory);
  const old = openForWriting(layout, "traces");
  old.exec("ALTER TABLE runs DROP COLUMN answer; ALTER TABLE runs DROP COLUMN calls; ALTER TABLE runs DROP COLUMN tools; ALTER TABLE runs DROP COLUMN servers; PRAGMA user_version = 10");
  old.exec("INSERT INTO runs VALUES (1, 'kept', 1, 1, 2, '[]', 1, 0, 0, 0, NULL, NULL, 'n', NULL, NULL, '[]', 0, 0, 'asked', 1, 0, 0, 1, 1)");
  old.close();
  assert.throws(() => openForReading(layout, "traces"), /made by an earlier release: start the service on it once/);
  const opened = openForWriting(layout, "traces");
  assert.deepEqual(opened.prepare("SELECT run_id, preview, answer FROM runs").all(), [{ run_id: "kept", preview: "asked", answer: null }]);
  opened.close();
  openForReading(layout, "traces").close();
});

test.run();
