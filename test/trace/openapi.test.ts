/**
 * The service against its own document: every operation with parameters, headers and bodies on both sides of every
 * rule. Whatever is sent, the answer is one that the document has, whole; what the rules allow is never refused, and
 * what they forbid is refused by name. FUZZ_RUNS multiplies the requests, FUZZ_SEED sends others.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../lib/suite.js";
import { closeCode, rawWebSocket } from "../lib/raw-websocket.js";
import { type Client, connectTo } from "./openapi/client.js";
import { obeys, type Operation, readContract, type Received } from "./openapi/contract.js";
import { body, type Body, events, KNOWN_EVENTS, KNOWN_RUNS, pathText, queryText, registration, segment } from "./openapi/inputs.js";
import { type RunningTrace, sampleRun, startTrace } from "./lib.js";

const test = suite("trace openapi");
const RUNS = Number(process.env["FUZZ_RUNS"] ?? "1");
const SETTINGS = { includeErrorInReport: true, seed: Number(process.env["FUZZ_SEED"] ?? "1") };
const TOKEN = "s3cret~token";
const contract = readContract();
const operationOf = (id: string): Operation => contract.operations.find((entry) => entry.id === id) ?? assert.fail(`there is no ${id}`);

let open: RunningTrace;
let gated: RunningTrace;
let openClient: Client;
let gatedClient: Client;
/** Statuses seen, by operation. */
const seen = new Map<string, Set<number>>();

async function seed(trace: RunningTrace): Promise<void> {
  const events = [
    ...KNOWN_RUNS.filter((id) => !["r1-t", "open"].includes(id)).flatMap((id) => sampleRun(id)),
    { run_id: "open", event_type: "chain_start", agent_name: "a", session_id: "s", event_id: KNOWN_EVENTS[0], payload: { x: 1 } }, { run_id: "open", event_type: "retry", event_id: KNOWN_EVENTS[1] },
  ];
  await trace.send("POST", "/api/ingest?wait=1", events, { authorization: `Bearer ${TOKEN}` });
}

test.before(async () => {
  open = await startTrace();
  gated = await startTrace({ auth_token: TOKEN });
  openClient = connectTo(open.port);
  gatedClient = connectTo(gated.port);
  await seed(open);
  await seed(gated);
});
test.after(async () => {
  openClient.close();
  process.stdout.write(open.logged.slice(0, 5).join(""));
  gatedClient.close();
  await open.dispose();
  await gated.dispose();
});

/** What a request says of itself besides its parameters. */
const surroundings = fc.record({
  gated: fc.boolean(),
  authorization: fc.oneof({ weight: 6, arbitrary: fc.constant(`Bearer ${TOKEN}`) }, { weight: 2, arbitrary: fc.constantFrom(null, `bearer ${TOKEN}`, `Bearer  ${TOKEN}`, TOKEN, "Basic eDp5", "Bearer ", `Bearer ${TOKEN}x`, "Bearer tökén") }),
  origin: fc.oneof({ weight: 10, arbitrary: fc.constantFrom(null, "http://localhost:3000") }, { weight: 1, arbitrary: fc.constantFrom("https://evil.example", "null", "x") }),
  host: fc.oneof({ weight: 10, arbitrary: fc.constantFrom("127.0.0.1", "localhost:1") }, { weight: 1, arbitrary: fc.constantFrom("evil.example", "127.0.0.1.evil.example", "[::ffff:8.8.8.8]") }),
  encoding: fc.constantFrom(null, "gzip", "br, gzip;q=0.1", "*"),
  stray: fc.option(fc.constantFrom<readonly [string, string]>(["unknown", "1"], ["limit", "x"], ["__proto__", "x"]), { freq: 2 }),
});
type Surroundings = typeof surroundings extends fc.Arbitrary<infer T> ? T : never;

interface Request {
  readonly operation: string;
  readonly path: readonly string[];
  readonly query: readonly (readonly [string, string])[];
  readonly around: Surroundings;
  readonly body: Body | null;
}

/** Any request to the operation. */
function requestTo(operation: Operation): fc.Arbitrary<Request> {
  const inPath = operation.params.filter((param) => param.in === "path");
  const inQuery = operation.params.filter((param) => param.in === "query");
  const withBody = operation.bodyTypes.length > 0 ? body(operation.id) : fc.oneof({ weight: operation.params.length === 0 ? 3 : 10, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant<Body>({ type: "application/json", encoding: null, bytes: Buffer.from("{}") }) });
  return fc.record({
    operation: fc.constant(operation.id),
    path: fc.tuple(...inPath.map(({ name }) => pathText(name))),
    query: fc.tuple(...inQuery.map(queryText)).map((values) => values.flatMap((value, index) => (value === undefined ? [] : [[inQuery[index]?.name ?? "", value] as const]))),
    around: surroundings,
    body: withBody,
  });
}

async function send(request: Request): Promise<Received> {
  const { path, query, around, body: sent } = request;
  const operation = operationOf(request.operation);
  let index = 0;
  const target = operation.path.replace(/\{\w+\}/g, () => segment(path[index++] ?? ""));
  const stray = around.stray !== null && !operation.params.some(({ name }) => name === around.stray?.[0]) ? [around.stray] : [];
  const text = [...stray, ...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  const headers = {
    host: around.host,
    ...(around.authorization === null ? {} : { authorization: Buffer.from(around.authorization, "utf8").toString("latin1") }),
    ...(around.origin === null ? {} : { origin: around.origin }),
    ...(around.encoding === null ? {} : { "accept-encoding": around.encoding }),
    ...(sent?.type == null ? {} : { "content-type": sent.type }),
    ...(sent?.encoding == null ? {} : { "content-encoding": sent.encoding }),
  };
  return (around.gated ? gatedClient : openClient).send({ method: operation.method, path: text === "" ? target : `${target}?${text}`, headers, body: sent?.bytes ?? null });
}

/** Operations that check more than their schema says: names of tools, dates that exist. */
const MORE_CHECKS: readonly string[] = ["registerTools", "listRuns", "getOverview"];

/** The statuses that the rules leave; parameters that must be named by a 422. */
function expected({ operation: id, path, query, around, body: sent }: Request): { readonly statuses: readonly number[]; readonly wrong: readonly string[] } {
  const operation = operationOf(id);
  if (!["127.0.0.1", "localhost:1"].includes(around.host) || (around.origin !== null && around.origin !== "http://localhost:3000")) return { statuses: [403], wrong: [] };
  if (around.gated && !operation.isPublic && around.authorization !== `Bearer ${TOKEN}`) return { statuses: [401], wrong: [] };
  if (sent !== null && operation.bodyTypes.length === 0) return { statuses: [413], wrong: [] };
  if (path.some((text) => text.includes("/"))) return { statuses: [404], wrong: [] };
  const given = new Map(query);
  const wrong = operation.params.filter((param) => param.in === "query" && (given.has(param.name) ? !obeys(param, given.get(param.name) ?? "") : param.required)).map(({ name }) => name);
  if (wrong.length > 0) return { statuses: [422], wrong };
  const ok = operation.statuses.filter((status) => status < 500 && ![401, 403, 429].includes(status) && (status !== 422 || MORE_CHECKS.includes(operation.id)) && (status !== 413 || operation.bodyTypes.length > 0));
  return { statuses: ok, wrong: [] };
}

async function check(request: Request): Promise<void> {
  const answer = await send(request);
  const id = request.operation;
  const seenHere = seen.get(id) ?? new Set();
  seen.set(id, seenHere.add(answer.status));
  contract.judge(operationOf(id), answer);
  const { statuses, wrong } = expected(request);
  assert.ok(statuses.includes(answer.status), `${id} answers ${answer.status}, not ${statuses.join(" or ")}: ${answer.body.toString("utf8").slice(0, 300)}`);
  if (answer.status === 422 && wrong.length > 0) {
    const named = (JSON.parse(answer.body.toString("utf8")) as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc[1]);
    assert.deepEqual(named, wrong, `${id} names the parameters that break their rules`);
  }
  assert.equal(answer.headers["x-content-type-options"], "nosniff", `${id} ${answer.status} carries the security headers`);
}

const changing = new Set(["deleteRun", "ingestEvents", "ingestSpans", "registerTools"]);

for (const entry of contract.operations) {
  test(`${entry.id}: every answer is documented, and 422 names exactly what is wrong`, async () => {
    await fc.assert(fc.asyncProperty(requestTo(entry), check), { numRuns: (entry.params.length > 0 || changing.has(entry.id) ? 120 : 40) * RUNS, ...SETTINGS });
    if (entry.id === "deleteRun") for (const trace of [open, gated]) await seed(trace);
  }, { timeoutMs: 60_000 * RUNS });
}

test("every status of every operation was seen, apart from those of a failing disk or a full queue", () => {
  const unseen = contract.operations.flatMap(({ id, statuses }) => statuses.filter((status) => ![429, 503, 507].includes(status) && !TOO_LARGE.includes(`${id} ${status}`) && !(status === 422 && UNBREAKABLE.includes(id)) && !(seen.get(id)?.has(status) ?? false)).map((status) => `${id} ${status}`));
  assert.deepEqual(unseen, []);
});

/** Needs 64 MiB; see "bodies that can't be read are refused with the right status and a detail". */
const TOO_LARGE = ["registerTools 413", "ingestEvents 413", "ingestSpans 413"];
/** They have only ids, and a path with an empty one is another path. */
const UNBREAKABLE = ["deleteRun", "getStepPayload"];

test("an event is taken if and only if it is an InFlightEvent of the document", async () => {
  await fc.assert(fc.asyncProperty(events, async (list) => {
    const { status, json } = await open.send("POST", "/api/ingest?wait=1", JSON.stringify(list), { "content-type": "application/json" });
    assert.equal(status, 200);
    const rejected = (json["rejected"] as { index: number; error: string }[]).map(({ index }) => index);
    assert.deepEqual(rejected, list.flatMap((value, index) => (contract.isOf("InFlightEvent", JSON.parse(JSON.stringify(value))) ? [] : [index])), JSON.stringify(json["rejected"]));
    assert.equal(json["accepted"], list.length - rejected.length);
  }), { numRuns: 200 * RUNS, ...SETTINGS });
}, { timeoutMs: 60_000 * RUNS });

test("a registration of tools is taken if and only if it is a ToolRegistration of the document", async () => {
  await fc.assert(fc.asyncProperty(registration, async (value) => {
    const { status } = await open.send("POST", "/api/tools", JSON.stringify(value), { "content-type": "application/json" });
    assert.equal(status, contract.isOf("ToolRegistration", JSON.parse(JSON.stringify(value))) ? 200 : 422);
  }), { numRuns: 100 * RUNS, ...SETTINGS });
}, { timeoutMs: 60_000 * RUNS });

test("what was taken comes back by its ids, and every answer about it is of the document", async () => {
  let count = 0;
  await fc.assert(fc.asyncProperty(events, async (list) => {
    const taken = (list.filter((value) => contract.isOf("InFlightEvent", JSON.parse(JSON.stringify(value)))) as { event_id?: string | null; run_id: string }[])
      // An id that was used before would be a repetition.
      .map((event) => ({ ...event, event_id: typeof event.event_id === "string" ? `${event.event_id.slice(0, 90)}#${count++}` : null }));
    await open.send("POST", "/api/ingest?wait=1", JSON.stringify(taken), { "content-type": "application/json" });
    for (const { event_id, run_id } of taken) {
      const own = segment(run_id);
      for (const [id, path] of [["getRun", ""], ["getRun", "?extended=1"], ["getJourney", "/journey"], ["getJourney", "/journey?extended=1&limit=2"], ["exportRun", "/export?include=payloads"]] as const) {
        const answer = await openClient.send({ method: "GET", path: `/api/runs/${own}${path}`, headers: { host: "127.0.0.1" }, body: null });
        assert.equal(answer.status, 200, `${id} ${JSON.stringify(run_id)}`);
        contract.judge(operationOf(id), answer);
      }
      if (event_id === null) continue;
      const full = await openClient.send({ method: "GET", path: `/api/runs/${own}/steps/${segment(event_id)}/full`, headers: { host: "127.0.0.1" }, body: null });
      contract.judge(operationOf("getStepPayload"), full);
    }
  }), { numRuns: 40 * RUNS, ...SETTINGS });
  for (const path of ["/api/stats?extended=1", "/api/topology", "/api/tools", "/api/sessions", "/api/runs?extended=1"]) {
    const answer = await openClient.send({ method: "GET", path, headers: { host: "127.0.0.1" }, body: null });
    contract.judge(contract.operations.find((entry) => entry.path === path.split("?")[0] && entry.method === "GET") ?? assert.fail(path), answer);
  }
}, { timeoutMs: 60_000 * RUNS });

test("paths and methods that no operation has are 404 or 405 with a detail, never more", async () => {
  const paths = contract.operations.map(({ path }) => path);
  const target = fc.oneof(
    fc.constantFrom(...paths, "/", "//", "/api", "/api/", "/ws/runs", "/ws/trace/r1", "/..", "/api/../ui", "/api/%2e%2e/x", "/%", "/%zz", "/api/runs/%", "/api/runs/%zz", "/api/runs/%ff", "/api/runs/%C3%28/journey", "/api/runs//journey", "/ui/%00", "/ui/..%5c..", "/api/runs?limit=%", "/api/runs?limit=%zz&tag=%ff", "/api/runs?&&==&=", "/docs/", "/openapi.json/"),
    fc.string({ unit: fc.constantFrom(..."/.%?&=+~;:@aZ0é"), maxLength: 25 }).map((text) => `/${Buffer.from(text).toString("latin1")}`),
  );
  const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW");
  const sent = fc.constantFrom(null, null, Buffer.from("{}"));
  await fc.assert(fc.asyncProperty(method, target, sent, async (verb, path, body) => {
    const answer = await openClient.send({ method: verb, path, headers: { host: "127.0.0.1" }, body });
    assert.ok([200, 307, 400, 404, 405, 415, 422, ...(body === null ? [] : [413])].includes(answer.status), `${verb} ${path}: ${answer.status}`);
    if (verb === "HEAD") assert.equal(answer.body.length, 0);
    else if ([404, 405].includes(answer.status)) contract.matches("Error", JSON.parse(answer.body.toString("utf8")));
    if (answer.status === 405) assert.match(String(answer.headers["allow"]), /^[A-Z]+(, [A-Z]+)*$/);
  }), { numRuns: 200 * RUNS, ...SETTINGS });
}, { timeoutMs: 60_000 * RUNS });

test("every frame of both feeds is a WSMessage, whatever the parameters and the client's frames are", async () => {
  const flag = fc.constantFrom(undefined, "0", "1", "true", "x", "");
  const feed = fc.record({ path: fc.oneof(fc.constant("/ws/runs"), pathText("run_id").filter((id) => !id.includes("/")).map((id) => `/ws/trace/${segment(id)}`)), extended: flag, ping: flag, since: fc.constantFrom(undefined, "0", "3", "-1", "999999999999999", "x"), sent: fc.array(fc.tuple(fc.constantFrom(1, 2, 9), fc.uint8Array({ maxLength: 100 }).filter((bytes) => bytes.every((byte) => byte < 128))), { maxLength: 3 }) });
  const trace = await startTrace();
  await seed(trace);
  let count = 0;
  await fc.assert(fc.asyncProperty(feed, async ({ path, sent, ...query }) => {
    const text = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join("&");
    const socket = await rawWebSocket(trace.port, `${path}?${text}`);
    assert.equal(socket.status, 101, path);
    for (const [opcode, data] of sent) socket.send(data, opcode);
    const read = async (): Promise<{ msg_type: string } | null> => {
      for (;;) {
        const frame = await socket.next();
        assert.ok(frame !== null && frame.opcode !== 8, `${path} closes with ${closeCode(frame)}`);
        if (frame.opcode !== 1) continue;
        const message = JSON.parse(frame.data.toString("utf8")) as { msg_type: string };
        contract.matches("WSMessage", message);
        return message;
      }
    };
    const id = path.startsWith("/ws/trace/") ? decodeURIComponent(path.slice("/ws/trace/".length)) : `ws-${count++}`;
    if (path !== "/ws/runs") assert.equal((await read())?.msg_type, "catchup");
    const { json } = await trace.send("POST", "/api/ingest", JSON.stringify([{ run_id: id, event_type: "chain_start", agent_name: "a" }]), { "content-type": "application/json" });
    if (json["accepted"] === 1 && query.since !== "999999999999999") await read();
    socket.destroy();
  }), { numRuns: 40 * RUNS, ...SETTINGS });
  await trace.dispose();
}, { timeoutMs: 60_000 * RUNS });

test.run();
