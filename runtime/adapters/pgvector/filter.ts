/**
 * Filters as SQL over a table with a jsonb column `payload`; a path whose first name is a column of the table reads
 * the column instead. Pure; every value and path is a parameter. Values are compared as jsonb, so that types compare:
 * numbers with numbers, texts by code point (COLLATE "C"), and lists of any scalar type work. Columns of plain types
 * are compared as what they are, so that their indexes are used.
 */
import { comparesInstants, type Scalar } from "../../abi/filter.js";
import { Hole, isNumber, later, laterAll, type Slot } from "../hole.js";
import { operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";
import type { Shape, ShapeCondition } from "../shape.js";
import { likeRegex } from "./like.js";
import { PAYLOAD, quoted, type ColumnKind, type Table } from "./table.js";
import { compareColumn } from "./typed.js";

/** What a parameter may be. */
export type PgParam = string | number | boolean | readonly string[];

/** A condition with numbered parameters, `$first` onwards. */
export interface PgFilter {
  readonly sql: string;
  readonly params: readonly PgParam[];
}

/** The table, and the number of the first parameter. */
export type FilterTable = Pick<Table, "idColumn" | "idKind" | "columns" | "others" | "payloadIndex"> & { readonly first: number };

const PLAIN: FilterTable = { idColumn: "id", idKind: "json", columns: new Map(), others: "payload", payloadIndex: false, first: 1 };

/** The WHERE condition. @throws BackendError unsupported for text_match and values PostgreSQL cannot represent. */
export function compileFilter(filter: Shape, table: FilterTable = PLAIN): Compiled<PgFilter> {
  const reduced = reduceFilter(filter);
  if (typeof reduced === "string") return reduced;
  const writer = new Writer(table);
  return { sql: writer.compile(reduced), params: writer.params };
}

const OPERATORS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** Texts that PostgreSQL cannot hold. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function storable<T extends PgParam | null>(value: T): T {
  const texts = typeof value === "object" && value !== null ? value : [String(value)];
  return texts.some((one) => UNSTORABLE.test(one)) ? refuse("pgvector", "texts with a NUL character or half a surrogate pair") : value;
}

/** Writes one condition; a class because it numbers parameters as it goes. */
class Writer {
  readonly params: PgParam[] = [];
  constructor(private readonly table: FilterTable) {}

  private readonly param = (value: PgParam): string => {
    // A value of a call is checked when the call gives it.
    this.params.push(later(value, storable));
    return `$${this.table.first + this.params.length - 1}`;
  };

  private json(value: Slot): string {
    return `${this.param(later(value, (one) => JSON.stringify(storable(one))))}::jsonb`;
  }

  private jsonList(values: readonly Slot[]): string {
    return `${this.param(laterAll(values, (all) => JSON.stringify(all.map(storable))))}::jsonb`;
  }

  private text(value: Slot): string {
    return this.param(later(value, String));
  }

  private texts(values: readonly Slot[]): string {
    return this.param(laterAll(values, (all) => all.map(String)));
  }

  compile(filter: Shape): string {
    if ("and" in filter) return filter.and.map((part) => `(${this.compile(part)})`).join(" AND ");
    if ("or" in filter) return filter.or.map((part) => `(${this.compile(part)})`).join(" OR ");
    if (filter.path === "id") return this.idCondition(filter);
    const typed = compareColumn(filter, this.table.columns.get(filter.path), this.param);
    return typed ?? this.condition(filter, this.value(filter.path), this.table.columns.has(filter.path.split(".", 1)[0] ?? ""));
  }

  /** The value at a path as jsonb; SQL NULL where it leads nowhere. A column without a value is null, not missing. */
  private value(path: string): string {
    const keys = path.split(".");
    const [head = "", ...rest] = keys;
    const kind = this.table.columns.get(head);
    if (kind === undefined && this.table.others === "none") return "NULL::jsonb";
    if (kind === undefined && this.table.others === "payload") return `${PAYLOAD} #> ${this.param(keys)}::text[]`;
    const column = jsonColumn(head, kind ?? "json");
    return rest.length === 0 ? `coalesce(${column}, 'null'::jsonb)` : `${column} #> ${this.param(rest)}::text[]`;
  }

  /** Ids are texts to every operator. */
  private idCondition(condition: ShapeCondition): string {
    const { idColumn, idKind } = this.table;
    const value = idKind === "integer" ? operandsOf(condition).flatMap(wholeNumber) : condition.value;
    const typed = idKind === "text" || idKind === "uuid" || idKind === "integer" ? compareColumn({ ...condition, path: idColumn, value }, idKind, this.param) : null;
    if (typed !== null) return typed;
    const id = `${quoted(idColumn)}::text`;
    const { op } = condition;
    switch (op) {
      case "eq":
        return `${id} = ${this.text(operandOf(condition))}`;
      case "ne":
        return `${id} <> ${this.text(operandOf(condition))}`;
      case "in":
        return `${id} = ANY(${this.texts(operandsOf(condition))}::text[])`;
      case "nin":
        return `${id} <> ALL(${this.texts(operandsOf(condition))}::text[])`;
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return `${id} COLLATE "C" ${OPERATORS[op]} ${this.text(operandOf(condition))}`;
      case "like":
        return `${id} COLLATE "C" ~ ${this.pattern(condition)}`;
      default:
        return refuse("pgvector", `the operator ${op} on record ids`);
    }
  }

  private pattern(condition: ShapeCondition): string {
    return this.param(later(operandOf(condition), (pattern) => likeRegex(String(pattern))));
  }

  private condition(condition: ShapeCondition, value: string, isColumn: boolean): string {
    const { op } = condition;
    if (comparesInstants(condition)) return this.instants(condition, value);
    switch (op) {
      case "eq":
        return `${this.contained(condition, isColumn)}${value} = ${this.json(operandOf(condition))}`;
      case "ne":
        return `${value} IS DISTINCT FROM ${this.json(operandOf(condition))}`;
      case "in":
        return this.among(value, operandsOf(condition));
      case "nin":
        return `(${this.among(value, operandsOf(condition))}) IS NOT TRUE`;
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return this.ordered(value, OPERATORS[op], operandOf(condition));
      case "exists":
        return condition.value === true ? `jsonb_typeof(${value}) <> 'null'` : `(jsonb_typeof(${value}) <> 'null') IS NOT TRUE`;
      case "is_null":
        return condition.value === true ? `jsonb_typeof(${value}) = 'null'` : `(jsonb_typeof(${value}) = 'null') IS NOT TRUE`;
      case "contains_any":
        return this.hasElement(value, this.jsonList(operandsOf(condition)));
      case "contains_all":
        return `jsonb_typeof(${value}) = 'array' AND ${value} @> ${this.jsonList(operandsOf(condition))}`;
      case "like":
        return `jsonb_typeof(${value}) = 'string' AND ${value} #>> '{}' COLLATE "C" ~ ${this.pattern(condition)}`;
      case "text_match":
        return refuse("pgvector", "the operator text_match");
      default:
        return op satisfies never;
    }
  }

  /** What a GIN index finds; the equality behind it decides. */
  private contained(condition: ShapeCondition, isColumn: boolean): string {
    if (isColumn || !this.table.payloadIndex) return "";
    const within = (value: Scalar): unknown => condition.path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return `${PAYLOAD} @> ${this.param(later(operandOf(condition), (value) => JSON.stringify(within(value))))}::jsonb AND `;
  }

  /** Timestamps of what is written as an instant; SQL NULL for anything else, before a cast could fail. */
  private instants(condition: ShapeCondition, value: string): string {
    const { op } = condition;
    const operands = operandsOf(condition).map((one) => this.instant(one));
    const [first = "NULL"] = operands;
    const own = instantOf(value);
    const elements = `SELECT ${instantOf("e")} FROM jsonb_array_elements(CASE jsonb_typeof(${value}) WHEN 'array' THEN ${value} END) e`;
    const any = `${own} IN (${operands.join(", ")}) OR EXISTS (SELECT 1 FROM (${elements}) t(i) WHERE i IN (${operands.join(", ")}))`;
    switch (op) {
      case "eq":
        return `${own} = ${first}`;
      case "ne":
        return `${own} IS DISTINCT FROM ${first}`;
      case "in":
        return any;
      case "nin":
        return `(${any}) IS NOT TRUE`;
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return `${own} ${OPERATORS[op]} ${first}`;
      case "contains_any":
        return `EXISTS (SELECT 1 FROM (${elements}) t(i) WHERE i IN (${operands.join(", ")}))`;
      case "contains_all":
        return operands.map((one) => `${one} IN (${elements})`).join(" AND ");
      default:
        return refuse("pgvector", `the operator ${op} on dates`);
    }
  }

  private instant(value: Slot): string {
    return `${this.param(later(value, (one) => (String(one).startsWith("0000") ? refuse("pgvector", "the year 0") : String(one))))}::timestamptz`;
  }

  /** The value itself is among the operands, or it is a list with one of them in it. */
  private among(value: string, operands: readonly Slot[]): string {
    const set = this.jsonList(operands);
    return `${value} IN (SELECT jsonb_array_elements(${set})) OR (${this.hasElement(value, set)})`;
  }

  private hasElement(value: string, set: string): string {
    return `jsonb_typeof(${value}) = 'array' AND EXISTS (SELECT 1 FROM jsonb_array_elements(CASE jsonb_typeof(${value}) WHEN 'array' THEN ${value} END) e WHERE e IN (SELECT jsonb_array_elements(${set})))`;
  }

  /** Each type has its own order; jsonb's order of texts follows the database's locale, so texts leave it. */
  private ordered(value: string, operator: string, operand: Slot): string {
    if (isNumber(operand)) return `jsonb_typeof(${value}) = 'number' AND ${value} ${operator} ${this.json(operand)}`;
    return `jsonb_typeof(${value}) = 'string' AND ${value} #>> '{}' COLLATE "C" ${operator} ${this.text(operand)}`;
  }
}

const DAYS = "(?!0000)\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))";
const LEAP_DAYS = "(?!0000)(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29";
const TIME = "[Tt ]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-](0\\d|1[0-5]):[0-5]\\d)";
/** Texts that are instants and that a cast to timestamptz takes: every day of the calendar, offsets below 16 hours. */
export const INSTANT_PATTERN = `^(${DAYS}|${LEAP_DAYS})(${TIME})?$`;

/** A jsonb value as timestamptz; NULL for what is no instant. CASE tests before it casts. */
function instantOf(value: string): string {
  const text = `(${value} #>> '{}')`;
  return `CASE WHEN jsonb_typeof(${value}) = 'string' AND ${text} ~ '${INSTANT_PATTERN}' THEN (${text} || CASE length(${text}) WHEN 10 THEN 'T00:00:00Z' ELSE '' END)::timestamptz END`;
}

/** A column as jsonb; a time without a zone is taken as UTC. */
export function jsonColumn(name: string, kind: ColumnKind): string {
  return kind === "naive" ? `to_jsonb(${quoted(name)} AT TIME ZONE 'UTC')` : `to_jsonb(${quoted(name)})`;
}

/** The number that a text is, as PostgreSQL would write it; nothing for other texts, which no numeric id equals. */
function wholeNumber(text: Slot): readonly Slot[] {
  if (text instanceof Hole) return text.kind === "digits" ? [new Hole(text.index, "integer")] : [];
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? [number] : [];
}
