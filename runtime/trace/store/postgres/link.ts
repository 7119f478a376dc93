/**
 * The one connection of a process that writes and listens. Work on it is done one piece after the other; when it is
 * lost, the next piece of work connects again, and so does a timer, because what others write must be heard as well.
 */
import { StoreUnavailableError } from "../store.js";
import { type Client, type Driver, messageOf, storeError } from "./driver.js";

const RECONNECT_MS = 1000;

export interface LinkOptions {
  readonly driver: Driver;
  readonly channel: string;
  /** Called on a fresh connection, and when another process announced a commit; in turn with other work. */
  readonly onCommit: (client: Client, fresh: boolean) => Promise<void>;
}

export class Link {
  #client: Client | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #signalled = false;
  #closed = false;

  constructor(private readonly options: LinkOptions) {}

  /** Does a piece of work when its turn comes, connected or not. */
  turn<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Does a piece of work on the connection when its turn comes. @throws StoreUnavailableError, StorageFullError, or what the work throws */
  run<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.turn(async () => {
      const client = await this.#connected();
      try {
        return await work(client);
      } catch (error) {
        throw storeError(error);
      }
    });
  }

  /** One transaction; on an error it is taken back. `prepare` and `committed` are part of the turn; `committed` must not throw. */
  transaction<T>(
    work: (client: Client) => Promise<T>,
    committed: (result: T, client: Client) => Promise<void> | void = () => undefined,
    prepare: (client: Client) => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    return this.run(async (client) => {
      await prepare(client);
      let result: T;
      try {
        await client.query("BEGIN");
        result = await work(client);
        await client.query("COMMIT");
      } catch (error) {
        // A connection on which this fails as well is of no more use.
        await client.query("ROLLBACK").catch(() => this.#lose(client));
        throw error;
      }
      await committed(result, client);
      return result;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#last;
    await this.#client?.end().catch(() => undefined);
    this.#client = null;
  }

  async #connected(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    if (this.#closed) throw new StoreUnavailableError("the store is closed");
    try {
      const client = await this.options.driver.connect("toolsrv trace writer");
      client.on("end", () => this.#lose(client));
      const own = (client as Client & { readonly processID?: number }).processID;
      client.on("notification", ({ processId }) => {
        if (processId !== own) this.#tell();
      });
      await client.query(`LISTEN "${this.options.channel}"`);
      this.#client = client;
      await this.options.onCommit(client, true);
      return client;
    } catch (error) {
      this.#reconnect();
      throw new StoreUnavailableError(`the database can't be reached: ${messageOf(error)}`, { cause: error });
    }
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.end().catch(() => undefined);
    this.#reconnect();
  }

  #reconnect(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.run(() => Promise.resolve()).catch(() => undefined);
    }, RECONNECT_MS);
  }

  /** Many notifications that come while something else is done are one piece of work. */
  #tell(): void {
    if (this.#signalled || this.#closed) return;
    this.#signalled = true;
    this.run((client) => {
      this.#signalled = false;
      return this.options.onCommit(client, false);
    }).catch(() => undefined);
  }
}
