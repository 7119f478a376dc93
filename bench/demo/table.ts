/** Rows as a table that fits a terminal. */

export interface Column {
  readonly key: string;
  readonly title: string;
  /** Numbers are aligned right. */
  readonly right?: true;
}

/** Lines of at most `width` characters: a head, a rule, the rows. The widest column is narrowed until all fit. */
export function formatTable(columns: readonly Column[], rows: readonly { readonly [key: string]: unknown }[], width: number): readonly string[] {
  const gap = 2;
  const cells = rows.map((row) => columns.map((column) => display(row[column.key])));
  const widths = columns.map((column, i) => Math.max(column.title.length, ...cells.map((row) => [...(row[i] ?? "")].length)));
  const total = (): number => widths.reduce((sum, w) => sum + w, gap * (columns.length - 1));
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  const line = (texts: readonly string[]): string =>
    texts.map((text, i) => fit(text, widths[i] ?? 0, columns[i]?.right === true)).join(" ".repeat(gap)).trimEnd();
  return [line(columns.map((column) => column.title)), widths.map((w) => "─".repeat(w)).join(" ".repeat(gap)), ...cells.map(line)];
}

function display(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toFixed(3)));
  // A day is what a reader wants of a date without a time.
  if (typeof value === "string") return value.replace(/T00:00:00(\.000)?Z$/, "").replace(/\s+/g, " ");
  return JSON.stringify(value);
}

function fit(text: string, width: number, right: boolean): string {
  const letters = [...text];
  const cut = letters.length > width ? `${letters.slice(0, Math.max(width - 1, 0)).join("")}…` : text;
  const pad = " ".repeat(Math.max(0, width - [...cut].length));
  return right ? pad + cut : cut + pad;
}
