/** Texts that break out of literals, patterns and keys where they can. */
export const HOSTILE_TEXTS: readonly string[] = [
  "", " ", "'", "''", '"', '""', "\\", "\\\\", "\\'", '\\"', "'; DROP TABLE things; --", "' OR '1'='1", '" OR "1"="1', "') OR true --", "acme' --", "$1", "$2::jsonb", "$$", ":x", "?", "%", "_", "%%", "100%", "a_b",
  "/* */", "--", "\n", "\r\n", "\t", "\u0001", "\u007f", "\u2028", "é", "e\u0301", "ß", "ẞ", "İ", "ı", "ſ", "K", "山田商事", "😀", "👩‍👩‍👧", "\ufffd", "\uffff", "\u202eabc", "true", "false", "null", "0", "1", "-1", "1.0", "1e3", "NaN", "Infinity", "{}", "[]", "[1]",
  '{"$ne":1}', '{"$gt":""}', "__proto__", "constructor", "toString", "acme", "ACME", " acme", "acme ", "acme\u0000", "\u0000", "\ud800", "a".repeat(65_536), "é".repeat(20_000), "2024-01-01", "2024-01-01T00:00:00Z",
];
