/** Asks for the token that the service wants; it is kept for this tab only. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useApp } from "./context.js";
import { Icon } from "./icons.js";

export function TokenPrompt({ reason }: { reason: string }): JSX.Element {
  const app = useApp();
  const input = useRef<HTMLInputElement>(null);
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const token = input.current?.value ?? "";
    if (token === "") return;
    busy.value = true;
    problem.value = await app.giveToken(token);
    busy.value = false;
    input.current?.select();
  };
  return (
    <main class="token">
      <form onSubmit={(event) => void submit(event)}>
        <span class="token-icon"><Icon name="key" /></span>
        <h1>Access token</h1>
        <p id="token-reason">{reason} It is the value that the service was started with (auth_token).</p>
        <label for="token">Token</label>
        <input id="token" ref={input} type="password" autocomplete="off" spellcheck={false} aria-describedby="token-reason token-problem" aria-invalid={problem.value !== null} />
        <p id="token-problem" class="problem" role="alert">{problem.value}</p>
        <button type="submit" class="primary" disabled={busy.value}>{busy.value ? "Checking…" : "Continue"}</button>
        <p class="fine">Kept in this tab until it is closed.</p>
      </form>
    </main>
  );
}
