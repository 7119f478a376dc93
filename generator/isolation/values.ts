/** Values that pass a static filter and values that do not, found by trying: `evaluate` says which they are. */
import { evaluate, toList, type Row } from "../../runtime/abi/filter.js";
import type { WrittenCondition } from "../proof/written.js";
import { conditionOf } from "./visible.js";

/** Values by path; `undefined` is a row without the field. */
export type Assignment = ReadonlyMap<string, unknown>;

export interface FilterValues {
  /** Passes every condition. */
  readonly passing: Assignment;
  /** Each fails at least one condition and passes as many others as it can. */
  readonly failing: readonly Assignment[];
  /** Conditions for which no such values were found, as text. */
  readonly unsolved: readonly string[];
}

/** A row with a value at a dotted path; what stands in the way is replaced. */
export function withPath(row: Row, path: string, value: unknown): Row {
  const [head = "", ...rest] = path.split(".");
  if (rest.length === 0) {
    const { [head]: _, ...others } = row;
    return value === undefined ? others : { ...row, [head]: value };
  }
  const inner = row[head];
  const below = withPath(typeof inner === "object" && inner !== null && !Array.isArray(inner) ? (inner as Row) : {}, rest.join("."), value);
  return { ...row, [head]: below };
}

const text = ({ path, op, value }: WrittenCondition): string => `${path} ${op} ${JSON.stringify(value)}`;

function passes(condition: WrittenCondition, value: unknown): boolean {
  return evaluate(conditionOf(condition), withPath({ _id: "probe" }, condition.path, value));
}

export function filterValues(conditions: readonly WrittenCondition[]): FilterValues {
  const passing = new Map<string, unknown>();
  const failing: (readonly [path: string, value: unknown])[] = [];
  const unsolved: string[] = [];
  for (const path of new Set(conditions.map((condition) => condition.path))) {
    const here = conditions.filter((condition) => condition.path === path);
    const candidates = candidatesFor(here);
    const good = candidates.findIndex((value) => here.every((condition) => passes(condition, value)));
    if (good < 0) unsolved.push(...here.map((condition) => `no value passes ${text(condition)}`));
    else passing.set(path, candidates[good]);
    for (const condition of here) {
      const bad = candidates.filter((value) => !passes(condition, value));
      const alone = bad.filter((value) => here.every((other) => other === condition || passes(other, value)));
      const [chosen] = alone.length > 0 ? alone : bad;
      if (bad.length === 0) unsolved.push(`every value passes ${text(condition)}`);
      else failing.push([path, chosen]);
      if (bad.includes(undefined)) failing.push([path, undefined]);
    }
  }
  return { passing, failing: failing.map(([path, value]) => new Map([...passing, [path, value]])), unsolved };
}

/** Operands, their neighbours, lists of them, and values of every type; a missing field comes last. */
function candidatesFor(conditions: readonly WrittenCondition[]): readonly unknown[] {
  const operands = conditions.flatMap((condition) => toList(conditionOf(condition).value));
  return [
    ...operands.filter((operand) => operand !== null),
    ...operands.flatMap(neighbours),
    ...(operands.length === 0 ? [] : [operands]), ...operands.map((operand) => [operand]),
    "probe", 0, 1, true, false, ["probe"], null, undefined,
  ];
}

const DAY_MS = 86_400_000;

function neighbours(operand: unknown): readonly unknown[] {
  if (typeof operand === "number") return [operand + 1, operand - 1, operand + 0.5];
  if (typeof operand === "boolean") return [!operand];
  if (typeof operand !== "string") return [];
  const days = Number.isNaN(Date.parse(operand)) ? [] : [-1, 1].map((day) => new Date(Date.parse(operand) + day * DAY_MS).toISOString());
  return [...days, `${operand} probe`, `${operand}~`, "", "~", operand.replaceAll("%", "").replaceAll("_", "x"), operand.replaceAll("%", "probe").replaceAll("_", "x")];
}
