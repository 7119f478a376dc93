/** /readyz: asks the stores and embedders, at most every two seconds however often it is asked. */
import type { ConnectionHealth, Engine } from "../abi/call.js";

const CONNECTIONS_FRESH_MS = 2000;
const EMBED_FRESH_MS = 60_000;

/** Body of /readyz; the names are the wire's. */
export interface ReadyBody {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly compiled_tools: number;
  readonly connections: { readonly [name: string]: ConnectionHealth };
  readonly embed?: { readonly ok: boolean; readonly provider: string };
}

export interface Readiness {
  ask(): Promise<ReadyBody>;
}

export interface ReadinessParts {
  readonly engine: () => Engine;
  readonly draining: () => boolean;
  /** `--live-embed`: ask the embedders even if no tool searches. */
  readonly liveEmbed: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export function createReadiness({ engine, draining, liveEmbed, now }: ReadinessParts): Readiness {
  const connections = cached(CONNECTIONS_FRESH_MS, now, () => engine().health());
  const embedders = cached(EMBED_FRESH_MS, now, () => engine().embedHealth());
  return {
    async ask() {
      const { program } = engine();
      const [stores, models] = await Promise.all([connections(), liveEmbed || searches(program) ? embedders() : {}]);
      const embed = embedBody(program, models);
      const ok = Object.values(stores).every((store) => store.ok) && embed?.ok !== false;
      return {
        ready: ok && !draining(),
        draining: draining(),
        compiled_tools: program.tools.length,
        connections: stores,
        ...(embed === null ? {} : { embed }),
      };
    },
  };
}

function searches(program: Engine["program"]): boolean {
  return Object.values(program.plans).some((plan) => plan.kind === "search" || plan.kind === "pipeline");
}

/** The first embedder that fails speaks for all; `null` when none was asked. */
function embedBody(program: Engine["program"], models: { readonly [name: string]: ConnectionHealth }): { ok: boolean; provider: string } | null {
  const names = Object.keys(models);
  const named = names.find((name) => models[name]?.ok === false) ?? names[0];
  if (named === undefined) return null;
  return { ok: models[named]?.ok === true, provider: program.embeddings[named]?.provider ?? "unknown" };
}

/** What `ask` returned last, for as long as it is fresh; those who ask meanwhile share one question. */
function cached<T>(freshMs: number, now: () => number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    if (last === null || now() - last.at >= freshMs) last = { at: now(), value: ask() };
    return last.value;
  };
}
