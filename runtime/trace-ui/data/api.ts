/** Requests to the service, with the token, and answers with their types. */
import { apiUrl, bearer } from "./address.js";

/** A request that was not answered as wished. `status` is 0 when nothing answered. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export type Params = { readonly [name: string]: string | number | null };

export interface Api {
  /** @throws ApiError; an aborted request throws what the browser throws. */
  get<Answer>(path: string, params?: Params, signal?: AbortSignal): Promise<Answer>;
  /** The body as a file. @throws ApiError */
  download(path: string, params?: Params): Promise<Blob>;
  /** Sends a value as JSON. @throws ApiError */
  post(path: string, body: unknown): Promise<void>;
  /** @throws ApiError */
  remove(path: string): Promise<void>;
}

export interface ApiOptions {
  readonly page: () => string;
  readonly token: () => string | null;
  /** The service wants a token, or another one than `sent`. */
  readonly onUnauthorized: (sent: string | null) => void;
}

export function createApi(options: ApiOptions): Api {
  async function request(method: string, path: string, params: Params, signal: AbortSignal | null, body?: unknown): Promise<Response> {
    const token = options.token();
    let response: Response;
    try {
      response = await fetch(apiUrl(options.page(), path, params), { method, signal, headers: { ...(token === null ? {} : { authorization: bearer(token) }), ...(body === undefined ? {} : { "content-type": "application/json" }) }, body: body === undefined ? null : JSON.stringify(body), credentials: "same-origin" });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new ApiError(0, "The service does not answer. It may have stopped, or the network is down.");
    }
    if (response.ok) return response;
    if (response.status === 401) options.onUnauthorized(token);
    throw new ApiError(response.status, await reasonOf(response));
  }
  return {
    get: async <Answer>(path: string, params: Params = {}, signal?: AbortSignal) => (await (await request("GET", path, params, signal ?? null)).json()) as Answer,
    download: async (path, params = {}) => (await request("GET", path, params, null)).blob(),
    post: async (path, body) => void (await request("POST", path, {}, null, body)),
    remove: async (path) => void (await request("DELETE", path, {}, null)),
  };
}

/** Deletes a run; one that somebody else, or retention, has deleted is gone as well. @throws ApiError */
export async function removeRun(api: Api, runId: string): Promise<void> {
  try {
    await api.remove(`runs/${encodeURIComponent(runId)}`);
  } catch (failure) {
    if (!(failure instanceof ApiError && failure.status === 404)) throw failure;
  }
}

async function reasonOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const detail = typeof body === "object" && body !== null && "detail" in body ? body.detail : null;
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) return detail.map((item: { loc?: unknown[]; msg?: unknown }) => `${String(item.loc?.at(-1) ?? "")}: ${String(item.msg ?? "")}`).join("; ");
  return `The service answered ${response.status}.`;
}

/** Whether a request was given up by the page itself. */
export function wasAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What to say about a failed request. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
