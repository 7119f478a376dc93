/**
 * The interface between a transport and the servers that use it. Handlers use these types only; uws.ts is the one file
 * that knows the library behind them. Everything of a request is copied before a handler runs, so handlers may be
 * async.
 */

/** What is known of a request before its body. */
export interface HttpHead {
  readonly method: string;
  /** Path without the query string, as sent (not URL-decoded). */
  readonly path: string;
  /** Query string without "?", "" when there is none or the route does not read it. */
  readonly query: string;
  /** Values of the pattern's `:name` segments in order, URL-decoded where valid. */
  readonly params: readonly string[];
  /**
   * Request headers named by the route, lower-case; absent ones are "", several of one name a list with ", ". White
   * space at both ends is gone, and with it any byte from 0x80: the library counts those as white space.
   */
  readonly headers: { readonly [name: string]: string };
  /** One of them; "" when it is absent or the route does not name it. Cheaper than `headers`, which is made on first use. */
  header(name: string): string;
  /** Whether one of them was sent, even if empty. */
  has(name: string): boolean;
  /** Their values, in the order in which the route names them; `null` for one that was not sent. Cheaper than reading each by its name. */
  readonly values: readonly (string | null)[];
  /** Textual address of the peer. */
  readonly remoteAddress: string;
}

/** A complete request: the body has been read and was within the route's limit. */
export interface HttpRequest extends HttpHead {
  /** The body's bytes, which stay valid. */
  readonly body: Buffer;
  /** The body as text, `null` when it is not UTF-8. Called before the handler first waits, it saves the copy of the bytes. */
  text(): string | null;
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Exactly one of `send` and `stream` is called, once; calls on a closed connection do nothing. */
export interface HttpReply {
  /** True once the client has gone; nothing can be sent any more. */
  readonly aborted: boolean;
  onAborted(listener: () => void): void;
  send(status: number, headers: HeaderList, body: string | Uint8Array): void;
  /** After `send`: settled when the client has read a large body completely or is gone, `null` where that needs no waiting. */
  readonly unsent: Promise<void> | null;
  stream(status: number, headers: HeaderList): HttpStream;
  /** For a bug found after the handler has returned: answers 500 unless an answer was sent, and reports the error as if the handler had thrown. */
  fail(error: unknown): void;
}

export interface HttpStream {
  /** Resolves when the chunk has been passed to the socket and there is room for more; false when the client has gone. */
  write(chunk: string | Uint8Array): Promise<boolean>;
  end(): void;
}

export type HttpHandler = (request: HttpRequest, reply: HttpReply) => void | Promise<void>;

/** An answer that is given instead of reading the body. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** What the head of a request leads to: the handler of the whole request, or a refusal. */
export type Admission = HttpHandler | Refusal;

interface RouteHead {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "ANY";
  /** `/api/runs/:run_id` or a prefix ending in `/*`. HEAD is answered from GET routes without a body. */
  readonly pattern: string;
  /** Names (lower-case) of the request headers the handler reads; only these are copied. */
  readonly headers?: readonly string[];
  /** False for a route whose handler never asks for the query string, which is then not copied. */
  readonly readsQuery?: boolean;
  /** Largest body accepted, in bytes; more is answered 413. 0 (the default) refuses any body. */
  readonly bodyLimitBytes?: number;
  /** A body is read and discarded, up to a bound: the answer is the same with and without one. */
  readonly ignoresBody?: boolean;
}

/** A route decides about a request on its head (`admit`), or takes every one (`handler`). */
export type HttpRoute = RouteHead & ({ readonly handler: HttpHandler; readonly admit?: undefined } | { readonly admit: Admit; readonly handler?: undefined });

/**
 * Decides about a request before its body is read. While a promise is pending the socket is paused, and what has
 * arrived already counts against the budget for bodies.
 */
export type Admit = (head: HttpHead) => Admission | Promise<Admission>;

/** One WebSocket connection. */
export interface SocketPeer {
  /** A text frame, as text or as its UTF-8 bytes, which sockets can share. "dropped" means that it was not queued because the outbox is full. */
  send(message: string | Uint8Array): "sent" | "queued" | "dropped";
  /** Everything that `work` sends is written at once. */
  cork(work: () => void): void;
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
}

export interface SocketRoute<State> {
  readonly pattern: string;
  readonly headers?: readonly string[];
  /** Largest client frame in bytes. */
  readonly maxMessageBytes: number;
  /** What binary client frames get: the connection is closed with 1003 (the default), or they are ignored. */
  readonly binary?: "refuse" | "ignore";
  /** Outbox bound per socket in bytes, passed by at most one message; a socket over it gets "dropped". */
  readonly maxBufferedBytes: number;
  /** Refuse with a status, or accept with the per-socket state and the sub-protocol to echo. */
  readonly upgrade: (head: HttpHead) => { readonly status: number; readonly body: string } | { readonly state: State; readonly protocol?: string };
  readonly open: (peer: SocketPeer, state: State) => void;
  readonly message: (peer: SocketPeer, state: State, data: string) => void;
  /** The outbox has drained. */
  readonly drain?: (peer: SocketPeer, state: State) => void;
  readonly close: (peer: SocketPeer, state: State) => void;
}

export interface HttpServerOptions {
  readonly routes: readonly HttpRoute[];
  readonly sockets?: readonly SocketRoute<never>[];
  /** Answers what no route matches. */
  readonly notFound: { readonly handler: HttpHandler } | { readonly admit: Admit };
  /** Names (lower-case) of the request headers that `notFound` reads. */
  readonly notFoundHeaders?: readonly string[];
  /**
   * A request without a length is the last of its connection. Where a header has no name, the library shows neither it nor
   * those behind it; the length may be among them, and the body would run as a request with headers of its sender's choice.
   */
  readonly closesWithoutLength?: boolean;
  /** Bound of all request bodies in memory, over all connections; a request beyond it is answered 503. 256 MiB by default. */
  readonly bodyBudgetBytes?: number;
  /** Body of the errors that the transport answers itself (400, 413, 500, 501, 503); `{"error":{"code","message"}}` by default. */
  readonly errorBody?: (code: string, message: string) => string;
  /** Further headers of those errors. */
  readonly errorHeaders?: HeaderList;
  /** A handler threw: a bug. The client has been answered 500. */
  readonly onError: (error: unknown, request: { readonly method: string; readonly path: string }) => void;
}

export interface HttpServer {
  /** Binds and returns the real address; `port` 0 picks a free one. @throws Error when the address is taken. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops accepting connections; open ones continue. */
  stopListening(): void;
  /** Closes every connection at once. */
  close(): void;
}
