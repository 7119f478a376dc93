import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useApp } from "./context.js";
import { KEYS } from "./keys.js";
import { IconButton } from "./parts.js";

export function Help(): JSX.Element {
  const app = useApp();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  const close = (): void => void (app.help.value = false);
  return (
    <dialog class="help" ref={ref} aria-label="Keys" onClose={close} onClick={(event) => event.target === ref.current && close()}>
      <div class="help-body">
        <header>
          <h2>Keys</h2>
          <IconButton name="close" label="Close" onClick={close} />
        </header>
        <dl>
          {KEYS.map(([keys, what]) => (
            <div key={keys}>
              <dt>{keys.split("  ").map((key) => <kbd key={key}>{key}</kbd>)}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </dialog>
  );
}
