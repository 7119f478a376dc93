/** The probe itself: every tool, every caller, every attempt, directly and through run_tool; and what may not have been seen. */
import type { Envelope } from "../../runtime/abi/call.js";
import type { Env } from "../../runtime/abi/references.js";
import type { ToolDemand } from "../proof/written.js";
import { demandsOf, type Json } from "../proof/written.js";
import type { Plans } from "../ir.js";
import { attemptsOf, type Attempt } from "./arguments.js";
import type { ProbeCaller } from "./callers.js";
import type { ProbeClient } from "./client.js";
import type { Place } from "./places.js";
import { idsIn, type ProbeRow } from "./rows.js";
import type { Left, Recorder, Seeds } from "./store.js";
import { filterValues } from "./values.js";
import { mayRead } from "./visible.js";

/** What was found of one tool. */
export interface ToolReport {
  readonly tool: string;
  readonly verdict: "holds" | "crossed" | "no guard" | "not probed" | "denied";
  /** Calls made. */
  readonly probes: number;
  /** Rows that left the store in them, all of which their callers may see unless the verdict is `crossed`. */
  readonly rows: number;
  /** The first crossings; why the tool was not probed. */
  readonly reasons: readonly string[];
}

/** A crossing is shown so often for each tool. */
const MAX_REASONS = 5;

/** Everything that one run of the probe needs. */
export interface ProbeScope {
  readonly plans: Plans;
  readonly callers: readonly ProbeCaller[];
  readonly seeds: Seeds;
  readonly client: ProbeClient;
  readonly recorder: Recorder;
}

/** What the catalog demands, references filled. */
export function filledDemands(catalog: Json, env: Env): readonly ToolDemand[] {
  const filled = (value: unknown): unknown => {
    if (typeof value === "string") return value.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => env.get(name) ?? fallback ?? "");
    return Array.isArray(value) ? value.map(filled) : value;
  };
  return demandsOf(catalog).map((demand) => ({
    ...demand,
    read: { ...demand.read, conditions: demand.read.conditions.map((condition) => (condition.mayRefer ? { ...condition, value: filled(condition.value) } : condition)) },
  }));
}

export async function probeTool(demand: ToolDemand, scope: ProbeScope): Promise<ToolReport> {
  const { name: tool, read } = demand;
  const plan = scope.plans.tools[tool];
  const report = (verdict: ToolReport["verdict"], reasons: readonly string[] = [], probes = 0, rows = 0): ToolReport => ({ tool, verdict, probes, rows, reasons });
  if (plan === undefined) return report("not probed", ["the program has no such tool"]);
  if (scope.client.isDenied(tool, scope.callers)) return report("denied");
  if (isAddressed(plan)) return report("not probed", ["the connection isolates it by address (namespace or tenant), which the embedded store does not have"]);
  if (read.conditions.length === 0 && read.tenant === null && read.access === null) return report("no guard");
  const { unsolved } = filterValues(read.conditions);
  if (unsolved.length > 0) return report("not probed", unsolved);
  const run = new ToolRun(demand, scope);
  await run.probe();
  if (run.crossings.length > 0) return report("crossed", run.crossings, run.probes, run.rows);
  const blind = run.blindness();
  return blind === null ? report("holds", [], run.probes, run.rows) : report("not probed", [blind], run.probes, run.rows);
}

function isAddressed(plan: Plans["tools"][string]): boolean {
  return (plan.kind === "pipeline" ? plan.retrieve : plan).route !== undefined;
}

/** The probes of one tool. A class because it counts. */
class ToolRun {
  readonly crossings: string[] = [];
  probes = 0;
  rows = 0;
  #succeeded = 0;
  #hid = false;
  #failure: string | null = null;

  constructor(
    private readonly demand: ToolDemand,
    private readonly scope: ProbeScope,
  ) {}

  async probe(): Promise<void> {
    for (const caller of this.scope.callers) {
      const [visible, hidden] = this.#split(caller);
      this.#hid ||= hidden.length > 0;
      const plan = this.scope.plans.tools[this.demand.name];
      if (plan === undefined) return;
      const params = this.scope.plans.inputs[this.demand.name]?.params ?? [];
      const attempts = attemptsOf({ plan, params, demand: this.demand.read, visible, hidden, collections: this.#collections() });
      for (const attempt of attempts) {
        // A tool that is red enough needs no further proof.
        if (this.crossings.length >= MAX_REASONS) return;
        for (const through of attempt.isDirectOnly === true ? (["directly"] as const) : (["directly", "through run_tool"] as const)) await this.#attempt(caller, attempt, through, hidden);
      }
    }
  }

  /** Why green would mean nothing; null when it means something. */
  blindness(): string | null {
    if (!this.#hid) return "there is no row that a caller may not see";
    if (this.#succeeded === 0) return `no call succeeded${this.#failure === null ? "" : `: ${this.#failure}`}`;
    return this.rows === 0 ? "no call returned a row that its caller may see" : null;
  }

  async #attempt(caller: ProbeCaller, attempt: Attempt, through: "directly" | "through run_tool", hidden: readonly ProbeRow[]): Promise<void> {
    const { left } = this.scope.recorder;
    left.length = 0;
    const { text, envelope, failure } = await this.scope.client.call(this.demand.name, attempt.args, caller, through);
    this.probes += 1;
    if (failure === null) this.#succeeded += 1;
    else this.#failure ??= failure;
    const call = `${caller.name}, ${through}, ${shown(attempt.args)}`;
    for (const one of left) this.#judge(one, caller, attempt, call);
    this.#judgeAnswer(text, envelope, attempt, hidden, call);
  }

  /** What left the store. */
  #judge(one: Left, caller: ProbeCaller, attempt: Attempt, call: string): void {
    const places = this.#places().filter((place) => place.connection === one.connection && (place.collections === null || place.collections.includes(one.collection)));
    if (places.length === 0) return this.#crossed(`reads collection '${one.collection}' of connection '${one.connection}', which is none of its own`, call);
    const rows = this.scope.seeds.get(one.connection)?.get(one.collection) ?? [];
    if ("count" in one) {
      const most = rows.filter((row) => mayRead(this.demand.read, caller.principal, asRow(row))).length;
      this.rows += one.count;
      const isWrong = one.count > most || (attempt.isPlain && one.count !== most);
      return isWrong ? this.#crossed(`counts ${one.count} rows of '${one.collection}' where ${most} may be seen`, call) : undefined;
    }
    this.rows += 1;
    const row = rows.find(({ id }) => id === one.id);
    const isSeen = row !== undefined && places.some((place) => mayRead(place.demand, caller.principal, asRow(row)));
    if (!isSeen) this.#crossed(`reads row ${describe(row)} of '${one.collection}'`, call);
  }

  /** The text that the caller received, from any source: a cache, a suggestion, a message. */
  #judgeAnswer(text: string, envelope: Envelope | null, { args }: Attempt, hidden: readonly ProbeRow[], call: string): void {
    const given = JSON.stringify(args);
    const named = idsIn(text);
    for (const row of hidden.filter(({ id }) => named.has(id))) {
      // An argument is repeated in messages.
      const told = row.marks.find((mark) => text.includes(mark) && !given.includes(mark));
      if (told !== undefined) this.#crossed(`tells of row ${describe(row)}: '${told}'`, call);
    }
    for (const row of envelope?.rows ?? []) {
      const id = row["_id"];
      if (hidden.some((one) => one.id === id)) this.#crossed(`returns row ${String(id)}`, call);
    }
    const names = this.demand.kind === "meta" ? (envelope?.rows ?? []).map((row) => String(row["collection"])) : [];
    const { collection } = this.demand.read;
    const allowed = typeof collection === "string" ? [collection] : collection.allowed;
    for (const name of names) if (allowed !== null && !allowed.includes(name)) this.#crossed(`names collection '${name}'`, call);
  }

  #crossed(what: string, call: string): void {
    if (this.crossings.length < MAX_REASONS) this.crossings.push(`${what} (${call})`);
  }

  #places(): readonly Place[] {
    const { read, directories } = this.demand;
    const place = (demand: typeof read): Place => ({ connection: demand.connection, collections: typeof demand.collection === "string" ? [demand.collection] : demand.collection.allowed, demand });
    return [place(read), ...[...directories.values()].map(place)];
  }

  /** Rows of everything that the tool reads, by whether any of its places shows them to the caller. */
  #split({ principal }: ProbeCaller): readonly [visible: readonly ProbeRow[], hidden: readonly ProbeRow[]] {
    const places = this.#places();
    const all = [...this.scope.seeds].flatMap(([connection, collections]) => [...collections].flatMap(([collection, rows]) => rows.map((row) => ({ connection, collection, row }))));
    const own = all.filter(({ connection, collection }) => places.some((place) => place.connection === connection && (place.collections === null || place.collections.includes(collection))));
    const isVisible = ({ connection, collection, row }: (typeof own)[number]): boolean =>
      places.some((place) => place.connection === connection && (place.collections === null || place.collections.includes(collection)) && mayRead(place.demand, principal, asRow(row)));
    return [own.filter(isVisible).map(({ row }) => row), all.filter((one) => !isVisible(one)).map(({ row }) => row)];
  }

  #collections(): readonly string[] {
    const names = [...(this.scope.seeds.get(this.demand.read.connection)?.keys() ?? [])];
    const { collection } = this.demand.read;
    const allowed = typeof collection === "string" ? [collection] : collection.allowed ?? names;
    return [...new Set([...allowed, ...names])];
  }
}

function asRow({ id, record }: ProbeRow): { readonly [key: string]: unknown } {
  return { ...record, _id: id };
}

function describe(row: ProbeRow | undefined): string {
  if (row === undefined) return "that the probe did not write";
  const { probe_text: _, ...fields } = row.record;
  return `${row.id} ${shown(fields)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 157)}…` : text;
}
