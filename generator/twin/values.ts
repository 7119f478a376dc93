/** Made-up values for fields, the same for the same seed. Pure. */
import type { Random } from "../../runtime/twin/random.js";
import type { SchemaField } from "../schema/export.js";

const DAY_MS = 86_400_000;
/** 2020-01-01; dates lie in the six years after it. */
const FIRST_DAY_MS = 1_577_836_800_000;
const DAYS = 2_190;

/** A value of the field's type: a member or an example where the export has some. Takes two numbers of the sequence. */
export function fieldValue({ path, dtype, null_rate: nullRate, enum: members, examples }: SchemaField, serial: number, random: Random): unknown {
  const [presence, choice] = [random(), random()];
  if (presence < nullRate) return null;
  const leaf = path.split(".").at(-1) ?? path;
  const known = members ?? examples;
  const pick = (): unknown => known[Math.floor(choice * known.length)];
  const numbers = examples.filter((value) => typeof value === "number");
  const between = (low: number, high: number): number => low + choice * (high - low);
  const [low, high] = numbers.length === 0 ? [0, 1000] : [Math.min(...numbers), Math.max(...numbers)];
  switch (dtype) {
    case "keyword":
      return known.length > 0 && (members !== null || serial % 2 === 0) ? pick() : `${leaf} ${serial + 1}`;
    case "integer":
      return Math.round(between(low, high));
    case "float":
      return Math.round(between(low, high) * 10) / 10;
    case "boolean":
      return choice < 0.5;
    case "datetime":
      return new Date(FIRST_DAY_MS + Math.floor(choice * DAYS) * DAY_MS).toISOString().slice(0, 10);
    case "keyword[]":
      return [`${leaf} ${(serial % 5) + 1}`];
    case "unknown":
      return null;
    default:
      return dtype satisfies never;
  }
}
