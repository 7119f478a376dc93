/**
 * Native queries that are compiled once: for each shape of a read, a template with holes for what a call gives. The
 * guard is a part of the shape, so a template is never without it. `search`, `fetch`, `count` and `explain` of an adapter
 * fill the same templates, so what is shown is what runs.
 */
import type { FetchRequest, ReadRequest, SearchRequest } from "./adapter.js";
import { type Given, Hole, Shown, templateOf, type Template } from "./hole.js";
import { type Shape, splitFilter } from "./shape.js";

/** Templates that are kept; the oldest goes first, and is compiled again when a call needs it. */
const MAX_TEMPLATES = 256;

/** A search whose values are holes. */
export interface SearchShape extends Omit<SearchRequest, "filter" | "vector" | "text" | "limit" | "embeddedBy"> {
  readonly filter: Shape | null;
  readonly vector: Given<Float32Array> | null;
  readonly text: Given<string> | null;
  readonly limit: Given<number>;
}

/** A filter-only read whose values are holes. */
export interface FetchShape extends Omit<FetchRequest, "filter" | "limit" | "offset"> {
  readonly filter: Shape | null;
  readonly limit: Given<number>;
  readonly offset: Given<number>;
}

export type CountRequest = Extract<ReadRequest, { readonly count: unknown }>["count"];

export interface CountShape extends Omit<CountRequest, "filter"> {
  readonly filter: Shape | null;
}

/** Numbers of the holes beside those of the filter. */
const VECTOR = 0;
const TEXT = 1;
const LIMIT = 2;
const OFFSET = 3;

const hole = (index: number): Hole => new Hole(index, "other");

/** The place of each of these values. */
type Places<T> = { readonly [K in keyof T]: Hole };

/** The templates of one collection, as its schema is known. */
export class PreparedReads {
  readonly #templates = new Map<string, Template>();

  /** How many queries were compiled; for tests. */
  compiled = 0;

  /**
   * The native query of a search.
   * @param variant What else decides how the query is written.
   * @param compile Writes the query with holes; its result may be kept.
   * @param isShown The vector is shown by its length only.
   */
  search<N>(request: SearchRequest, variant: string, compile: (shape: SearchShape) => N, isShown = false): N {
    const { filter, vector, text, limit, embeddedBy: _made, ...rest } = request;
    const shown = isShown && vector !== null ? new Shown(`<vector of ${vector.length}>`) : vector;
    const given = [shown, text, limit];
    return this.#query(`search ${variant} ${vector === null ? "" : "v"}${text === null ? "" : "t"}`, rest, filter, given, (shape) =>
      compile({ ...rest, filter: shape, vector: vector === null ? null : hole(VECTOR), text: text === null ? null : hole(TEXT), limit: hole(LIMIT) }));
  }

  /** The native query of a read without a vector. */
  fetch<N>({ filter, limit, offset, ...rest }: FetchRequest, variant: string, compile: (shape: FetchShape) => N): N {
    return this.#query(`fetch ${variant}`, rest, filter, [null, null, limit, offset], (shape) => compile({ ...rest, filter: shape, limit: hole(LIMIT), offset: hole(OFFSET) }));
  }

  /** The native query of a count. */
  count<N>({ filter, ...rest }: CountRequest, variant: string, compile: (shape: CountShape) => N): N {
    return this.#query(`count ${variant}`, rest, filter, [], (shape) => compile({ ...rest, filter: shape }));
  }

  /**
   * The native query of one step, for a store that reads in several.
   * @param values What the call gives beside the values of the filter; `compile` gets their places, in the same order.
   */
  step<const T extends readonly unknown[], N>(variant: string, filter: SearchRequest["filter"], values: T, compile: (shape: Shape | null, places: Places<T>) => N): N {
    return this.#query(`step ${variant}`, null, filter, values, (shape) => compile(shape, values.map((_, index) => hole(index)) as unknown as Places<T>));
  }

  #query<N>(variant: string, rest: object | null, filter: SearchRequest["filter"], given: readonly unknown[], compile: (shape: Shape | null) => N): N {
    const split = splitFilter(filter);
    const key = `${variant} ${rest === null ? "" : JSON.stringify(rest)} ${split.key}`;
    let template = this.#templates.get(key);
    if (template === undefined) {
      template = templateOf(compile(split.shape(given.length)));
      this.compiled += 1;
      if (split.isReusable) this.#keep(key, template);
    }
    return template.fill([...given, ...split.values]) as N;
  }

  #keep(key: string, template: Template): void {
    const [oldest] = this.#templates.size < MAX_TEMPLATES ? [] : this.#templates.keys();
    if (oldest !== undefined) this.#templates.delete(oldest);
    this.#templates.set(key, template);
  }
}
