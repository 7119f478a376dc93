/** Prometheus' text format 0.0.4, read strictly and by code that shares nothing with what writes it. */

export interface Sample {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const SUFFIXES: { readonly [type: string]: readonly string[] } = { counter: [""], gauge: [""], histogram: ["_bucket", "_sum", "_count"] };

/** @throws Error that quotes the line which is not of the format. */
export function parsePrometheus(text: string): readonly Family[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no line feed");
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  const helps = new Map<string, string>();
  let current: { readonly name: string; readonly type: string; readonly samples: Sample[] } | null = null;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (word === "HELP") {
      helps.set(name, rest);
    } else if (word === "TYPE") {
      if (!NAME.test(name) || SUFFIXES[rest] === undefined || families.has(name)) throw new Error(`not a type: ${line}`);
      const family = { name, type: rest, help: helps.get(name) ?? "", samples: [] };
      families.set(name, family);
      current = family;
    } else {
      if (current === null) throw new Error(`a sample without a type: ${line}`);
      const sample = sampleOf(line);
      const { name: family, type } = current;
      if (SUFFIXES[type]?.some((suffix) => sample.name === `${family}${suffix}`) !== true) throw new Error(`a sample of another family: ${line}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (current.samples.some((one) => JSON.stringify([one.name, Object.entries(one.labels).sort()]) === key)) throw new Error(`a series twice: ${line}`);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family);
  return [...families.values()];
}

/** The value of one series; `null` when there is none. */
export function sampleValue(families: readonly Family[], name: string, labels: Sample["labels"] = {}): number | null {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return families.flatMap(({ samples }) => samples).find((sample) => sample.name === name && JSON.stringify(Object.entries(sample.labels).sort()) === wanted)?.value ?? null;
}

function sampleOf(line: string): Sample {
  const [, name, inside = "", value = ""] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`not a sample: ${line}`);
  const labels: { [label: string]: string } = {};
  for (let left = inside; left !== "";) {
    const [whole, label, quoted = ""] = LABEL.exec(left) ?? [];
    if (whole === undefined || label === undefined || label in labels) throw new Error(`not a label: ${line}`);
    labels[label] = quoted.replace(/\\(["\\n])/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    left = left.slice(whole.length);
  }
  const number = value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value);
  if (Number.isNaN(number)) throw new Error(`not a number: ${line}`);
  return { name, labels, value: number };
}

/** Buckets never shrink, the last one is +Inf and holds as many as were counted. */
function checkHistogram({ name, samples }: Family): void {
  const seriesOf = ({ le: _, ...labels }: Sample["labels"]): string => JSON.stringify(Object.entries(labels).sort());
  for (const count of samples.filter((sample) => sample.name === `${name}_count`)) {
    const own = samples.filter((sample) => seriesOf(sample.labels) === seriesOf(count.labels));
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => (labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"])));
    const grows = (list: readonly number[], strictly: boolean): boolean => list.every((one, index) => index === 0 || (strictly ? one > (list[index - 1] as number) : one >= (list[index - 1] as number)));
    const last = buckets.at(-1);
    if (!grows(bounds, true) || !grows(buckets.map(({ value }) => value), false) || last?.labels["le"] !== "+Inf" || last.value !== count.value) throw new Error(`a broken histogram: ${name}${seriesOf(count.labels)}`);
    if (own.filter((sample) => sample.name === `${name}_sum`).length !== 1) throw new Error(`a histogram without a sum: ${name}`);
  }
}
