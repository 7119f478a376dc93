/**
 * What every tool asks its store, for `out/queries.md`: the native queries of calls whose arguments are placeholders,
 * made by the code that serves. Numbers and dates travel as values that nothing else has and become placeholders in the
 * text, because the code that builds a query may look at them.
 */
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import type { ParamSpec } from "../../runtime/abi/params.js";
import type { Json, ToolPlan } from "../../runtime/abi/plan.js";
import type { Plans, QueryProgram } from "../ir.js";
import { nativeText, type PrintValue } from "./native-text.js";
import { recordQueries, type NativeQuery } from "./record.js";

/** One way to call a tool. */
export interface ShownCall {
  /** When the store is asked so; empty where there is only one way. */
  readonly when: string;
  readonly queries: readonly { readonly title: string; readonly text: string }[];
  /** Why no more is shown. */
  readonly refused: string | null;
}

/** Values for arguments that no constant of the catalog has, so that none is taken for one. */
interface Unused {
  readonly firstNumber: number;
  /** `2001-02-03T04` */
  readonly hour: string;
}

const MAX_ARGUMENTS = 1_000;

function unusedValues(plans: Plans): Unused {
  const text = JSON.stringify(plans.tools);
  let number = 987_654;
  while (text.includes(String(number))) number -= 1;
  let year = 2001;
  while (text.includes(`${year}-02-03`)) year += 1;
  return { firstNumber: number * MAX_ARGUMENTS, hour: `${year}-02-03T04` };
}

function dateOf({ hour }: Unused, index: number): string {
  return `${hour}:${String(Math.floor(index / 60) % 60).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}Z`;
}

/** The calls to show of each tool, by name. */
export async function shownCalls(program: QueryProgram, plans: Plans, print: PrintValue): Promise<ReadonlyMap<string, readonly ShownCall[]>> {
  const unused = unusedValues(plans);
  const shown = new Map<string, readonly ShownCall[]>();
  // One after the other: nothing waits for anything outside, and thousands of open calls would only fill the memory.
  for (const [tool, plan] of Object.entries(plans.tools)) shown.set(tool, await callsOf({ program, unused, print }, tool, plan, plans.inputs[tool]?.params ?? []));
  return shown;
}

interface Scope {
  readonly program: QueryProgram;
  readonly unused: Unused;
  readonly print: PrintValue;
}

async function callsOf({ program, unused, print }: Scope, tool: string, plan: ToolPlan, params: readonly ParamSpec[]): Promise<readonly ShownCall[]> {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const bind = "bind" in read ? read.bind : [];
  const directories = new Set(bind.filter(({ resolve }) => resolve !== undefined).map(({ arg }) => arg));
  const query = "query" in read ? read.query : undefined;
  const limit = "limit" in plan ? plan.limit : undefined;
  const collection = "collection" in read && typeof read.collection === "object" ? read.collection.arg : null;
  const values = new Map(params.map((param, index) => [param.name, param.name === limit?.arg ? limit.max : placeholder(param, index, unused, param.name === collection)]));
  const given = (names: (name: string) => boolean): { readonly [arg: string]: Json } => Object.fromEntries([...values].filter(([name]) => names(name)));
  const show = async (when: string, args: object, only?: (query: NativeQuery, index: number) => boolean): Promise<ShownCall> => {
    const asked: NativeQuery[] = [];
    // A directory has no names here, so a call that needs one ends once it was read.
    const refused = await refusalOf(recordQueries(program, tool, args, new Map(), asked), () => only !== undefined && asked.length > 0);
    const kept = only === undefined ? asked : asked.filter(only);
    const text = (native: Json): string => named(nativeText(native, print), params, unused);
    return { when, queries: kept.map(({ connection, backend, request, query: native }) => ({ title: `${request} on connection ${connection} (${backend})`, text: text(native) })), refused: only === undefined ? refused : null };
  };
  const direct = (name: string): boolean => !directories.has(name);
  const withText = query === undefined || query.required ? "" : `With ${query.arg}`;
  return [
    await show(withText, given(direct)),
    ...(query === undefined || query.required ? [] : [await show(`Without ${query.arg}`, given((name) => direct(name) && name !== query.arg))]),
    ...(await Promise.all([...directories].map((arg) => show(`Names for ${arg}`, given((name) => direct(name) || name === arg), (_, index) => index === 0)))),
  ];
}

async function refusalOf(call: Promise<unknown>, mayEnd: () => boolean): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (isToolError(error) || isBackendError(error)) return error.message;
    if (mayEnd()) return null;
    throw error;
  }
}

function placeholder(param: ParamSpec, index: number, unused: Unused, mustExist: boolean): Json {
  const one = (): Json => {
    switch (param.type) {
      case "string":
        return mustExist && param.enum?.[0] !== undefined ? param.enum[0] : param.format === "date-time" ? dateOf(unused, index) : `<${param.name}>`;
      case "boolean":
        return true;
      case "integer":
      case "number":
        return unused.firstNumber + index;
    }
  };
  return param.list === true ? [one()] : one();
}

/** The text with names in the place of numbers and dates. */
function named(text: string, params: readonly ParamSpec[], { firstNumber, hour }: Unused): string {
  const name = (index: number, whole: string): string => (params[index] === undefined ? whole : `<${params[index].name}>`);
  return text
    .replace(/\b\d{9}\b/g, (whole) => name(Number(whole) - firstNumber, whole))
    .replace(new RegExp(`${hour}:(\\d\\d):(\\d\\d)(?:\\.0+)?(?:Z|\\+00:00)?`, "g"), (whole, minutes: string, seconds: string) => name(Number(minutes) * 60 + Number(seconds), whole));
}
