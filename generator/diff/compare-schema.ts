/** What the model sees: arguments and texts of one tool. */
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { same, show, without, type Changes } from "./change.js";

/** One argument of an advertised schema, with a list and its members separate. */
interface Argument {
  readonly type: string;
  readonly list: boolean;
  readonly required: boolean;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
}

interface Property extends Omit<Argument, "list" | "required"> {
  readonly items?: Pick<Argument, "type" | "enum" | "maxLength">;
}

interface InputSchema {
  readonly properties?: { readonly [name: string]: Property };
  readonly required?: readonly string[];
}

function argumentsOf(definition: ToolDefinition): ReadonlyMap<string, Argument> {
  const { properties = {}, required = [] } = definition.inputSchema as unknown as InputSchema;
  return new Map(Object.entries(properties).map(([name, { items, ...own }]) => [name, { ...own, ...items, list: items !== undefined, required: required.includes(name) }]));
}

export function argumentNames(definition: ToolDefinition): readonly string[] {
  return [...argumentsOf(definition).keys()];
}

/** `limitArg` is left to the comparison of plans: its maximum is a limit, not part of the schema's form. */
export function compareDefinitions(old: ToolDefinition, next: ToolDefinition, limitArg: string | null, changes: Changes): void {
  if (old.description !== next.description) changes.add("behavioural", "description", "the description that the model reads has changed");
  if (old.title !== next.title) changes.add("behavioural", "title", `the title is now ${show(next.title)}`);
  const [before, after] = [argumentsOf(old), argumentsOf(next)];
  for (const [name, argument] of before) {
    const now = after.get(name);
    if (now === undefined) changes.add("breaking", `argument ${name}`, `argument '${name}' is gone; callers that give it are no longer heard`);
    else compareArguments(name, argument, now, name === limitArg, changes);
  }
  for (const [name, { required }] of after) {
    if (before.has(name)) continue;
    changes.add(required ? "breaking" : "additive", `argument ${name}`, `argument '${name}' is new${required ? " and required" : ""}`);
  }
}

function compareArguments(name: string, old: Argument, next: Argument, isLimit: boolean, changes: Changes): void {
  const subject = `argument ${name}`;
  const type = ({ type: each, list }: Argument): string => (list ? `a list of ${each}` : each);
  if (type(old) !== type(next)) changes.add(isWider(old, next) ? "additive" : "breaking", subject, `argument '${name}' is ${type(next)} instead of ${type(old)}`);
  if (old.required !== next.required) changes.add(next.required ? "breaking" : "additive", subject, `argument '${name}' is ${next.required ? "required now" : "no longer required"}`);
  compareMembers(name, old.enum, next.enum, changes);
  if (isLimit) return;
  if (old.maximum !== next.maximum) {
    const lowered = next.maximum !== undefined && (old.maximum === undefined || next.maximum < old.maximum);
    changes.add(lowered ? "breaking" : "additive", subject, `the maximum of '${name}' is ${show(next.maximum)} instead of ${show(old.maximum)}`);
  }
  if (old.maxLength !== next.maxLength && old.type === next.type && same(old.enum, next.enum)) {
    const shorter = next.maxLength !== undefined && (old.maxLength === undefined || next.maxLength < old.maxLength);
    changes.add(shorter ? "breaking" : "additive", subject, `texts of '${name}' have at most ${next.maxLength ?? "any number of"} characters instead of ${old.maxLength ?? "any number of"}`);
  }
  if (!same(old.default, next.default)) changes.add("behavioural", subject, `the default of '${name}' is ${show(next.default)} instead of ${show(old.default)}`);
  if (old.format !== next.format) changes.add("behavioural", subject, `the format of '${name}' is ${show(next.format)} instead of ${show(old.format)}`);
  if (old.description !== next.description) changes.add("behavioural", subject, `the description of '${name}' that the model reads has changed`);
}

/** Every integer is a number. */
function isWider(old: Argument, next: Argument): boolean {
  return old.type === "integer" && next.type === "number" && old.list === next.list;
}

function compareMembers(name: string, old: readonly unknown[] | undefined, next: readonly unknown[] | undefined, changes: Changes): void {
  const subject = `argument ${name}`;
  if (old === undefined && next === undefined) return;
  if (old === undefined) return changes.add("breaking", subject, `argument '${name}' takes only ${show(next)} now`);
  if (next === undefined) return changes.add("additive", subject, `argument '${name}' is no longer restricted to ${show(old)}`);
  const [gone, added] = [without(old, next), without(next, old)];
  if (gone.length > 0) changes.add("breaking", subject, `argument '${name}' no longer takes ${show(gone)}`);
  if (added.length > 0) changes.add("additive", subject, `argument '${name}' also takes ${show(added)}`);
}
