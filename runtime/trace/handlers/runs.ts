/** Runs and their steps. */
import { type Answer, detail, type Handlers } from "../http/answer.js";
import type { Json, StepPage, TraceStore } from "../store/store.js";
import { type HandlerContext, isOn, momentsOf } from "./context.js";

const RUN_NOT_FOUND = { status: 404, body: detail("Run not found") } as const;

/** Steps that are held at once while a journey or an export is sent. */
const PAGE = 500;

const PAYLOAD_MISSES = {
  unknown: "Step not found",
  foreign: "Step not found for this run",
  none: "Step has no full blob (not a blob-eligible event)",
  lost: "Blob not found for this step",
} as const;

type RunHandlers = Pick<Handlers, "listRuns" | "getRun" | "deleteRun" | "getJourney" | "getStepPayload" | "exportRun">;

export function runHandlers({ store }: HandlerContext): RunHandlers {
  return {
    async listRuns({ status = "all", limit = 50, offset = 0, tag, q, session, name, model, user, tool, server, from, to, sort, cursor, extended }) {
      const moments = momentsOf({ from, to });
      if ("status" in moments) return moments;
      const json = await store.read.runs({ status: status as "all", limit, offset, tag, q, session, name, model, user, tool, server, ...moments, sort, cursor, extended: isOn(extended) });
      return { status: 200, json };
    },

    async getRun({ run_id, extended }) {
      const json = await store.read.run(run_id, isOn(extended));
      return json === null ? RUN_NOT_FOUND : { status: 200, json };
    },

    async deleteRun({ run_id }) {
      return (await store.deleteRun(run_id)) ? { status: 200, body: { deleted: true, run_id } } : RUN_NOT_FOUND;
    },

    async getJourney({ run_id, limit, cursor, extended }) {
      const wide = isOn(extended);
      const query = { runId: run_id, cursor: cursor ?? null, extended: wide, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER };
      const first = await store.read.steps({ ...query, limit: limit ?? PAGE });
      if (first === null) return RUN_NOT_FOUND;
      const head = `{"run_id":${JSON.stringify(run_id)},"steps":[`;
      const tail = (page: StepPage): string =>
        `]${wide ? `,"last_seq":${first.lastSeq}` : ""}${limit !== undefined && page.next !== null ? `,"next_cursor":"${page.next}"` : ""}}`;
      if (limit !== undefined || first.next === null) return { status: 200, json: `${head}${first.text}${tail(first)}` as Json<never> };
      return { status: 200, type: "application/json", parts: journeyParts(store, head, first, { ...query, untilSeq: first.lastSeq }, tail) };
    },

    async getStepPayload({ run_id, event_id }) {
      const answer = await store.read.payload(run_id, event_id);
      return "found" in answer ? { status: 200, json: answer.found } : { status: 404, body: detail(PAYLOAD_MISSES[answer.miss]) };
    },

    async exportRun({ run_id, include, extended }): Promise<Answer<"exportRun">> {
      const run = await store.read.run(run_id, isOn(extended));
      if (run === null) return RUN_NOT_FOUND;
      return {
        status: 200,
        type: "application/x-ndjson",
        parts: exportLines(store, run_id, run, { extended: isOn(extended), payloads: include === "payloads" }),
        headers: [["content-disposition", contentDisposition(`${run_id}.jsonl`)]],
      };
    },
  };
}

type StepQuery = Parameters<TraceStore["read"]["steps"]>[0];

async function* journeyParts(store: TraceStore, head: string, first: StepPage, query: Omit<StepQuery, "limit">, tail: (page: StepPage) => string): AsyncGenerator<string> {
  yield head + first.text;
  let page = first;
  while (page.next !== null) {
    const next = await store.read.steps({ ...query, cursor: page.next, limit: PAGE });
    // Deleted while it was sent: the document must still be closed.
    if (next === null) break;
    page = next;
    if (page.text !== "") yield `,${page.text}`;
  }
  yield tail(page);
}

/** Lines of an export: the run, then each step. The last line tells when reading failed on the way. */
export async function* exportLines(store: Pick<TraceStore, "read">, runId: string, run: string, options: { readonly extended: boolean; readonly payloads: boolean }): AsyncGenerator<string> {
  yield `${run}\n`;
  let cursor: string | null = null;
  try {
    do {
      const page: StepPage | null = await store.read.steps({
        runId, cursor, limit: PAGE, extended: options.extended, payloads: options.payloads, separator: "\n", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER,
      });
      if (page === null) throw new Error("the run was deleted");
      if (page.text !== "") yield `${page.text}\n`;
      cursor = page.next;
    } while (cursor !== null);
  } catch {
    yield `${JSON.stringify({ _kind: "error", detail: "export truncated" })}\n`;
  }
}

/** A header value for any file name: RFC 6266, with the plain form where that says the same. */
function contentDisposition(name: string): string {
  const plain = name.replace(/[^\u0020-\u007e]|["\\]/g, "_");
  return plain === name ? `attachment; filename="${name}"` : `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}
