/** Where the shape walker is in a catalog, and how it reports there. */
import { formatPath, type Reporter } from "../diagnostics.js";
import type { At, Path } from "../ir.js";

/** What the walker asks of the file that a value came from. */
export interface Origin {
  /** The scalar at a path as it is written, without quotes; null where there is none. */
  sourceText(path: Path): string | null;
  /** Whether the value at a path has an anchor, or contains one: then other places may use it by an alias or a merge. */
  isTemplate(path: Path): boolean;
}

/** As many as reports of one code are kept. */
const MAX_QUESTIONS = 1_000;

/** A position that moves with the walk; one for each check of a catalog. */
export class Place {
  /** Copied only for reports. */
  private readonly path: (string | number)[] = [];
  private questions = 0;

  constructor(
    readonly reporter: Reporter,
    private readonly origin: Origin,
    /** What a message calls the whole file. */
    private readonly root = "the catalog",
  ) {}

  /** Runs `work` one key further down. */
  below<T>(key: string | number, work: () => T): T {
    this.path.push(key);
    const result = work();
    this.path.pop();
    return result;
  }

  get depth(): number {
    return this.path.length;
  }

  here(): At & { readonly path: Path } {
    return { path: [...this.path] };
  }

  atKey(key: string): At & { readonly path: Path } {
    return { path: [...this.path, key], on: "key" };
  }

  /** The key a message names: the last word of the path, with its index. */
  name(): string {
    const start = this.path.findLastIndex((key) => typeof key === "string");
    return this.path.length === 0 ? this.root : formatPath(this.path.slice(Math.max(start, 0)));
  }

  /** The mapping a message names. */
  where(): string {
    return this.path.length === 0 ? this.root : `'${formatPath(this.path)}'`;
  }

  /** The scalar here as it is written; null where there is none, or when the file was asked too often. */
  sourceText(): string | null {
    return this.mayAsk() ? this.origin.sourceText(this.path) : null;
  }

  /** Whether aliases may use what is at a path. */
  isTemplate(path: Path): boolean {
    return this.mayAsk() && this.origin.isTemplate(path);
  }

  /** Finding a node takes as long as its mapping has keys, so the file is asked only so often; later reports are not shown anyway. */
  private mayAsk(): boolean {
    this.questions += 1;
    return this.questions <= MAX_QUESTIONS;
  }
}
