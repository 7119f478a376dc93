/** An issuer of tokens on this machine: keys that can be rotated, and a JWKS address that can misbehave. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export class Issuer {
  /** Requests of the JWKS address, all and at one time. */
  fetches = 0;
  mostAtOnce = 0;
  private running = 0;
  private keys: Key[] = [];
  /** How the JWKS address answers. */
  answer: (response: ServerResponse) => void = (response) => this.sendKeys(response);

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Issuer> {
    const server = createServer((_, response) => {
      issuer.fetches += 1;
      issuer.running += 1;
      issuer.mostAtOnce = Math.max(issuer.mostAtOnce, issuer.running);
      response.on("close", () => (issuer.running -= 1));
      issuer.answer(response);
    });
    const issuer = new Issuer(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await issuer.rotate("one");
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get key(): Key {
    const key = this.keys.at(-1);
    if (key === undefined) throw new Error("the issuer has no key");
    return key;
  }

  /** Publishes one new key in place of the others. */
  async rotate(kid: string, alg = "RS256"): Promise<Key> {
    const key = await newKey(kid, alg);
    this.keys = [key];
    return key;
  }

  /** Publishes one more key. */
  async add(kid: string, alg = "RS256"): Promise<Key> {
    const key = await newKey(kid, alg);
    this.keys.push(key);
    return key;
  }

  /** Lists the same keys in another order. */
  reverse(): void {
    this.keys.reverse();
  }

  sendKeys(response: ServerResponse, change: (jwk: JWK) => object = (jwk) => jwk): void {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: this.keys.map(({ jwk }) => change(jwk)) }));
  }

  /** A token as it should be, changed by what is given; a claim that is `undefined` is left out. */
  token(claims: { readonly [claim: string]: unknown } = {}, { key = this.key, now = Date.now() / 1000, header = {} }: { readonly key?: Key; readonly now?: number; readonly header?: object } = {}): Promise<string> {
    const payload = { iss: this.url, aud: "tools", sub: "ada", exp: Math.floor(now) + 300, ...claims };
    return new SignJWT(JSON.parse(JSON.stringify(payload)) as { [claim: string]: unknown }).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Key pairs of RSA take long to make; no test has more keys at one time. */
const POOL = 4;
const pool: Promise<Pair>[] = [];
let taken = 0;

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

function pairOf(alg: string): Promise<Pair> {
  if (alg !== "RS256") return generateKeyPair(alg, { extractable: true });
  taken = (taken + 1) % POOL;
  return (pool[taken] ??= generateKeyPair(alg, { extractable: true }));
}

async function newKey(kid: string, alg: string): Promise<Key> {
  const { privateKey, publicKey } = await pairOf(alg);
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}
