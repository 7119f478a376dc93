/**
 * The store that replicas share: Redis. Each operation that must not be interleaved is one script; everything expires by
 * itself.
 */
import type { Log } from "../../observe/log.js";
import { connect, type RedisLink } from "./redis-link.js";
import { SCRIPTS } from "./redis-scripts.js";
import {
  MAX_CLIENTS, MAX_TIMELINE, PENDING_LOGIN_MS, StoreUnavailable, UNUSED_CLIENT_MS, USED_CLIENT_MS, USED_CODE_MS,
  type AuthStore, type Code, type Login, type NewTokens, type RegisteredClient, type Redemption, type Rotation,
} from "./store.js";

const PREFIX = "toolsrv:auth:";

/** @throws StoreUnavailable when it does not answer, StartError when the package is missing. */
export async function openRedisStore(url: string, log: Log, now: () => number, maxClients: number = MAX_CLIENTS): Promise<AuthStore> {
  return redisStore(await connect(url, log), now, maxClients);
}

function redisStore(link: RedisLink, now: () => number, maxClients: number): AuthStore {
  /** Every script gets the prefix, the time and then its own arguments. */
  const run = (name: keyof typeof SCRIPTS, ...values: readonly (string | number)[]): Promise<unknown> => link.run(SCRIPTS[name], [PREFIX, ...[now(), ...values].map(String)]);
  const yes = async (answer: Promise<unknown>): Promise<boolean> => (await answer) === 1;
  const nothing = async (answer: Promise<unknown>): Promise<void> => void (await answer);
  return {
    secretHash: async () => text(await run("secretHash")),
    initSecret: (hash) => yes(run("initSecret", hash)),
    replaceSecret: (hash) => nothing(run("replaceSecret", hash)),
    dropTokens: () => nothing(run("dropTokens")),

    addClient: (client) => yes(run("addClient", client.id, client.createdAt, JSON.stringify(client), UNUSED_CLIENT_MS, maxClients)),
    client: async (id) => {
      const found = text(await run("client", id));
      return found === null ? null : (JSON.parse(found) as RegisteredClient);
    },

    addLogin: (login, code) => nothing(run("addLogin", login.id, JSON.stringify(login), PENDING_LOGIN_MS, login.clientId, USED_CLIENT_MS, code.digest, JSON.stringify(code), code.expiresAt, USED_CODE_MS, MAX_TIMELINE)),
    code: async (digest) => {
      const [code, ...login] = texts(await run("code", digest));
      return code === undefined ? null : { code: JSON.parse(code) as Code, login: loginOf(login) };
    },
    redeem: async (digest, tokens, at): Promise<Redemption> => {
      const outcome = text(await run("redeem", digest, at, ...tokenArguments(tokens)));
      return outcome === "redeemed" || outcome === "replayed" ? outcome : "unknown";
    },
    openLogin: (login, tokens) => nothing(run("openLogin", login.id, JSON.stringify(login), login.clientId, USED_CLIENT_MS, MAX_TIMELINE, ...tokenArguments(tokens))),

    refresh: async (digest) => maybeLogin(texts(await run("refresh", digest))),
    rotate: async (digest, next, at): Promise<Rotation> => {
      const [kind, sealed] = texts(await run("rotate", digest, at, next.refresh.sealed, USED_CLIENT_MS, ...tokenArguments(next)));
      if (kind === "rotated" && sealed !== undefined) return { kind, sealed };
      return kind === "reused" ? { kind } : { kind: "unknown" };
    },
    access: async (digest) => {
      const [expiresAt, ...login] = texts(await run("access", digest));
      return expiresAt === undefined ? null : { login: loginOf(login), expiresAt: Number(expiresAt) };
    },
    noteCall: (id, at) => nothing(run("noteCall", id, at)),
    endLogin: (id) => nothing(run("endLogin", id)),
    logins: async (limit) => {
      const found = texts(await run("logins", Math.min(limit, MAX_TIMELINE)));
      return Array.from({ length: found.length / 3 }, (_, at) => loginOf(found.slice(at * 3, at * 3 + 3)));
    },

    claimOnce: (key, lastsMs) => yes(run("claimOnce", key, Math.ceil(lastsMs))),
    count: async (key, windowMs, by) => {
      const answer = await run("count", key, windowMs, by);
      if (!Array.isArray(answer)) throw unexpected();
      return { count: Number(answer[0]), waitMs: Math.max(0, Number(answer[1])) };
    },

    ping: () => link.ping(),
    close: () => link.close(),
  };
}

function tokenArguments({ access, refresh }: NewTokens): readonly (string | number)[] {
  return [access.digest, access.expiresAt, refresh?.digest ?? "", refresh?.expiresAt ?? 0];
}

function text(answer: unknown): string | null {
  if (answer === null || typeof answer === "string") return answer;
  throw unexpected();
}

/** An empty list where there is nothing. */
function texts(answer: unknown): string[] {
  if (answer === null) return [];
  if (Array.isArray(answer)) return answer.map(String);
  throw unexpected();
}

function unexpected(): StoreUnavailable {
  return new StoreUnavailable("the Redis server answered something else than a script returns");
}

function maybeLogin(parts: readonly string[]): Login | null {
  return parts.length === 0 ? null : loginOf(parts);
}

/** A login as a script returns it: its record, and the two times that are written later; "" before that. */
function loginOf([record = "", tokenAt = "", firstCallAt = ""]: readonly string[]): Login {
  const login = JSON.parse(record) as Login;
  return { ...login, tokenAt: tokenAt === "" ? login.tokenAt : Number(tokenAt), firstCallAt: firstCallAt === "" ? login.firstCallAt : Number(firstCallAt) };
}
