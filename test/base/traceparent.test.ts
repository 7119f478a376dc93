/** W3C Trace Context: what is a traceparent, and that nothing else is. */
import assert from "node:assert/strict";
import { parseTraceparent } from "../../runtime/base/traceparent.js";
import { suite } from "../lib/suite.js";

const test = suite("base/traceparent");
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("a traceparent has 55 characters of lower-case hex, with a trace and a span that are not all zero", () => {
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, sampled: true });
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-00`), { traceId: TRACE, spanId: SPAN, sampled: false });
  assert.deepEqual(parseTraceparent(`cc-${TRACE}-${SPAN}-03`)?.sampled, true, "a later version keeps these fields");
  const ignored: readonly unknown[] = [
    `00-${"0".repeat(32)}-${SPAN}-01`, `00-${TRACE}-${"0".repeat(16)}-01`, `00-${TRACE.toUpperCase()}-${SPAN}-01`, `ff-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-0g`, `00-${TRACE}-${SPAN}-01 `,
    ` 00-${TRACE}-${SPAN}-1`, `00-${TRACE}-${SPAN}-01-more`, `00-${TRACE}-${SPAN}`, `00_${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-0\n`, `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, "", "a".repeat(100_000),
    null, undefined, 7, {}, [`00-${TRACE}-${SPAN}-01`],
  ];
  for (const text of ignored) assert.equal(parseTraceparent(text), null, String(text).slice(0, 80));
});

test.run();
