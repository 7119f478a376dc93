/** Connection strings: a URL, or the `key=value` words that libpq also takes. Pure. */
import { BackendError } from "../../abi/errors.js";

/** What the client library takes. */
export type Address = { readonly connectionString: string } | { readonly host?: string; readonly port?: number; readonly database?: string; readonly user?: string; readonly password?: string; readonly ssl?: boolean | { readonly rejectUnauthorized: boolean } };

/** The folder of a `pglite://FOLDER` string, as it is written; null for every other string. @throws BackendError bad_request without a folder */
export function embeddedFolder(dsn: string): string | null {
  const [, folder] = /^pglite:(?:\/\/)?(.*)$/s.exec(dsn) ?? [];
  if (folder === undefined) return null;
  if (folder === "" || folder.includes("\0")) return refuse("names no folder: write pglite://FOLDER");
  return folder;
}

/** @throws BackendError bad_request that shows nothing of the text: it may hold a password */
export function addressOf(dsn: string): Address {
  if (/^postgres(ql)?:\/\//.test(dsn)) {
    if (!URL.canParse(dsn)) return refuse("is no valid URL; special characters of a password are percent-encoded");
    return { connectionString: dsn };
  }
  const words = new Map<string, string>();
  const rest = dsn.replace(/\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))/gs, (_, key: string, inQuotes: string | undefined, bare: string | undefined) => {
    words.set(key, (inQuotes ?? bare ?? "").replace(/\\(.)/gs, "$1"));
    return "";
  });
  if (words.size === 0 || rest.trim() !== "") return refuse("is neither postgresql://USER:PASSWORD@HOST:PORT/DATABASE, pglite://FOLDER nor key=value words");
  return fromWords(words);
}

function fromWords(words: ReadonlyMap<string, string>): Address {
  const text = (...keys: readonly string[]): string | undefined => keys.map((key) => words.get(key)).find((value) => value !== undefined);
  const host = text("host", "hostaddr");
  const port = text("port");
  const database = text("dbname");
  const user = text("user");
  const password = text("password");
  return {
    ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port: Number(port) }), ...(database === undefined ? {} : { database }),
    ...(user === undefined ? {} : { user }), ...(password === undefined ? {} : { password }), ...sslOf(words.get("sslmode")),
  };
}

/** As libpq: `require` encrypts, the verifying modes also check the certificate. */
function sslOf(mode: string | undefined): { readonly ssl?: boolean | { readonly rejectUnauthorized: boolean } } {
  if (mode === "verify-ca" || mode === "verify-full") return { ssl: { rejectUnauthorized: true } };
  return mode === "require" ? { ssl: { rejectUnauthorized: false } } : {};
}

function refuse(words: string): never {
  throw new BackendError("bad_request", "pgvector", `the dsn of the connection ${words}`);
}
