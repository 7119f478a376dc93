/** What the templates of the Python package print, prepared: types, literals, identifiers. Templates only lay it out. */
import { membersOf, type ParamSpec } from "../../runtime/abi/params.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { tenancyOf } from "../../runtime/abi/stated-caller.js";
import type { Plans, RowField, RowShape } from "../ir.js";
import { classNames, isWellFormed, pyComment, pyIdentifiers, pyLiteral, pyString } from "./python-text.js";
import { WIDTH } from "./literal.js";
import { headerView, summaryOf, type HeaderView } from "./view.js";

/** One catalog of the package. */
export interface PythonCatalog {
  readonly plans: Plans;
  /** Its name among the catalogs of one server; `null` for the only one. */
  readonly project: string | null;
}

export interface FieldView {
  readonly identifier: string;
  readonly type: string;
  /** ` = Field(…)`, ` = None`, or nothing. */
  readonly value: string;
}

export interface ParamView {
  readonly identifier: string;
  readonly key: string;
  readonly type: string;
  readonly value: string;
}

export interface PythonToolView {
  readonly identifier: string;
  readonly name: string;
  readonly origin: string;
  /** A string that can be a docstring. */
  readonly summary: string;
  readonly className: string;
  /** `models.SearchMoviesRow`, or `Row` where nothing is known of the rows. */
  readonly row: string;
  readonly hasParams: boolean;
  readonly params: readonly ParamView[];
  readonly arguments: readonly FieldView[];
  /** Types of the arguments that are enums. */
  readonly enums: readonly { readonly name: string; readonly members: readonly string[] }[];
  /** `null` where nothing is known of the rows. */
  readonly fields: readonly FieldView[] | null;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: string;
  readonly deadline: string;
  readonly tenancy: string | null;
  readonly project: string | null;
}

/** Seconds that a call may take where the catalog says nothing. */
const DEFAULT_DEADLINE_S = 25;

/** The header of every file, without comment marks. */
export function pythonHeader(catalogs: readonly PythonCatalog[]): HeaderView["catalog"] {
  const [first] = catalogs;
  if (catalogs.length === 1 && first !== undefined) {
    const { file, line } = headerView(first.plans).catalog;
    return { file: pyComment(file), line: pyComment(line) };
  }
  return { file: pyComment(catalogs.map(({ plans }) => plans.catalog.file).join(", ")), line: `${catalogs.length} catalogs` };
}

/** All tools, in the order of their catalogs. Names of tools are unique among the catalogs of a server. */
export function pythonTools(catalogs: readonly PythonCatalog[]): readonly PythonToolView[] {
  const names = catalogs.flatMap(({ plans }) => Object.keys(plans.tools));
  const [identifiers, classes] = [pyIdentifiers(names, "tool"), classNames(names)];
  const used = new Set([...classes.values()].flatMap((name) => [`${name}Arguments`, `${name}Row`]));
  return catalogs.flatMap(({ plans, project }) => Object.entries(plans.tools).map(([name, plan], index): PythonToolView => {
    const params = plans.inputs[name]?.params ?? [];
    const definition = plans.definitions[index];
    const className = classes.get(name) ?? name;
    const fields = rowFields(plan, plans.rows[name] ?? null);
    const enums = enumNames(className, params, used);
    const typeIn = (place: string): TypeOf => (param) => (enums.has(param.name) ? `${place}${enums.get(param.name)}` : SCALARS[param.type]);
    return {
      identifier: identifiers.get(name) ?? name, name: pyString(name), className, fields,
      origin: `${pyComment(plans.catalog.file)}:${plans.origins[name]?.line ?? 1}`,
      summary: pyString(summaryOf(definition?.description ?? name, 90)),
      row: fields === null ? "Row" : `models.${className}Row`,
      hasParams: params.length > 0, params: paramViews(params, typeIn("models.")), arguments: argumentFields(params, typeIn("")),
      enums: params.flatMap((param) => (enums.has(param.name) ? [{ name: enums.get(param.name) ?? "", members: literalsOf(param) ?? [] }] : [])),
      title: pyLiteral(definition?.title ?? name, 4, 10), description: pyLiteral(definition?.description ?? "", 4, 16),
      inputSchema: pyLiteral(definition?.inputSchema ?? {}, 4, 17),
      deadline: JSON.stringify(plan.deadline_s ?? plans.settings.deadline_s ?? DEFAULT_DEADLINE_S),
      tenancy: tenancyText(plan), project: project === null ? null : pyString(project),
    };
  }));
}

/** Where the tenant comes from: of a claim not even its name, because only the server reads it. */
function tenancyText(plan: ToolPlan): string | null {
  const tenancy = tenancyOf(plan);
  if (tenancy === undefined) return null;
  if (tenancy.from === "claim") return `Tenancy("claim")`;
  return `Tenancy("header", ${pyString(tenancy.name)}, "${tenancy.encoding ?? "plain"}")`;
}

const SCALARS = { string: "str", integer: "int", number: "float", boolean: "bool" } as const;

/** Members of an enum that Python can write as literal types; `null` for any other argument. */
function literalsOf(param: ParamSpec): readonly string[] | null {
  const members = membersOf(param);
  if (members === null || members.length === 0 || members.length !== param.enum?.length) return null;
  const isPlain = members.every((member) => (typeof member === "string" ? isWellFormed(member) : typeof member === "boolean" || Number.isSafeInteger(member)));
  return isPlain ? [...new Set(members)].map((member) => (typeof member === "string" ? pyString(member) : pyLiteral(member, 0, 0))) : null;
}

/** The name of the type of each argument that is an enum, by the argument's name; unique among the classes of the models. */
function enumNames(className: string, params: readonly ParamSpec[], used: Set<string>): ReadonlyMap<string, string> {
  const classes = classNames(params.map(({ name }) => name));
  return new Map(params.filter((param) => literalsOf(param) !== null).map(({ name }) => {
    let made = `${className}${classes.get(name) ?? name}`;
    while (used.has(made)) made += "_";
    used.add(made);
    return [name, made];
  }));
}

/** The Python type of one value of an argument. */
type TypeOf = (param: ParamSpec) => string;

function paramViews(params: readonly ParamSpec[], scalarType: TypeOf): readonly ParamView[] {
  const identifiers = pyIdentifiers(params.map(({ name }) => name), "arg");
  return params.map((param) => {
    const type = param.list === true ? `Sequence[${scalarType(param)}]` : scalarType(param);
    const isOptional = param.required !== true;
    return { identifier: identifiers.get(param.name) ?? param.name, key: pyString(param.name), type: isOptional ? `${type} | None` : type, value: isOptional ? " = None" : "" };
  });
}

function argumentFields(params: readonly ParamSpec[], scalarType: TypeOf): readonly FieldView[] {
  const identifiers = pyIdentifiers(params.map(({ name }) => name), "arg");
  return params.map((param) => {
    const bounds = boundsOf(param);
    const inner = param.list === true && bounds.length > 0 ? `Annotated[${scalarType(param)}, Field(${bounds.join(", ")})]` : scalarType(param);
    const type = param.list === true ? `list[${inner}]` : inner;
    const isOptional = param.required !== true;
    const own = [
      ...(param.list === true ? (param.maxItems === undefined ? [] : [`max_length=${param.maxItems}`]) : bounds),
      ...(param.description === undefined || !isWellFormed(param.description) ? [] : [`description=${pyLiteral(param.description, 8, 8 + "description=".length)}`]),
    ];
    return fieldView(identifiers.get(param.name) ?? param.name, param.name, isOptional ? `${type} | None` : type, isOptional, own);
  });
}

/** Bounds of one value, as pydantic names them. An enum has none beside its members. */
function boundsOf(param: ParamSpec): readonly string[] {
  if (param.enum !== undefined) return [];
  const inList = param.list === true;
  return [
    ...(param.nonEmpty === true ? ["min_length=1"] : []),
    ...(param.maxLength === undefined ? [] : [`max_length=${param.maxLength}`]),
    ...(param.minimum === undefined || inList ? [] : [`ge=${param.minimum}`]),
    ...(param.maximum === undefined || inList ? [] : [`le=${param.maximum}`]),
  ];
}

/** A field whose name on the wire may differ. `alias` would make it the name of the constructor's parameter, too. */
function fieldView(identifier: string, name: string, type: string, isOptional: boolean, more: readonly string[] = []): FieldView {
  const alias = identifier === name ? [] : [`validation_alias=${pyString(name)}`, `serialization_alias=${pyString(name)}`];
  const parts = [...(isOptional ? ["default=None"] : []), ...alias, ...more];
  const flat = parts.length === 0 ? "" : parts.length === 1 && isOptional ? " = None" : ` = Field(${parts.join(", ")})`;
  const isLong = flat.includes("\n") || `    ${identifier}: ${type}${flat}`.length > WIDTH;
  return { identifier, type, value: isLong && parts.length > 1 ? ` = Field(\n${parts.map((part) => `        ${part},\n`).join("")}    )` : flat };
}

/** The fields of a tool's rows; `null` where nothing is known of them. Extra fields of a row are kept, so a row without projection has its id and score. */
function rowFields(plan: ToolPlan, shape: RowShape | null): readonly FieldView[] | null {
  const output = "output" in plan ? plan.output : null;
  const { fields, id, score } = shape ?? { fields: [], id: output?.id === true, score: output?.score === true };
  const shown = fields.filter(({ name }) => isWellFormed(name));
  const identifiers = pyIdentifiers([...shown.map(({ name }) => name), "row_id", "row_score"], "field");
  const views = [
    ...shown.map((field) => fieldView(identifiers.get(field.name) ?? field.name, field.name, typeOfField(field), field.type === null || field.nullable === true)),
    ...(id ? [fieldView("row_id", "_id", "str | int | None", true)] : []),
    ...(score ? [fieldView("row_score", "_score", "float | None", true)] : []),
  ];
  return shape === null && output === null ? null : views;
}

function typeOfField({ type, list, nullable }: RowField): string {
  if (type === null) return "Any";
  const scalar = list === true ? `list[${SCALARS[type]}]` : SCALARS[type];
  return nullable === true ? `${scalar} | None` : scalar;
}
