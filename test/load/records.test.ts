import * as assert from "node:assert/strict";
import fc from "fast-check";
import { convertRecord, type ConvertOptions, snakeCase } from "../../generator/load/convert.js";
import { parseDate } from "../../generator/load/dates.js";
import { decode, readRecords, sniffFormat, type SourceFormat, type SourceItem } from "../../generator/load/source.js";
import { suite } from "../lib/suite.js";

const test = suite("load/records");

async function read(text: string, format: SourceFormat | null, cuts: readonly number[] = []): Promise<readonly SourceItem[]> {
  const bytes = new TextEncoder().encode(text);
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const [index, place] of places.entries()) yield bytes.subarray(places[index - 1] ?? 0, place);
  }
  const items: SourceItem[] = [];
  for await (const list of readRecords(decode(chunks()), format)) items.push(...list);
  return items;
}

const values = (items: readonly SourceItem[]): readonly unknown[] => items.map((item) => ("error" in item ? `${item.place}: ${item.error}` : item.value));

test("JSON lines: blank ones are skipped, a broken one is reported by its line and the rest goes on", async () => {
  const items = await read('\ufeff{"a":1}\r\n\n  \n{"a":\n{"a":3}', "jsonl");
  assert.deepEqual(items.map(({ number, place }) => [number, place]), [[1, "line 1"], [2, "line 4"], [3, "line 5"]]);
  assert.deepEqual(items[2], { number: 3, place: "line 5", value: { a: 3 } });
  assert.match(String(values(items)[1]), /^line 4: not JSON: /);
});

test("a JSON list is cut into its elements, whatever they hold", async () => {
  assert.deepEqual(values(await read(' [ {"a":"],[\\"{"} ,\n[1,[2]], "x,]", 5 ]\n', "json")), [{ a: '],["{' }, [1, [2]], "x,]", 5]);
  assert.deepEqual(await read("[]", "json"), []);
});

test("a broken element of a list is reported with its number and line, and the rest goes on", async () => {
  const items = await read('[\n{"a":1},\n{"a":},\n{"a":3},\n]', "json");
  assert.deepEqual(items.map(({ place }) => place), ["record 1 (line 2)", "record 2 (line 3)", "record 3 (line 4)", "record 4 (line 5)"]);
  assert.match(String(values(items)[1]), /not JSON/);
  assert.deepEqual(values(items)[2], { a: 3 });
});

test("what is no list, does not end, or goes on after its end is an error with its line", async () => {
  assert.deepEqual(values(await read('{"a":1}', "json")), ["line 1: expected a list of records, found '{'"]);
  assert.deepEqual(values(await read("", "json")), ["line 1: the file is empty"]);
  assert.deepEqual(values(await read('[1,\n2', "json")), [1, "line 2: the list does not end: ']' is missing"]);
  assert.deepEqual(values(await read("[1]\n\n,x", "json")), [1, "line 3: there is more after the list: ','"]);
});

test("CSV: quotes, line feeds in quotes, CRLF, empty cells, rows of the wrong length", async () => {
  const text = 'id,"na""me",note\r\n1,"a,\nb",\r\n2,x\r\n\r\n3,"say ""hi""",z';
  const items = await read(text, "csv");
  assert.deepEqual(values(items), [{ id: "1", 'na"me': "a,\nb" }, "line 4: expected 3 cells, found 2", { id: "3", 'na"me': 'say "hi"', note: "z" }]);
  assert.deepEqual(values(await read("a,a\n1,2", "csv")), ["line 1: two columns are named 'a'"]);
  assert.deepEqual(values(await read("a,\n1,2", "csv")), ["line 1: a column has no name"]);
});

test("the content decides where no name does", () => {
  assert.deepEqual(["  [1", "\n{", "a,b"].map(sniffFormat), ["json", "jsonl", "csv"]);
});

test("records are the same however the bytes arrive", async () => {
  const record = fc.dictionary(fc.string({ unit: "grapheme" }), fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.constant(null), fc.array(fc.string())), { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(), { maxLength: 8 }), async (records, cuts) => {
      assert.deepEqual(values(await read(JSON.stringify(records, null, cuts.length % 3), "json", cuts)), records);
      assert.deepEqual(values(await read(records.map((one) => JSON.stringify(one)).join("\n"), "jsonl", cuts)), records);
    }),
  );
});

test("CSV round-trips whatever is quoted", async () => {
  const cell = fc.string({ unit: "binary", minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), async (rows, cuts) => {
      const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
      const text = ["x,y", ...rows.map((row) => row.map(quote).join(","))].join("\r\n");
      assert.deepEqual(values(await read(text, "csv", cuts)), rows.map(([x, y]) => ({ x, y })));
    }),
  );
});

test("a number that JSON.parse would change is an error with its line, and the rest goes on", async () => {
  const table: readonly (readonly [number: string, isCarried: boolean])[] = [
    ["9007199254740991", true], ["-9007199254740991", true], ["9007199254740992", false], ["9007199254740993", false], ["-12345678901234567890", false],
    ["1e308", true], ["1e309", false], ["1e400", false], ["-1E+400", false], ["0.1", true], ["3.14159265358979323846", true], ["1e-400", false], ["0e-400", true], ["0.000e999", true],
    ["1e20", true], [`1${"0".repeat(400)}.5`, false], [`0.${"0".repeat(400)}1`, false], ["0", true], ["-0", true],
  ];
  for (const [number, carried] of table) {
    const [first, second] = values(await read(`{"n":[{"a\\"1e999":${number}}]}\n{"n":2}`, "jsonl"));
    if (carried) assert.deepEqual(first, { n: [{ 'a"1e999': Number(number) }] }, number);
    else assert.match(String(first), /^line 1: -?[\d.eE+-]{1,40}…? cannot be kept exactly as a number; write it as a text, in quotes$/, number);
    assert.deepEqual(second, { n: 2 });
    assert.equal(JSON.stringify(values(await read(`["${number} \\" ${number}"]`, "json"))), JSON.stringify([`${number} " ${number}`]), "a text keeps its digits");
  }
  assert.deepEqual(values(await read('[1,\n9007199254740993,\n2]', "json")), [1, "record 2 (line 2): 9007199254740993 cannot be kept exactly as a number; write it as a text, in quotes", 2]);
});

test("numbers are judged in linear time", async () => {
  const startedMs = performance.now();
  for (const text of ["1".repeat(1_000_000), `"${"1e999\\\"".repeat(100_000)}"`, `[${"1,".repeat(300_000)}9007199254740993]`]) await read(text, "jsonl");
  assert.ok(performance.now() - startedMs < 5000);
});

const plain: ConvertOptions = { idPath: null, textPaths: null, snakeCase: false, types: new Map(), declared: new Map() };
const refusal = (value: unknown, options: Partial<ConvertOptions> = {}): string => {
  try {
    convertRecord(value, 1, { ...plain, ...options });
  } catch (error) {
    assert.ok(error instanceof RangeError);
    return error.message;
  }
  return assert.fail("nothing was refused");
};

test("without an id field the record's number is its id", () => {
  assert.equal(convertRecord({ a: 1 }, 17, plain).id, "17");
  assert.equal(convertRecord({ key: { n: 5 } }, 1, { ...plain, idPath: "key.n" }).id, "5");
});

test("a record without its id, or with one that is no text or whole number, is refused", () => {
  assert.equal(refusal({ a: 1 }, { idPath: "key" }), "no id: 'key' is missing");
  assert.equal(refusal({ key: "" }, { idPath: "key" }), "the id 'key' must be a text or a whole number within ±9007199254740991");
  assert.equal(refusal({ key: true }, { idPath: "key" }), "the id 'key' must be a text or a whole number within ±9007199254740991");
  assert.match(refusal({ key: "x".repeat(513) }, { idPath: "key" }), /longer than 512 bytes/);
});

test("what is no object, or holds characters that the store cannot keep, is refused", () => {
  assert.deepEqual([null, [1], "x", 5].map((value) => refusal(value)), ["expected an object, found null", "expected an object, found a list", "expected an object, found a string", "expected an object, found a number"]);
  assert.match(refusal({ a: ["x\0y"] }), /U\+0000/);
  assert.match(refusal({ a: { b: "\ud83d" } }), /half of a surrogate pair/);
});

test("keys that rows use themselves are not stored", () => {
  assert.deepEqual(convertRecord({ _id: "9", _score: 1, a: 1 }, 1, { ...plain, idPath: "_id" }), { id: "9", record: { a: 1 }, text: "" });
});

test("names become snake case, nested ones too, and two that meet are refused", () => {
  const names = { "US Gross": "us_gross", "IMDB Rating": "imdb_rating", imdbRating: "imdb_rating", "Running Time min": "running_time_min", HTTPServer: "http_server", "a-b.c": "a_b_c", 山田: "山田", "%": "" };
  for (const [name, want] of Object.entries(names)) assert.equal(snakeCase(name), want);
  assert.deepEqual(convertRecord({ "A B": { cD: [{ eF: 1 }] }, "%": 1 }, 1, { ...plain, snakeCase: true }).record, { a_b: { c_d: [{ e_f: 1 }] }, "%": 1 });
  assert.equal(refusal({ "A B": 1, a_b: 2 }, { snakeCase: true }), "two keys become 'a_b'");
});

test("types convert what has another type, and refuse what can have none", () => {
  const types = new Map([["d", "datetime"], ["n.i", "integer"], ["f", "float"], ["b", "boolean"], ["k", "keyword"], ["l", "keyword[]"]] as const);
  const { record } = convertRecord({ d: "Jun 12 1998", n: { i: " 12 " }, f: "1e3", b: "Yes", k: 5, l: "a, b;c" }, 1, { ...plain, types });
  assert.deepEqual(record, { d: "1998-06-12", n: { i: 12 }, f: 1000, b: true, k: "5", l: ["a", "b", "c"] });
  assert.deepEqual(convertRecord({ d: null, n: {}, f: 1.5 }, 1, { ...plain, types }).record, { d: null, n: {}, f: 1.5 });
  assert.equal(refusal({ n: { i: "1.5" } }, { types }), 'n.i: "1.5" is not an integer');
  assert.equal(refusal({ d: "TBD" }, { types }), 'd: "TBD" is not a datetime; it must be a date (2026-04-13) or an RFC 3339 time with its offset (2026-04-13T08:30:00Z, 2026-04-13T10:30:00+02:00)');
  assert.equal(refusal({ f: "0x10" }, { types }), 'f: "0x10" is not a float');
});

test("dates become instants in one spelling; what is none, could be two, or has no offset, does not", () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ["1998-06-12", "1998-06-12"], ["1998/6/2", "1998-06-02"], ["Jun 12 1998", "1998-06-12"], ["June 12, 1998", "1998-06-12"], ["12 Sept. 1998", "1998-09-12"],
    ["2024-05-06T10:00Z", "2024-05-06T10:00:00Z"], ["2024-05-06 10:00:00Z", "2024-05-06T10:00:00Z"], ["2024-05-06T23:30:00-0200", "2024-05-07T01:30:00Z"], ["2024-05-06T10:00:00.250Z", "2024-05-06T10:00:00.25Z"], ["2024-05-06T10:00", undefined], ["2024-05-06T10:00:00", undefined],
    ["06/07/1998", undefined], ["1998-02-30", undefined], ["1998-13-01", undefined], ["1998", undefined], ["Foo 12 1998", undefined], ["", undefined],
  ];
  for (const [text, want] of table) assert.equal(parseDate(text), want, text);
});

test("values take the type that the catalog compares them as, where they can; lists by member", () => {
  const declared = new Map([["d", "datetime"], ["i", "integer"], ["f", "float"], ["b", "boolean"], ["k", "keyword"], ["l", "keyword[]"]] as const);
  const fit = (value: unknown): unknown => convertRecord(value, 1, { ...plain, declared }).record;
  assert.deepEqual(fit({ d: "2024-05-06T10:00:00+02:00", i: "12", f: "1e3", b: "no", k: 5, l: "a, b" }), { d: "2024-05-06T08:00:00Z", i: 12, f: 1000, b: false, k: "5", l: ["a", "b"] });
  assert.deepEqual(fit({ d: ["Jun 12 1998"], i: [1, "2"], k: [5, "x"], l: [1, "b"] }), { d: ["1998-06-12"], i: [1, 2], k: ["5", "x"], l: ["1", "b"] });
  assert.deepEqual(fit({ d: " ", i: 1.5, f: null, b: 1, k: "", l: null }), { d: null, i: 1.5, f: null, b: true, k: "", l: null });
  assert.deepEqual(fit({ d: { from: 1 }, k: { x: 1 } }), { d: { from: 1 }, k: { x: 1 } });
  assert.match(refusal({ d: "yesterday" }, { declared }), /^d: "yesterday" is not a datetime; it must be a date/);
  assert.deepEqual([fit({ i: "16.5" }), fit({ i: 16.5 }), fit({ i: "12" })], [{ i: 16.5 }, { i: 16.5 }, { i: 12 }]);
  assert.equal(refusal({ i: "9007199254740993" }, { declared }), 'i: "9007199254740993" is not an integer');
  assert.equal(refusal({ f: "1e400" }, { declared }), 'f: "1e400" is not a float');
  assert.deepEqual(convertRecord({ i: "12" }, 1, { ...plain, declared, types: new Map([["i", "keyword"]]) }).record, { i: "12" });
});

test("the embedded text is every text in the record's order, or those that are named; dates are none", () => {
  const value = { title: "A", n: 5, released: "2024-01-02", tags: ["x", "y"], deep: { body: "B" }, empty: "" };
  const types = new Map([["released", "datetime"]] as const);
  assert.equal(convertRecord(value, 1, { ...plain, types }).text, "A\nx\ny\nB");
  assert.equal(convertRecord(value, 1, { ...plain, textPaths: ["deep.body", "title", "gone"] }).text, "B\nA");
});

test.run();
