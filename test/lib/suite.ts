/** uvu with a time limit for each test, so that a hang is a named failure. */
import { suite as uvuSuite } from "uvu";

export interface Suite {
  (name: string, body: () => void | Promise<void>, options?: { timeoutMs?: number }): void;
  /** Registers the test as skipped and prints why; a skip without a reason does not compile. */
  skip(name: string, reason: string): void;
  before(hook: () => void | Promise<void>): void;
  after(hook: () => void | Promise<void>): void;
  run(): void;
}

/** A named group of tests; call `run()` once at the end of the file. Tests end after 10 s unless they say more. */
export function suite(title: string): Suite {
  const inner = uvuSuite(title);
  const add = (name: string, body: () => void | Promise<void>, options: { timeoutMs?: number } = {}): void => {
    inner(name, () => withTimeout(body, options.timeoutMs ?? 10_000, `${title}: ${name}`));
  };
  return Object.assign(add, {
    skip(name: string, reason: string) {
      process.stdout.write(`  skipped: ${title}: ${name} (${reason})\n`);
      inner.skip(name, () => undefined);
    },
    before: (hook: () => void | Promise<void>) => inner.before(hook),
    after: (hook: () => void | Promise<void>) => inner.after(hook),
    run: () => inner.run(),
  });
}

async function withTimeout(body: () => void | Promise<void>, timeoutMs: number, name: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${timeoutMs} ms: ${name}`)), timeoutMs);
  });
  try {
    await Promise.race([Promise.resolve().then(body), limit]);
  } finally {
    clearTimeout(timer);
  }
}
