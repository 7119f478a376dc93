/**
 * The path of a request up to its body, for both servers and in this order (docs/lifecycle.md draws it): Host and
 * Origin, whether the server is stopping, authentication, limits. What refuses here has read nothing of the body.
 */
import type { Principal } from "../abi/call.js";
import { isChallenge, type Authentication, type Authenticator } from "../auth/authenticate.js";
import type { Admission, Admit, HeaderList, HttpHandler, HttpHead, Refusal } from "../transport/types.js";
import { JSON_TYPE, SECURITY_HEADERS, type ErrorBody } from "./errors.js";
import type { HostRules } from "./host-rules.js";

/** The headers that every route reads first, and where they are among the values of a request. */
const HOSTS: readonly string[] = ["host", "origin"];
const HOST = 0;
const ORIGIN = 1;

/** Seconds after which a client may try a server again that is stopping. */
const RETRY_AFTER_S = 5;

export interface RequestPathOptions {
  readonly rules: HostRules;
  readonly authenticator: Authenticator;
  readonly errorBody: ErrorBody;
  /** The server is stopping and takes no more work. */
  readonly stopping: () => boolean;
  /** Limits by address and principal. */
  readonly limit?: (head: HttpHead, principal: Principal) => Refusal | null;
}

/** What of the path a route takes part in; all of it by default. */
export interface Gate {
  /** Served without authentication. */
  readonly isPublic?: boolean;
  /** Served while the server is stopping. */
  readonly whileStopping?: boolean;
  /** Served to pages of every origin; the Host is checked all the same. */
  readonly anyOrigin?: boolean;
  /** What the route itself decides by the head, after authentication and limits: its refusal, or `null`. */
  readonly check?: (head: HttpHead) => Refusal | null;
}

export class RequestPath {
  constructor(private readonly options: RequestPathOptions) {}

  /** Names of the request headers that a route on this path reads: those of the path, then its own. */
  headers(own: readonly string[] = []): readonly string[] {
    return [...new Set([...HOSTS, ...own, ...this.options.authenticator.headers])];
  }

  /** Value of the Origin header. */
  origin(head: HttpHead): string {
    return head.values[ORIGIN] ?? "";
  }

  /** Headers that let the page that asked read the answer. */
  cors(head: HttpHead): HeaderList {
    const allowed = this.options.rules.allowOrigin(head.values[ORIGIN] ?? "");
    return allowed === null ? NO_HEADERS : corsHeaders(allowed);
  }

  /**
   * The decision about the heads of a route's requests.
   * @param handle makes the handler for a principal; called again only when the principal is another one.
   */
  admit(handle: (principal: Principal) => HttpHandler, { isPublic = false, whileStopping = false, anyOrigin = false, check }: Gate = {}): Admit {
    let last: { readonly principal: Principal; readonly handler: HttpHandler } | null = null;
    const handlerOf = (principal: Principal): HttpHandler => {
      if (last?.principal !== principal) last = { principal, handler: handle(principal) };
      return last.handler;
    };
    const { authenticator, stopping } = this.options;
    return (head) => {
      const foreign = this.checkHostAndOrigin(head, anyOrigin);
      if (foreign !== null) return foreign;
      if (!whileStopping && stopping()) return this.stoppingRefusal(head);
      if (isPublic) return check?.(head) ?? handlerOf(ANYBODY);
      const answer = authenticator.authenticate(head);
      return answer instanceof Promise ? answer.then((known) => this.enter(head, known, check, handlerOf)) : this.enter(head, answer, check, handlerOf);
    };
  }

  /** Why the Host or the Origin is refused, or `null`. */
  checkHostAndOrigin(head: HttpHead, anyOrigin = false): Refusal | null {
    const { values } = head;
    const refused = this.options.rules.check(values[HOST] ?? "", anyOrigin ? "" : (values[ORIGIN] ?? ""));
    if (refused === null) return null;
    return { status: 403, headers: [...JSON_TYPE, ...SECURITY_HEADERS], body: this.options.errorBody(refused.code, refused.message) };
  }

  /** 503 once the server is stopping, else `null`: for a request whose body came after its head was admitted. */
  checkStopping(head: HttpHead): Refusal | null {
    return this.options.stopping() ? this.stoppingRefusal(head) : null;
  }

  /**
   * Whether the credentials of a head that was admitted are still good: a token may have ended, a key been withdrawn.
   * True while what judges them does not answer (503). Never rejects.
   */
  async stillAdmits(head: HttpHead): Promise<boolean> {
    try {
      const answer = await this.options.authenticator.authenticate(head);
      return !isChallenge(answer) || answer.status === 503;
    } catch {
      return false;
    }
  }

  /** An error in this server's form, readable by the page that asked. */
  refusal(head: HttpHead, status: number, code: string, message: string, headers: HeaderList = NO_HEADERS): Refusal {
    return { status, headers: [...JSON_TYPE, ...headers, ...SECURITY_HEADERS, ...this.cors(head)], body: this.options.errorBody(code, message) };
  }

  private stoppingRefusal(head: HttpHead): Refusal {
    return this.refusal(head, 503, "shutting_down", "the server is shutting down", [["connection", "close"], ["retry-after", String(RETRY_AFTER_S)]]);
  }

  private enter(head: HttpHead, answer: Authentication, check: Gate["check"], handlerOf: (principal: Principal) => HttpHandler): Admission {
    if (isChallenge(answer)) return this.refusal(head, answer.status, answer.code, answer.message, answer.headers);
    return this.options.limit?.(head, answer) ?? check?.(head) ?? handlerOf(answer);
  }
}

const NO_HEADERS: HeaderList = [];
/** Who asks for what is public. */
const ANYBODY: Principal = { id: null, claims: {}, headers: {} };

function corsHeaders(origin: string): HeaderList {
  return [["access-control-allow-origin", origin], ["vary", "Origin"], ["access-control-expose-headers", "Retry-After, WWW-Authenticate"]];
}
