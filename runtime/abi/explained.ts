/**
 * What the trace service shows beside a call of a tool: where the tool is written, its guard in words and the queries of
 * its store. Constant for a program and made by the compiler, so a call that is recorded computes none of it. It holds
 * no value of a guard, no secret and nothing of a caller: arguments, tenants and fixed values are placeholders.
 */

export interface ExplainedTool {
  /** `tools.yaml:22` */
  readonly source: string;
  /** `plans.ts:17`, where the plan was printed; absent in a program that is only in memory. */
  readonly printed?: string;
  /** What every read is bound to, as words: `distributor eq …`; empty where the catalog writes no filter. */
  readonly guard: readonly string[];
  /** Id of the certificate of its guard, as audit evidence names it; absent where none was made. */
  readonly certificate?: string;
  readonly calls: readonly ExplainedCall[];
}

/** One way to ask the store. */
export interface ExplainedCall {
  /** `With query`; empty where there is only one way. */
  readonly when: string;
  readonly queries: readonly { readonly title: string; readonly lines: readonly string[] }[];
}

/** By the name of the tool. */
export type ExplainedTools = { readonly [tool: string]: ExplainedTool };
