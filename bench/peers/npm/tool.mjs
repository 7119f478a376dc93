/**
 * The tool that every peer serves: the arguments, the schema and the answer of tool_0 in ../../lib/program.ts. These
 * files run in .cache/peers/, beside the packages that the bench installs there; they are no part of the build.
 */
import { createServer } from "node:net";
import * as z from "zod";

export const NAME = "tool_0";
export const DESCRIPTION = "Find films by what they are about and who made them.";

export const schema = z.object({
  text: z.string().min(1).describe("Text to return"),
  genre: z.array(z.enum(["Action", "Comedy", "Drama"])).optional().describe("Keep these genres"),
  min_rating: z.number().max(10).optional().describe("Lowest rating"),
  limit: z.int().min(1).max(20).default(5),
});

export function result({ text }) {
  const envelope = {
    rows: [{ title: text, release_date: "1977-05-25", imdb_rating: 8.8, _id: 42 }], count: 1, truncated: false, may_be_incomplete: false,
    exact_search: true, search_mode: "none", warnings: [], latency_ms: 0, compiled_query: null, message: null,
  };
  return { content: [{ type: "text", text: JSON.stringify(envelope) }], structuredContent: envelope };
}

/** Says where the server is. */
export function told(port) {
  process.stderr.write(`port ${port}\n`);
}

/** Serves with a plain Node server on a free port. */
export function listen(server) {
  server.listen(0, "127.0.0.1", () => told(server.address().port));
}

/** A free port, for frameworks that do not tell which one they got. */
export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
