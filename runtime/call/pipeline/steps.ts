/** The steps of a pipeline after its retrieve: pure functions from rows to rows. Paths may be dotted everywhere. */
import type { CallArgs } from "../../abi/call.js";
import { compareText, type Row } from "../../abi/filter.js";
import { instantKey } from "../../base/instant.js";
import { readField } from "../../base/paths.js";
import type { PipelineStep } from "../../abi/plan.js";
import { keepRowId } from "../row-id.js";
import { type ExprScope, isKept } from "./expression.js";

/** Rows a group keeps where the catalog says nothing. */
const DEFAULT_TAKE = 3;

/** The rows after one step. @throws ToolError expr_error, see expression.ts. */
export function runStep(step: PipelineStep, rows: readonly Row[], scope: ExprScope): readonly Row[] {
  switch (step.kind) {
    case "post_filter":
      return rows.filter((row) => isKept(step.expr, row, scope));
    case "group_by":
      return groupRows(step, rows, scope.args);
    case "sort":
      return sortRows(rows, step, step.by);
    case "project":
      return projectRows(rows, step.fields);
    default:
      return step satisfies never;
  }
}

/** Whether a step looks at rows beside each other: then every row that is missing may change what it returns. */
export function needsAllRows(step: PipelineStep): boolean {
  return step.kind === "group_by" || step.kind === "sort";
}

function hasField(rows: readonly Row[], path: string): boolean {
  return rows.some((row) => readField(row, path) !== undefined);
}

/** Rows of one group beside each other, groups in the order their first rows come; null and missing keys form a group. */
function groupRows(step: PipelineStep & { kind: "group_by" }, rows: readonly Row[], args: CallArgs): readonly Row[] {
  const keys = step.keys.filter((key) => hasField(rows, key));
  if (keys.length === 0) return rows;
  const { per_group: perGroup } = step;
  const sorted = perGroup === undefined ? rows : sortRows(rows, { ...perGroup, nulls: "last" }, perGroup.sort_by);
  const groups = new Map<string, Row[]>();
  for (const row of sorted) {
    const key = JSON.stringify(keys.map((path) => readField(row, path) ?? null));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const take = perGroup === undefined ? Number.POSITIVE_INFINITY : takeOf(perGroup.take, args);
  return [...groups.values()].flatMap((group) => group.slice(0, take));
}

function takeOf(take: number | { readonly param: string }, args: CallArgs): number {
  const value = typeof take === "number" ? take : args[take.param];
  return typeof value === "number" ? Math.max(1, Math.trunc(value)) : DEFAULT_TAKE;
}

interface Order {
  readonly desc: boolean;
  readonly nulls: "first" | "last";
  readonly dtype?: "datetime";
}

/** Stable. A path that no row has leaves the order as it is; among points in time what is none counts as null. */
function sortRows(rows: readonly Row[], { desc, nulls, dtype }: Order, path: string): readonly Row[] {
  if (!hasField(rows, path)) return rows;
  const valueOf = (row: Row): unknown => {
    const value = readField(row, path) ?? null;
    return dtype === undefined ? value : typeof value === "string" ? instantKey(value) : null;
  };
  const keyed = rows.map((row) => ({ row, value: valueOf(row) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return a.value === b.value ? 0 : (a.value === null) === (nulls === "first") ? -1 : 1;
    return desc ? compareValues(b.value, a.value) : compareValues(a.value, b.value);
  });
  return keyed.map(({ row }) => row);
}

const TYPE_ORDER = ["number", "string", "boolean", "object"];

/** Numbers, then texts by code point, then false and true, then what has no order. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return TYPE_ORDER.indexOf(typeof a) - TYPE_ORDER.indexOf(typeof b);
}

/** Only the listed fields, as far as any row has them; `_id` and `_score` go too unless they are listed. Never more than listed. */
function projectRows(rows: readonly Row[], fields: readonly string[]): readonly Row[] {
  const present = fields.filter((field) => hasField(rows, field));
  return rows.map((row) => keepRowId(row, Object.fromEntries(present.map((field) => [field, readField(row, field) ?? null]))));
}
