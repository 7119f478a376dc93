/** The runs of `toolsrv trace demo`: those that an agent of LangChain.js made over the quickstart (test/trace/sample). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { uiDirectory } from "../../runtime/serve/trace.js";
import { type Sample, sampleEvents } from "../../runtime/trace/sample.js";
import { TraceCommandError } from "./open.js";

type Event = { readonly [field: string]: unknown };

/** The sample's events, moved to `nowMs`. @throws TraceCommandError when the package has no pages, with which the sample is kept */
export async function demoEvents(prefix: string, nowMs: number): Promise<readonly Event[]> {
  const file = join(uiDirectory(), "sample.json");
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) throw new TraceCommandError(`${file} is missing; install toolsrv anew, or run make in its repository`);
  return sampleEvents(JSON.parse(text) as Sample, nowMs, prefix);
}
