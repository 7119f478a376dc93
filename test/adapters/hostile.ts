/** Texts that break out of literals, patterns and keys where they can. */
export const HOSTILE_TEXTS: readonly string[] = [
  "", " ", "'", "''", '"', '""', "\\", "\\\\", "\\'", '\\"', "'; DROP TABLE things; --", "' OR '1'='1", '" OR "1"="1', "') OR true --", "acme' --", "$1", "$2::jsonb", "$$", ":x", "?", "%", "_", "%%", "100%", "a_b",
  "/* */", "--", "\n", "\r\n", "\t", "\u0001", "\u007f", "\u2028", "é", "e\u0301", "ß", "ẞ", "İ", "ı", "ſ", "K", "山田商事", "😀", "👩‍👩‍👧", "\ufffd", "\uffff", "\u202eabc", "true", "false", "null", "0", "1", "-1", "1.0", "1e3", "NaN", "Infinity", "{}", "[]", "[1]",
  '{"$ne":1}', '{"$gt":""}', "__proto__", "constructor", "toString", "acme", "ACME", " acme", "acme ", "acme\u0085", "acme\u00a0", "\ufeffacme", "acme\u200b", "acme\u3000", "acme\u0000", "\u0000", "\ud800", "a".repeat(65_536), "é".repeat(20_000), "2024-01-01", "2024-01-01T00:00:00Z",
];

/** An argument of 100 KB: some stores cannot keep such a text, and none may fail at being asked for it. */
export const LONG_TEXT = "ab".repeat(51_200);

/** Names of fields that break out of paths, quoted names, JSON pointers and expressions where they can. */
export const HOSTILE_KEYS: readonly string[] = [
  "a'b", 'a"b', "a\\b", "a`b", "a b", " a", "a ", "a-b", "a/b", "a,b", "a;b", "a:b", "a|b", "a[]", "a[0]", "[0]", "{a}", "{a,b}", "a->b", "a->>'b'", "$ne", "$a", "a$", "@a", "#a", "%s", "?", "$1", "--", "/*", "*/", "x') OR 1=1 --", "tenant' = 'acme", 'tenant" = "globex',
  "__proto__", "constructor", "toString", "hasOwnProperty", "null", "true", "and", "not", "0", "1e3", "é", "e\u0301", "ß", "İ", "ı", "K", "山田", "😀", "a\nb", "a\tb", "\u0001", "\u202ea", "a".repeat(1000),
];
