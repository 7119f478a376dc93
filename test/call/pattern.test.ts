import * as assert from "node:assert/strict";
import { compilePattern, replaceAll } from "../../runtime/base/pattern.js";
import { suite } from "../lib/suite.js";

const test = suite("abi/pattern");

test("patterns in Python's dialect mean what they mean there", () => {
  const table: readonly (readonly [pattern: string, replacement: string, text: string, want: string])[] = [
    [String.raw`\d+`, "N", "a1b22", "aNbN"],
    [String.raw`\d`, "N", "٣", "N"],
    [String.raw`\w+`, "W", "Müller-山", "W-W"],
    [String.raw`\bcat\b`, "dog", "cat concat cat_ cat", "dog concat cat_ dog"],
    [String.raw`\bé`, "e", "é né", "e né"],
    [String.raw`(?P<user>\w+)@(\w+)`, String.raw`\g<user> at \2`, "ann@home", "ann at home"],
    [String.raw`(a)(b)?`, String.raw`[\1|\2]`, "a ab", "[a|] [a|b]"],
    ["(?i)KEY", "x", "key Key", "x x"],
    ["(?s)a.b", "x", "a\nb", "x"],
    ["^a", "x", "a\na", "x\na"],
    ["(?m)^a$", "x", "a\na", "x\nx"],
    ["a$", "x", "a\n", "x\n"],
    [String.raw`a\Z`, "x", "a\n", "a\n"],
    [String.raw`\Aa`, "x", "aa", "xa"],
    [String.raw`[]a]`, "x", "]ab", "xxb"],
    [String.raw`[^]a]`, "x", "]ab", "]ax"],
    [String.raw`[a\]b]`, "x", "a]bc", "xxxc"],
    [String.raw`[[a]`, "x", "[a", "xx"],
    [String.raw`[\w.\-]+@[\w.-]+`, "mail", "to a-b.c@d-e.f!", "to mail!"],
    [String.raw`\d{4}-\d{2}`, "D", "2024-06", "D"],
    ["a{,2}b", "x", "aab", "x"],
    ["a{", "x", "a{", "x"],
    [String.raw`\@\-\_\ `, "x", "@-_ ", "x"],
    [String.raw`\U0001f600`, "smile", "😀", "smile"],
    ["😀", "smile", "😀😀", "smilesmile"],
    [String.raw`x`, String.raw`a\\b\n`, "x", "a\\b\n"],
    ["x", "$& $1", "x", "$& $1"],
    [String.raw`[\s\S]`, "x", "a\n", "xx"],
    [String.raw`[\W_]+`, "-", "a_é!b", "a-é-b"],
    [String.raw`\s+`, " ", "a\u00a0\u2003b", "a b"],
    [String.raw`(?a)\bcat\b`, "dog", "cat concat", "dog concat"],
    [String.raw`né\b`, "x", "né né, nés", "x x, xs"],
    [String.raw`(a$)|(b)`, String.raw`<\2>`, "ba\n", "<b><>\n"],
    [String.raw`(?<=id )\d+`, "N", "id 12, 34", "id N, 34"],
    [String.raw`\x41\u0042`, "x", "AB", "x"],
  ];
  for (const [pattern, replacement, text, want] of table) assert.equal(replaceAll(text, compilePattern(pattern, replacement)), want, pattern);
});

test("what cannot be translated is refused with the reason", () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ["(?x)a b", /flag 'x' is not supported/],
    [String.raw`[^\W]`, /\\W inside/],
    ["(?=a)b", /lookahead .* linear-time/],
    ["a(?!b)", /lookahead/],
    [String.raw`(a)\1`, /backreferences/],
    ["(?P<q>a)(?P=q)", /backreferences/],
    ["(?>a)", /not supported/],
    ["a{1001}", /repeat count/],
    [String.raw`\q`, /escape \\q is not supported/],
    ["a\\", /ends with a backslash/],
    ["[a", /no closing \]/],
    ["(a", /missing closing \)/],
  ];
  for (const [pattern, reason] of table) assert.throws(() => compilePattern(pattern, ""), reason, pattern);
});

test("no pattern takes more than linear time: (a+)+$ on a long text", () => {
  const pattern = compilePattern("(a+)+$", "x");
  const startedMs = performance.now();
  for (let n = 0; n < 10; n++) assert.equal(replaceAll(`${"a".repeat(500)}b`, pattern), `${"a".repeat(500)}b`);
  // A backtracking engine took 14 s on 31 characters.
  assert.ok(performance.now() - startedMs < 5000);
});

test.run();
