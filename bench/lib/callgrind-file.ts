/**
 * Reads what callgrind writes (--dump-instr=yes): lines of costs at addresses, grouped by function. Functions that V8
 * compiled have no name there; their addresses are looked up in the map that V8 writes (--perf-basic-prof).
 * @see https://valgrind.org/docs/manual/cl-format.html
 */
import { basename } from "node:path";
import { root } from "../../test/lib/repo.js";

/** By the name of the event: Ir, I1mr, D1mr, D1mw, Bcm, Bim and others. */
export type Costs = { readonly [event: string]: number };

/** Costs of each function by its name, without those of the functions that it calls. */
export function sumByFunction(dump: string, compiled: string): ReadonlyMap<string, Costs> {
  const nameAt = compiledNames(compiled);
  const names = new Map<string, string>();
  const sums = new Map<string, number[]>();
  let events: readonly string[] = [];
  const objects = new Map<string, string>();
  let name = "";
  let object = "";
  let address = 0;
  let isCall = false;
  for (const line of dump.split("\n")) {
    if (line.startsWith("events: ")) events = line.slice("events: ".length).trim().split(" ");
    const named = /^c?fn=\((\d+)\)(?: (.*))?$/.exec(line);
    if (named !== null) {
      const [, id = "", given] = named;
      if (given !== undefined) names.set(id, given);
      if (line.startsWith("fn=")) name = names.get(id) ?? "";
    }
    const within = /^c?ob=\((\d+)\)(?: (.*))?$/.exec(line);
    if (within !== null) {
      const [, id = "", given] = within;
      if (given !== undefined) objects.set(id, basename(given));
      if (line.startsWith("ob=")) object = objects.get(id) ?? "";
    }
    // The line after it has the costs of what is called, which are counted there.
    if (line.startsWith("calls=")) isCall = true;
    if (!/^[\d+*-]/.test(line)) continue;
    const [position = "", , ...costs] = line.split(" ");
    address = addressOf(position, address);
    if (isCall) {
      isCall = false;
      continue;
    }
    // Libraries without symbols have no names either.
    const label = name === "???" || name.startsWith("0x") ? (nameAt(address) ?? `somewhere in ${object}`) : name;
    const sum = sums.get(label) ?? events.map(() => 0);
    for (const [index, cost] of costs.entries()) sum[index] = (sum[index] ?? 0) + Number(cost);
    sums.set(label, sum);
  }
  return new Map([...sums].map(([label, sum]) => [label, Object.fromEntries(events.map((event, index) => [event, sum[index] ?? 0]))]));
}

/** Addresses are written in full, or as a distance from the one before. */
function addressOf(text: string, before: number): number {
  if (text === "*") return before;
  if (text.startsWith("+")) return before + Number(text.slice(1));
  if (text.startsWith("-")) return before - Number(text.slice(1));
  return Number(text);
}

/** Lines of "START SIZE NAME", both in hexadecimal; of two at one place the later one is there now. */
function compiledNames(map: string): (address: number) => string | null {
  const pieces = new Map<number, { readonly end: number; readonly name: string }>();
  for (const line of map.split("\n")) {
    const [, start, size, name] = /^([\da-f]+) ([\da-f]+) (.*)$/.exec(line) ?? [];
    if (start === undefined || size === undefined || name === undefined) continue;
    const at = Number.parseInt(start, 16);
    pieces.set(at, { end: at + Number.parseInt(size, 16), name: name.replace("file://", "").replace(`${root}/`, "") });
  }
  const starts = [...pieces.keys()].sort((a, b) => a - b);
  return (address) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    const piece = pieces.get(starts[low - 1] ?? Number.NaN);
    return piece !== undefined && address < piece.end ? piece.name : null;
  };
}
