/** /readyz: loads the code of the tools, asks the stores, the embedders, the authentication and the counters, at most every two seconds. */
import type { AuthHealth } from "../../auth/service.js";
import type { ConnectionHealth, Engine } from "../../abi/call.js";

const CONNECTIONS_FRESH_MS = 2000;
const EMBED_FRESH_MS = 60_000;
const AUTH_MS = 3000;

/** Body of /readyz; the names are the wire's. */
export interface ReadyBody {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly compiled_tools: number;
  readonly connections: { readonly [name: string]: ConnectionHealth };
  readonly embed?: { readonly ok: boolean; readonly provider: string };
  readonly auth?: AuthHealth;
  /** The store of the rate limits, where it is not in this process. */
  readonly limits?: { readonly ok: boolean; readonly store: string };
}

export interface Readiness {
  ask(): Promise<ReadyBody>;
}

export interface ReadinessParts {
  /** The catalogs by name; the names are left out of the answer when there is one. */
  readonly projects: () => readonly { readonly name: string; readonly engine: Engine }[];
  /** Loads validators and handlers; false when they cannot be, which has been logged. */
  readonly loaded: () => Promise<boolean>;
  /** Whether callers can be authenticated; `null` where nothing of it can fail. */
  readonly auth: (() => Promise<AuthHealth>) | null;
  readonly draining: () => boolean;
  /** `--live-embed`: ask the embedders even if no tool searches. */
  readonly liveEmbed: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const NOTHING: Promise<{ readonly [embedding: string]: ConnectionHealth }> = Promise.resolve({});

export function createReadiness({ projects, loaded, auth, draining, liveEmbed, now }: ReadinessParts): Readiness {
  const named = <T>(ask: (engine: Engine) => Promise<T>) => Promise.all(projects().map(async ({ name, engine }) => ({ name, engine, answers: await ask(engine) })));
  const connections = cached(CONNECTIONS_FRESH_MS, now, () => named((engine) => engine.health()));
  const code = cached(CONNECTIONS_FRESH_MS, now, loaded);
  const embedders = cached(EMBED_FRESH_MS, now, () => named((engine) => (liveEmbed || searches(engine.program) ? engine.embedHealth() : NOTHING)));
  const counters = cached(CONNECTIONS_FRESH_MS, now, () => named((engine) => engine.limitHealth()));
  const authentication = cached(CONNECTIONS_FRESH_MS, now, async () => (auth === null ? null : inTime(auth(), AUTH_MS)));
  return {
    async ask() {
      const [runs, stores, models, callers, counts] = await Promise.all([code(), connections(), embedders(), authentication(), counters()]);
      const alone = stores.length === 1;
      const asked = Object.fromEntries(stores.flatMap(({ name, answers }) => Object.entries(answers).map(([store, answer]) => [alone ? store : `${name}.${store}`, answer])));
      const embeds = models.flatMap(({ name, engine, answers }) => Object.entries(answers).map(([model, { ok }]) => {
        const provider = engine.program.embeddings[model]?.provider ?? "unknown";
        return { ok, provider: alone ? provider : `${name}:${provider}` };
      }));
      // The first embedder that fails is the one that is shown.
      const embed = embeds.find(({ ok }) => !ok) ?? embeds[0];
      const limits = counts.flatMap(({ answers }) => answers ?? []);
      const counted = limits.find(({ ok }) => !ok) ?? limits[0];
      const ok = runs && limits.every((limit) => limit.ok || !limit.required) && Object.values(asked).every((store) => store.ok) && embed?.ok !== false && callers?.ok !== false;
      return {
        ready: ok && !draining(),
        draining: draining(),
        compiled_tools: projects().reduce((sum, { engine }) => sum + engine.program.tools.length, 0),
        connections: asked,
        ...(embed === undefined ? {} : { embed }),
        ...(callers === null ? {} : { auth: callers }),
        ...(counted === undefined ? {} : { limits: { ok: counted.ok, store: counted.store } }),
      };
    },
  };
}

function searches(program: Engine["program"]): boolean {
  return Object.values(program.plans).some((plan) => plan.kind === "search" || plan.kind === "pipeline");
}

/** A mode that does not answer in time, or fails, cannot authenticate anybody now. */
async function inTime(asked: Promise<AuthHealth>, limitMs: number): Promise<AuthHealth> {
  let timer: NodeJS.Timeout | undefined;
  const failed: AuthHealth = { ok: false, provider: "unknown" };
  const late = new Promise<AuthHealth>((resolve) => (timer = setTimeout(() => resolve(failed), limitMs)));
  return Promise.race([asked.catch(() => failed), late]).finally(() => clearTimeout(timer));
}

/** What `ask` returned last, for as long as it is fresh; concurrent callers share one request. */
function cached<T>(freshMs: number, now: () => number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    if (last === null || now() - last.at >= freshMs) last = { at: now(), value: ask() };
    return last.value;
  };
}
