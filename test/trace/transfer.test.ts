/** Runs that leave the store: as lines of a file and back, and as a tree on a terminal, whatever they hold. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { linesOf } from "../../generator/trace-cli/lines.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { incoming, type Json, openLocalStore, startTrace, temporaryDirectory } from "./lib.js";

const test = suite("traces as files and trees");

test("sessions, users, agents, costs and previews are those of the export, also where its steps do not say them", async () => {
  const directory = await temporaryDirectory();
  const service = await startTrace({ model_prices: { house: { input: 3, output: 7 } } });
  await service.ingest([
    { run_id: "p", event_type: "chain_start", agent_name: "quiet_agent", is_agent: true, session_id: "chat-1", user_id: "ada", payload: { question: "Where?" } },
    { run_id: "p-m", parent_run_id: "p", event_type: "llm_end", agent_name: "m", model: "house", token_input: 1000, token_output: 10 },
    { run_id: "p", event_type: "chain_end", payload: { output: "In Oslo." } },
    { run_id: "alone", event_type: "chain_start", agent_name: "declared", is_agent: true },
  ]);
  for (const [name, include] of [["whole", "&include=payloads"], ["bare", ""]] as const) {
    const exports = await Promise.all(["p", "alone"].map((id) => service.get(`/api/runs/${id}/export?extended=1${include}`)));
    await writeFile(join(directory, `${name}.jsonl`), exports.map(({ text }) => text).join(""));
    const io = memoryIo({ cwd: directory });
    assert.equal(await run(["trace", "import", `${name}.jsonl`, "--data-dir", name], io), 0, io.err());
    const copied = openLocalStore(join(directory, name));
    for (const id of ["p", "alone"]) {
      const { last_seq: _, ...before } = (await service.get(`/api/runs/${id}?extended=1`)).json;
      const { last_seq: __, ...after } = copied.reader.run(id, true) as unknown as Json;
      assert.deepEqual(after, before, `${name} ${id}`);
    }
    assert.deepEqual(copied.reader.topology({ scope: "all" }, false).nodes.map(({ id }) => id).sort(), ["agent:declared", "agent:quiet_agent", "llm:m"]);
    copied.close();
  }
  await service.dispose();
  await rm(directory, { recursive: true });
});

test("texts with line separators of their own are read back, in files of any size of chunk", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "from"));
  const text = "one\u2028two\u2029three\u0085four\r\nfive 👩‍👦";
  store.writer.write([incoming({ run_id: "r", event_type: "tool_end", tool_name: "t", summary: text, payload: { output: text } })]);
  store.close();
  const call = async (...words: string[]): Promise<string> => {
    const io = memoryIo({ cwd: directory });
    assert.equal(await run(["trace", ...words], io), 0, io.err());
    return io.out();
  };
  await call("export", "r", "-d", "from", "-o", "r.jsonl");
  assert.match(await call("import", "r.jsonl", "-d", "to"), /imported 1 runs, 1 events \(0 skipped\)/);
  assert.equal(await call("export", "r", "-d", "to"), await call("export", "r", "-d", "from"));
  await rm(directory, { recursive: true });
});

test("a line that is too long is left out, and those around it are read", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const byte of Buffer.from("é1\n\n123456789\n12345678\r\nlast")) yield Uint8Array.of(byte);
  }
  const lines: (string | null)[] = [];
  for await (const line of linesOf(chunks(), 9)) lines.push(line);
  assert.deepEqual(lines, ["é1", "", "123456789", "12345678\r", "last"]);
  const short: (string | null)[] = [];
  for await (const line of linesOf(chunks(), 8)) short.push(line);
  assert.deepEqual(short, ["é1", "", null, null, "last"]);
});

test("show prints a run of any depth, and each call of a circle once", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "data"));
  const levels = 20_000;
  const nested = Array.from({ length: levels }, (_, level): Json => ({ run_id: `n${level}`, ...(level === 0 ? {} : { parent_run_id: `n${level - 1}` }), root_run_id: "n0", event_type: "tool_start", tool_name: `level-${level + 1}` }));
  const circle = ["a", "b", "c"].map((id, index): Json => ({ run_id: `c-${id}`, parent_run_id: `c-${["b", "c", "a"][index]}`, root_run_id: "c-a", event_type: "tool_start", tool_name: id }));
  store.writer.write([...nested, ...circle, { run_id: "below", parent_run_id: "c-b", root_run_id: "c-a", event_type: "tool_start", tool_name: "below" }].map(incoming));
  store.close();
  const show = async (id: string): Promise<readonly string[]> => {
    const io = memoryIo({ cwd: directory });
    assert.equal(await run(["trace", "show", id, "-d", "data"], io), 0, io.err());
    return io.out().trimEnd().split("\n").slice(1);
  };
  const deep = await show("n0");
  assert.equal(deep.length, levels);
  assert.match(deep[1] ?? "", /^ {3}└─ ▭ level-2 /);
  assert.match(deep.at(-1) ?? "", /^ {45}└─ 20000 ▭ level-20000 /);
  assert.deepEqual((await show("c-a")).map((line) => /▭ (\w+)/.exec(line)?.[1]).sort(), ["a", "b", "below", "c"]);
  await rm(directory, { recursive: true, force: true });
});

test.run();
