/**
 * The part of uWebSockets.js that we use, declared by hand: the binaries come without types, and only what both
 * supported lines (20.51 and 20.69) share is used. See uws.ts for the rules that the types cannot state.
 */

export interface UwsModule {
  App(): UwsApp;
  us_listen_socket_close(token: UwsListenToken): void;
  us_socket_local_port(token: UwsListenToken): number;
  readonly DISABLED: number;
  /** Without it two processes may listen on one port and share its connections. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

declare const listenToken: unique symbol;
export interface UwsListenToken {
  readonly [listenToken]: true;
}

declare const upgradeContext: unique symbol;
export interface UwsUpgradeContext {
  readonly [upgradeContext]: true;
}

export type UwsHandler = (res: UwsResponse, req: UwsRequest) => void;

export interface UwsApp {
  get(pattern: string, handler: UwsHandler): UwsApp;
  head(pattern: string, handler: UwsHandler): UwsApp;
  post(pattern: string, handler: UwsHandler): UwsApp;
  put(pattern: string, handler: UwsHandler): UwsApp;
  del(pattern: string, handler: UwsHandler): UwsApp;
  options(pattern: string, handler: UwsHandler): UwsApp;
  any(pattern: string, handler: UwsHandler): UwsApp;
  ws(pattern: string, behavior: UwsSocketBehavior): UwsApp;
  /** `token` is false when the address cannot be bound. */
  listen(host: string, port: number, options: number, callback: (token: UwsListenToken | false) => void): UwsApp;
  /** Closes listen sockets and every connection. */
  close(): UwsApp;
}

/** Valid only until the handler returns. */
export interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  /** Undefined when the target has no "?". */
  getQuery(): string | undefined;
  getParameter(index: number): string | undefined;
  /** First header of that (lower-case) name, "" when there is none. */
  getHeader(name: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** Valid until it is answered or aborted; any use after that throws. */
export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  /** False when the chunk was buffered because the socket is full. */
  write(chunk: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  tryEnd(rest: Uint8Array, totalBytes: number): readonly [ok: boolean, done: boolean];
  /** `offset` counts body bytes already taken by the socket. */
  onWritable(listener: (offset: number) => boolean): UwsResponse;
  onAborted(listener: () => void): UwsResponse;
  /** Must be attached before the handler returns. `chunk` is detached when the listener returns. */
  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
  cork(action: () => void): UwsResponse;
  close(): UwsResponse;
  /** Stops reading from the socket; what the library has read already still comes. */
  pause(): UwsResponse;
  resume(): UwsResponse;
  upgrade<Data>(userData: Data, key: string, protocol: string, extensions: string, context: UwsUpgradeContext): void;
}

export interface UwsSocketBehavior {
  readonly compression: number;
  readonly maxPayloadLength: number;
  readonly maxBackpressure: number;
  /** Seconds, 0 or 8–960. */
  readonly idleTimeout: number;
  readonly sendPingsAutomatically: boolean;
  readonly upgrade: (res: UwsResponse, req: UwsRequest, context: UwsUpgradeContext) => void;
  readonly open: (ws: UwsSocket) => void;
  readonly message: (ws: UwsSocket, message: ArrayBuffer, isBinary: boolean) => void;
  readonly drain: (ws: UwsSocket) => void;
  readonly close: (ws: UwsSocket, code: number, message: ArrayBuffer) => void;
}

/** Valid until its close listener has been called; any use after that throws. */
export interface UwsSocket {
  getUserData(): unknown;
  /** 1 sent, 0 queued behind backpressure, 2 dropped because `maxBackpressure` would be passed. */
  send(message: string | Uint8Array, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  cork(work: () => void): void;
  end(code: number, reason: string): void;
  close(): void;
}
