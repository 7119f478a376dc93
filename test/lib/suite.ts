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
    before: (hook: () => void | Promise<void>) => inner.before(() => reported(hook, `${title}: before the tests`).then((error) => {
      if (error !== null) throw error.cause;
    })),
    after: (hook: () => void | Promise<void>) => inner.after(() => reported(hook, `${title}: after the tests`).then((error) => {
      // uvu would leave it to Node, which ends the process before any outcome is printed.
      if (error !== null) process.once("exit", () => (process.exitCode = 1));
    })),
    run: () => inner.run(),
  });
}

/** What a hook threw, printed with its name: uvu itself drops what a hook before the tests throws. */
async function reported(hook: () => void | Promise<void>, name: string): Promise<{ readonly cause: unknown } | null> {
  try {
    await hook();
    return null;
  } catch (cause) {
    process.stdout.write(`\n  FAIL  ${name}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
    return { cause };
  }
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
