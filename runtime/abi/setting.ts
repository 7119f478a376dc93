/** What a descriptor says of one key that a store or a provider reads from the catalog. */

export interface Setting {
  /** Value where the catalog says nothing; `null`: none. */
  readonly default: string | number | null;
  /**
   * path: a file, relative to the catalog · endpoint: an address, which may contain credentials · secret: a credential ·
   * secrets: a mapping in which each value may be one, as HTTP headers are · account: who asks, without the credential ·
   * place: where within the store records are read · option: how they are read, or how a service is asked.
   */
  readonly use: "path" | "endpoint" | "secret" | "secrets" | "account" | "place" | "option";
  /** What it means, for documentation, where its name does not say it. */
  readonly meaning?: string;
}
