/** An answer of the service that a view shows, read again when what is asked for changes. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf, type Params, wasAborted } from "../data/api.js";
import { useApp } from "./context.js";

export interface Loaded<Answer> {
  readonly value: Answer | null;
  readonly error: string | null;
  readonly loading: boolean;
}

/** `path` is below /api/; `null` asks for nothing. With `everyMs` it is read again while the page is visible. */
export function useLoaded<Answer>(path: string | null, params: Params = {}, everyMs = 0): Signal<Loaded<Answer>> {
  const app = useApp();
  const state = useSignal<Loaded<Answer>>({ value: null, error: null, loading: path !== null });
  const key = JSON.stringify(params);
  useEffect(() => {
    if (path === null) {
      state.value = { value: null, error: null, loading: false };
      return;
    }
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const value = await app.api.get<Answer>(path, params, abort.signal);
        state.value = { value, error: null, loading: false };
      } catch (failure) {
        if (!abort.signal.aborted && !wasAborted(failure)) state.value = { ...state.peek(), error: messageOf(failure), loading: false };
      }
      app.answered();
    };
    state.value = { ...state.peek(), loading: true };
    void read();
    const timer = everyMs === 0 ? null : setInterval(() => document.visibilityState === "visible" && void read(), everyMs);
    return () => {
      abort.abort();
      if (timer !== null) clearInterval(timer);
    };
  }, [path, key, everyMs, app.hasToken.value]);
  return state;
}
