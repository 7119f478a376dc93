/**
 * A client whose calls TypeScript checks. `out/client.ts` of a build states what each tool takes and returns; the same
 * types fit every way of calling it. Types only.
 */
import type { Envelope } from "./call.js";

/** Something that calls tools by name: `connect()` of toolsrv, or `overMcp()` of toolsrv/client. */
export interface ToolCalls<Options> {
  call(name: string, args?: { readonly [arg: string]: unknown }, options?: Options): Promise<Envelope>;
}

/** What a build knows of one tool. */
export interface ToolTypes {
  readonly args: object;
  readonly row: object;
}

/** The result of a call whose rows are known. */
export type EnvelopeOf<Row> = Omit<Envelope, "rows"> & { readonly rows: readonly Row[] };

/** Arguments as they may be given: null and undefined are absent. */
export type GivenArgs<Args> = { readonly [Key in keyof Args]: Args[Key] | (Record<never, never> extends Pick<Args, Key> ? null | undefined : never) };

/** A tool that needs no argument can be called without any. */
type Rest<Tool extends ToolTypes, Options> = Record<never, never> extends Tool["args"] ? [args?: GivenArgs<Tool["args"]>, options?: Options] : [args: GivenArgs<Tool["args"]>, options?: Options];

/** The tools of one catalog. */
export interface Client<Tools extends { readonly [Name in keyof Tools]: ToolTypes }, Options> {
  call<Name extends keyof Tools & string>(name: Name, ...rest: Rest<Tools[Name], Options>): Promise<EnvelopeOf<Tools[Name]["row"]>>;
}
