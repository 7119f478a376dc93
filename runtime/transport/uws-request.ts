/** The request as it is copied from the library, whose own object is valid only until its callback returns. */
import { copyBytes } from "./body.js";
import type { HttpRequest } from "./types.js";
import type { UwsRequest, UwsResponse } from "./uws-api.js";

const NO_BODY = Buffer.alloc(0);
const NONE: readonly string[] = [];

/** In place of a length: there are two that differ, or an empty one. A proxy before us may have used another one. */
export const BAD_LENGTH = "bad";

/** A request that outlives the library's object: everything its route needs has been copied. */
export class CopiedRequest implements HttpRequest {
  private bytes: Buffer | null = NO_BODY;
  /** Memory of the library, until `keep`. */
  private borrowed: ArrayBuffer | null = null;
  private decoded: string | null | undefined = undefined;
  private address: string | null = null;
  private named: { readonly [name: string]: string } | null = null;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: string,
    readonly params: readonly string[],
    private readonly wanted: readonly string[],
    /** `null` for one that was not sent. */
    readonly values: readonly (string | null)[],
    /** Content-Length as sent, "" without one, or BAD_LENGTH. */
    readonly length: string,
    /** A Transfer-Encoding header was sent. */
    readonly coded: boolean,
    private readonly res: UwsResponse,
  ) {}

  get body(): Buffer {
    return (this.bytes ??= this.borrowed === null ? NO_BODY : copyBytes(this.borrowed));
  }

  text(): string | null {
    if (this.decoded === undefined) {
      this.decoded = decodeUtf8(this.bytes ?? this.borrowed ?? NO_BODY);
    }
    return this.decoded;
  }

  /** Bytes that are valid only until the library's callback returns. */
  borrow(chunk: ArrayBuffer): void {
    this.bytes = null;
    this.borrowed = chunk;
  }

  /**
   * The callback is about to return: what a handler may still read is copied, unless it has taken the text.
   * @returns the bytes that were copied.
   */
  keep(): number {
    if (this.decoded === undefined) this.bytes = this.body;
    this.borrowed = null;
    return this.bytes?.length ?? 0;
  }

  own(bytes: Buffer): void {
    this.bytes = bytes;
  }

  get headers(): { readonly [name: string]: string } {
    return (this.named ??= Object.fromEntries(this.wanted.map((name) => [name, this.header(name)])));
  }

  header(name: string): string {
    return this.values[this.wanted.indexOf(name)] ?? "";
  }

  has(name: string): boolean {
    return (this.values[this.wanted.indexOf(name)] ?? null) !== null;
  }

  /** Whether a body follows the head. */
  get hasBody(): boolean {
    return this.coded || (this.length !== "" && this.length !== "0");
  }

  /** Read from the socket on first use; "" when that comes after the answer. */
  get remoteAddress(): string {
    if (this.address === null) {
      try {
        this.address = Buffer.from(this.res.getRemoteAddressAsText()).toString("latin1");
      } catch {
        this.address = "";
      }
    }
    return this.address;
  }
}

/** Keeps a byte order mark, which is not JSON. Stateless between two texts. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `null` when the bytes are not UTF-8. */
function decodeUtf8(bytes: ArrayBuffer | Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

const LENGTH = "content-length";
const CODING = "transfer-encoding";

/** A header that a route reads, and where in the values of a request it is. */
interface Wanted {
  readonly name: string;
  readonly place: number;
}

/**
 * What copies the heads of one route's requests. The headers are walked once: the wanted ones are kept (several with
 * one name as one list, as HTTP defines), and lengths that disagree are noticed. Names are
 * compared by their length first, because each comes as a new string, which a map would have to hash.
 */
export function headReader(route: { readonly method: string; readonly pattern: string; readonly headers?: readonly string[]; readonly readsQuery?: boolean }): (res: UwsResponse, req: UwsRequest) => CopiedRequest {
  const { pattern } = route;
  const readsQuery = route.readsQuery !== false;
  const paramCount = pattern.split("/").filter((segment) => segment.startsWith(":")).length;
  const fixedPath = paramCount === 0 && !pattern.endsWith("*") ? pattern : null;
  const fixedMethod = route.method === "GET" || route.method === "ANY" ? null : route.method;
  const wanted = [...new Set(route.headers ?? NONE)];
  const absent: readonly null[] = wanted.map(() => null);
  const longest = Math.max(CODING.length, ...wanted.map((name) => name.length));
  const ofLength: readonly (readonly Wanted[])[] = Array.from({ length: longest + 1 }, (_, length) =>
    wanted.map((name, place) => ({ name, place })).filter(({ name }) => name.length === length),
  );

  let values: (string | null)[] = [];
  let bodyLength = "";
  let coded = false;
  const visit = (name: string, value: string): void => {
    const { length } = name;
    if (length > longest) return;
    for (const candidate of ofLength[length] as readonly Wanted[]) {
      if (candidate.name !== name) continue;
      const before = values[candidate.place] ?? null;
      values[candidate.place] = before === null ? value : `${before}, ${value}`;
      break;
    }
    if (length === CODING.length) {
      if (name === CODING) coded = true;
      return;
    }
    if (length !== LENGTH.length || name !== LENGTH) return;
    bodyLength = value !== "" && (bodyLength === "" || bodyLength === value) ? value : BAD_LENGTH;
  };
  return (res, req) => {
    values = absent.slice();
    bodyLength = "";
    coded = false;
    req.forEach(visit);
    return new CopiedRequest(
      fixedMethod ?? req.getMethod().toUpperCase(),
      fixedPath ?? req.getUrl(),
      readsQuery ? (req.getQuery() ?? "") : "",
      paramCount === 0 ? NONE : copyParams(req, paramCount),
      wanted,
      values,
      bodyLength,
      coded,
      res,
    );
  };
}

function copyParams(req: UwsRequest, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const raw = req.getParameter(index) ?? "";
    try {
      return decodeURIComponent(raw);
    } catch {
      return raw;
    }
  });
}

/**
 * The transfer codings of a request, lower-case, of all its Transfer-Encoding headers; `null` without such a header.
 * A header without a coding gives an empty list.
 */
export function transferCodings(req: UwsRequest): readonly string[] | null {
  let found: string[] | null = null;
  req.forEach((name, value) => {
    if (name === CODING) found = [...(found ?? []), ...value.split(",").map((coding) => coding.trim().toLowerCase()).filter((coding) => coding !== "")];
  });
  return found;
}
