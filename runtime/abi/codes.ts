/**
 * THE code table: every diagnostic of the compiler and every error of a call, in one place.
 * Numbers with the prefixes VB, VE and POL mean what they mean in existing catalogs and are never reused;
 * codes of our own start with TS. docs/reference/codes.md is generated from this table.
 */

export type Severity = "error" | "warning" | "info";

export interface CodeEntry {
  /** Severity when raised; a pair means the call site chooses. */
  readonly severity: Severity | readonly [Severity, Severity];
  /** A few words for indexes and SARIF rule names. */
  readonly title: string;
  /** One sentence with `{holes}`; what is wrong, quoting the user's text. */
  readonly message: string;
  /** What to do about it; may use the same holes. */
  readonly help?: string;
  /** HTTP status when the code ends a request outside an MCP result. */
  readonly http?: number;
  /** JSON-RPC error code when the code ends a request outside an MCP result. */
  readonly rpc?: number;
  /** The same call may succeed later. */
  readonly retryable?: boolean;
}

function defineCodes<const T extends { readonly [code: string]: CodeEntry }>(table: T): T {
  return table;
}

export const CODES = defineCodes({
  // ---- reading a catalog file ---------------------------------------------------------------------------------
  TS0001: { severity: "error", title: "YAML syntax error", message: "{detail}", help: "check indentation, quotes and brackets just before this place" },
  TS0002: { severity: "error", title: "file cannot be read", message: "cannot read '{file}': {detail}", help: "check the path; it is taken relative to the working directory" },
  TS0003: { severity: "error", title: "catalog is empty", message: "the catalog is empty", help: "`toolsrv init` writes a working catalog" },
  TS0004: { severity: "error", title: "catalog is too large", message: "the catalog has {bytes} bytes; the limit is {limit}", help: "split it into several catalogs and serve them together: toolsrv serve one.yaml two.yaml" },
  TS0005: { severity: "error", title: "nested too deeply", message: "nested more than {limit} levels deep", help: "no key of a catalog needs this depth; check the indentation" },
  TS0006: { severity: "error", title: "aliases expand too far", message: "aliases of this catalog expand to more than {limit} nodes", help: "write the repeated part out, or reference a smaller anchor" },
  TS0007: { severity: "error", title: "catalog is not a mapping", message: "a catalog is a mapping of keys such as 'connections' and 'tools', not {got}", help: "start the file with keys at its left edge: tds_version, connections, tools" },
  TS0008: { severity: ["warning", "error"], title: "duplicate key", message: "'{key}' is written twice in this mapping; the last one is used", help: "remove one of the two" },
  TS0009: { severity: "error", title: "YAML feature not supported", message: "{what} is not supported in a catalog", help: "write plain mappings, lists and scalars" },
  TS0010: { severity: "error", title: "number cannot be kept exactly", message: "{value} cannot be kept exactly as a number", help: "quote it if the store keeps text; otherwise stay within ±9007199254740991" },
  TS0011: { severity: "error", title: "file is not UTF-8", message: "'{file}' is not UTF-8 text", help: "save it as UTF-8" },
  TS0012: { severity: "info", title: "further reports left out", message: "more problems with the code {code} are not shown", help: "fix the ones that are shown first" },
  TS0013: { severity: "error", title: "catalog has too many tokens", message: "the catalog has more than {limit} tokens and lines", help: "no catalog of tools needs this many; look for a list of data that does not belong here" },
  TS0040: { severity: "warning", title: "odd line in an env file", message: "{file}:{line}: {name}: {what}", help: "a line is NAME=value; everything after the first '=' is the value" },

  // ---- shape ----------------------------------------------------------------------------------------------------
  TS0101: { severity: "error", title: "required key missing", message: "{where} needs the key '{key}'", help: "add it" },
  TS0102: { severity: "error", title: "wrong type", message: "'{key}' must be {want}, not {got}", help: "write a value of that type" },
  TS0103: { severity: "error", title: "value not allowed", message: "'{key}' must be one of {allowed}, not {got}", help: "use one of them" },
  TS0104: { severity: "error", title: "value has the wrong form", message: "'{key}' has the value {got}; {want}", help: "change the value" },
  TS0105: { severity: "error", title: "text has the wrong length", message: "'{key}' must have {want} characters; it has {got}", help: "make it longer or shorter" },
  TS0106: { severity: "error", title: "number out of range", message: "'{key}' must be {want}, not {got}", help: "choose a number in that range" },
  TS0107: { severity: "error", title: "list has the wrong length", message: "'{key}' must have {want} entries; it has {got}", help: "add or remove entries" },
  TS0108: { severity: "error", title: "key not allowed for this kind", message: "'{key}' is not allowed in a tool of kind {kind}", help: "remove it, or choose the kind that has it" },
  TS0109: { severity: "error", title: "version must be quoted", message: "tds_version must be text: write \"{value}\" in quotes", help: "without quotes YAML makes a number of it" },
  TS0110: { severity: "error", title: "step or rule has not exactly one key", message: "{what} is a mapping with exactly one key; this one has {got}", help: "start a new list entry with '-' for each of {known}" },
  TS0111: { severity: "warning", title: "value reads as a boolean", message: "YAML reads {got} as a boolean; it is used as the text '{text}' because the parameter is a keyword", help: "put it in quotes" },
  TS0112: { severity: "error", title: "unknown key where one could protect", message: "{where} has no key '{key}'", help: "an unknown key here is refused, because what it was meant to restrict would stay open" },

  // ---- references within a catalog ------------------------------------------------------------------------------
  TS0201: { severity: "error", title: "unknown connection", message: "there is no connection '{name}'", help: "declare it under connections" },
  TS0202: { severity: "error", title: "duplicate tool name", message: "the tool '{name}' is declared twice", help: "tool names are unique in a catalog; rename one of the two" },
  TS0203: { severity: "warning", title: "default limit above the maximum", message: "limit_default {default} is above limit_max {max}; {max} is used", help: "lower limit_default or raise limit_max" },
  TS0204: { severity: "error", title: "invalid name of a built-in tool", message: "the built-in {builtin} of connection '{connection}' would be named '{name}', which is not a valid tool name", help: "rename the connection: lower-case letters, digits and underscores, starting with a letter" },
  TS0205: { severity: "error", title: "regular expression is invalid", message: "the pattern {regex} is not a valid regular expression: {detail}", help: "patterns use Python's syntax; escape special characters with a backslash" },
  TS0206: { severity: "error", title: "invalid rate", message: "'{value}' is not a rate", help: "write a whole number and a unit: 30/second, 30/minute, 500/hour or 5000/day" },
  TS0207: { severity: "error", title: "invalid filter", message: "{detail}", help: "a filter is {path, op, value}, {path, op, param}, {and: [...]} or {or: [...]}" },
  TS0208: { severity: "error", title: "expression cannot be parsed", message: "post_filter: {detail}", help: "operators: or, and, not, == != >= <= > <, + - * /, parentheses, field names, params.NAME, numbers, 'text', true, false, null" },
  TS0209: { severity: "error", title: "expression has a type error", message: "post_filter: {detail}", help: "fields can have any type; literals and parameters have one" },
  TS0210: { severity: "error", title: "no such parameter", message: "'{name}' is not a parameter of this tool", help: "declare it under parameters" },
  TS0211: { severity: "error", title: "description has the wrong length", message: "the description of the built-in {builtin} has {got} characters; a tool needs 20 to 1024", help: "say what it does and when to use it" },
  TS0212: { severity: "info", title: "parameter hides a built-in argument", message: "the parameter '{name}' replaces the {what} argument of the same name", help: "rename one of the two if both are meant" },
  TS0213: { severity: "error", title: "second retrieve", message: "a pipeline has one retrieve step, the first", help: "make a second tool, or filter in the first retrieve" },
  TS0214: { severity: "warning", title: "enum does not fit the type", message: "the enum member {got} can never be given for a parameter of dtype {dtype}", help: "change the dtype or the member" },
  TS0215: { severity: "error", title: "default does not fit", message: "the default of '{name}' is {got}, which the parameter does not accept: {detail}", help: "change the default, or remove it; a call without the argument would be refused" },
  TS0216: { severity: "error", title: "operand does not fit the operator", message: "the operator {op} needs {want}, not {got}", help: "change the operator or the value" },
  TS0217: { severity: "error", title: "claim or header name missing", message: "tenancy.mode {mode} needs a name in tenancy.{mode}", help: "write its name" },
  TS0218: { severity: ["warning", "error"], title: "unknown tool denied", message: "deny_tools names '{name}', which is not a tool", help: "nothing is denied by it; remove it, or add the tool" },
  TS0219: { severity: "warning", title: "default role unknown", message: "default_role is '{role}', which is not one of the roles", help: "callers without a role cannot call any tool; add the role, or name an existing one" },
  TS0220: { severity: "error", title: "tool name taken by another catalog", message: "the tool '{name}' is also in {other}", help: "tool names are unique across the catalogs of one server; rename one of the two" },

  TS0221: { severity: "error", title: "protection written but not switched on", message: "{where} has settings but no '{key}', so none of them is in force", help: "add {key}: {on}, or {key}: {off} to keep it off" },
  TS0222: { severity: "warning", title: "static tenancy without a static filter", message: "tenancy.mode is static, but the tool '{name}' has no static filter", help: "add static_filters.must to the tool; the enterprise profile refuses it without (VE002)" },
  TS0223: { severity: "error", title: "pattern redaction without patterns", message: "redact mode pattern has no patterns, so the value of '{path}' would leave as it is", help: "add patterns: [{regex: ..., replacement: ...}], or use mode omit, hash or mask" },
  TS0224: { severity: "error", title: "field redacted twice", message: "'{path}' has two redact rules; only one can be applied", help: "keep the stricter one; several replacements go into the patterns of one rule" },
  TS0225: { severity: ["warning", "error"], title: "redacted field used as an input", message: "{what} '{path}', which this tool redacts: {leak}", help: "take it out, or do not redact the field; the enterprise profile refuses this" },
  TS0226: { severity: "warning", title: "directory without the tool's filters", message: "the directory of '{name}' is in another collection ({collection}), where the tool's static filters do not apply", help: "add resolve.static_filters with the conditions its records must meet" },
  TS0227: { severity: "warning", title: "expression needs an optional parameter", message: "the expression uses params.{name}, which is optional and has no default; a call without it fails", help: "give the parameter a default, or make it required" },
  TS0228: { severity: "error", title: "max_length of a parameter that is no text", message: "'{name}' has dtype {dtype}; max_length applies to texts only", help: "remove it, or limit a number with max" },
  TS0229: { severity: "error", title: "key of another tenancy mode", message: "security.tenancy.{key} is read in mode {wanted} only, and the mode is {mode}", help: "write mode: {wanted}, or remove {key}" },
  TS0230: { severity: ["warning", "error"], title: "redaction of a field that is not returned", message: "redact names '{path}', which is not in output.fields, and '{field}' is not redacted", help: "correct the path, or remove the rule; the enterprise profile refuses this" },
  TS0231: { severity: ["warning", "error"], title: "built-in tool returns a redacted field", message: "{builtin} returns '{path}' as it is, which the tool '{tool}' redacts in the same collection", help: "write the redact rule under connections.{connection}.builtin_defaults.output too, or leave the field out of its fields; the enterprise profile refuses this" },
  TS0240: { severity: "warning", title: "parameter meets a field of document access", message: "the parameter '{name}' filters on '{path}', by which security.document_acl decides who sees a row", help: "the caller's claims decide; an argument can only narrow the result, so remove the parameter unless that is meant" },
  TS0241: { severity: "error", title: "authoring beside document access", message: "with authoring.define_tool callers may look at records without security.document_acl", help: "remove one of the two" },
  TS0250: { severity: ["error", "warning"], title: "rate limit not in force", message: "security.rate_limit: {detail}", help: "write the limit, or set enabled: false" },
  TS0251: { severity: "warning", title: "block of another credentials provider", message: "credentials.{other} is not read: the provider is {provider}", help: "write provider: {other}, or remove the block" },
  TS0252: { severity: ["error", "warning"], title: "setting of a provider missing", message: "{what} needs config.{key}", help: "write it under config, a secret as a reference to the environment" },
  TS0253: { severity: ["error", "warning"], title: "audit not in force", message: "observability.audit: {detail}", help: "write what the sink needs, or set enabled: false" },
  TS0254: { severity: "error", title: "embedding space has moved", message: "{detail}", help: "find out what changed in the provider, the model or its settings; when the collection was embedded anew, run `toolsrv lock {file} --embedding --write`" },
  TS0255: { severity: "info", title: "no index for a filter", message: "collection '{collection}' has no index on {fields}: every row is compared", help: "run `toolsrv load {file} --connection {connection} --collection {collection} --reindex`" },
  TS0260: { severity: "error", title: "signature that proves nothing", message: "{key}.algorithms has '{algorithm}', which does not prove who the issuer is", help: "name algorithms in which only the issuer can sign: {known}" },
  TS0261: { severity: "error", title: "authentication setting that cannot be used", message: "security.auth.{key} {problem}", help: "{help}" },
  TS0262: { severity: "error", title: "enterprise profile not met", message: "enterprise hardening: profiles.enterprise.{key} is not met by {tools}", help: "VE002 and VE003 say what to change in each tool; the profile itself is set under profiles.enterprise.security.hardening" },
  TS0270: { severity: ["error", "warning"], title: "spans that go nowhere", message: "observability.tracing: {detail}", help: "write the address of an OTLP collector, such as http://localhost:4318" },
  TS0271: { severity: "warning", title: "metrics open to everybody", message: "GET /metrics shows the names of the tools, and how they are used, to everybody who reaches the server", help: "set observability.metrics.require_auth: true, or block /metrics at the proxy" },
  TS0280: { severity: "error", title: "not a date", message: "'{path}' is a point in time, and {got} is none", help: "write {want}" },
  TS0281: { severity: "warning", title: "date compared as text", message: "'{path}' is compared with {got} as text: other spellings of one moment are not equal to it, and may sort before or after it", help: "add dtypes: { {path}: datetime } to {where} to compare points in time, or dtypes: { {path}: keyword } if texts are meant" },
  TS0290: { severity: "error", title: "recall that cannot be measured", message: "quality.min_recall: {detail}", help: "remove min_recall, or change the tool so that `toolsrv recall` can compare its search with an exact scan" },
  TS0291: { severity: ["error", "warning"], title: "recall not certified", message: "quality.min_recall is {floor}, and {detail}", help: "{help}" },
  TS0292: { severity: "error", title: "recall measured on another collection", message: "the certificate was measured on {measured} rows, and collection '{collection}' has {now}", help: "measure again: toolsrv recall {file} --tool {tool}" },

  // ---- what can be compiled and executed -----------------------------------------------------------------------

  TS0304: { severity: "error", title: "backend not allowed", message: "enterprise hardening: profiles.enterprise.allowed_backends has {allowed}; connection '{connection}' is {backend}", help: "use one of them, or extend hardening.allowed_backends" },

  // ---- guards and hosts ----------------------------------------------------------------------------------------
  TS0401: { severity: "error", title: "guard cannot be proven", message: "{branch}: the plan does not prove that {guard} always applies", help: "this is a defect of the compiler, not of your catalog: nothing was written; please report it with the tool's definition" },
  TS0501: { severity: "info", title: "tool name long for hosts", message: "the tool name '{name}' has {length} characters; hosts that prefix it with the server's name cut or refuse names above {limit}", help: "shorten the name" },
  TS0503: { severity: "info", title: "enum that a host refuses", message: "the enum of '{name}' has members that are not text; hosts that use Gemini reject such a schema", help: "use dtype keyword, or remove the enum and list the values in the description" },
  TS0504: { severity: "info", title: "many tools", message: "{tools} tools are advertised to {who}; several hosts accept at most {limit}", help: "split the catalog, or restrict roles to what they need" },

  // ---- drafts ---------------------------------------------------------------------------------------------------
  TS0601: { severity: "error", title: "hidden character in a draft", message: "the draft's {where} has the character {character}, which readers do not see", help: "write the text without it" },
  TS0602: { severity: "error", title: "draft reaches beyond its store", message: "the draft's {where} {what}", help: "a draft uses what the catalog has; write anything else into the catalog by hand" },
  TS0603: { severity: "error", title: "collection not open to drafts", message: "the draft's {where} reads {what}, which is not open to drafts", help: "name a collection that builtin_defaults.collections of the connection lists or a tool of the catalog reads" },
  TS0604: { severity: "error", title: "draft weakens isolation", message: "{subject}: {detail}", help: "add to the draft what the other tools have, or write the tool into the catalog by hand" },
  TS0605: { severity: "error", title: "draft of this name is pending", message: "a draft named '{name}' is pending already", help: "choose another name, or wait until it is approved or rejected" },
  TS0606: { severity: "warning", title: "text of a draft to read closely", message: "the draft's {where} has {what}: {excerpt}", help: "a model reads this text as it stands; approve it only if it describes the tool" },
  TS0607: { severity: "error", title: "draft is not a tool", message: "{detail}", help: "a draft is the JSON of one tool, as `toolsrv schema` describes it" },
  TS0608: { severity: "error", title: "draft cannot be added to the catalog", message: "{detail}", help: "add the tool by hand" },

  // ---- scenarios of evals --------------------------------------------------------------------------------------
  TS0701: { severity: "error", title: "scenario names no tool of the catalog", message: "there is no tool '{name}' in {catalog}", help: "name one of its tools" },
  TS0702: { severity: "error", title: "scenario tests nothing", message: "{what}", help: "a scenario has a call with expectations, or a request with an expected tool" },
  TS0703: { severity: "error", title: "scenario name used twice", message: "the name '{name}' is that of an earlier scenario too", help: "reports and baselines know scenarios by their names; rename one of the two" },

  // ---- loading --------------------------------------------------------------------------------------------------
  VB0001: { severity: "warning", title: "unknown key", message: "unknown key '{key}'", help: "it is ignored; remove it or correct its name" },
  VB0002: { severity: "warning", title: "catalog format 1", message: "the catalog is in format 1; the current one is 2", help: "`toolsrv migrate {file} --from 1 --to 2 --write` converts it" },
  VB1003: { severity: ["error", "warning"], title: "secret or reference in the wrong place", message: "{detail}", help: "move it" },

  // ---- tools ----------------------------------------------------------------------------------------------------
  VB2001: { severity: "error", title: "operator does not fit the type", message: "the operator {op} is not available for dtype {dtype}", help: "use one of: {allowed}" },
  VB2002: { severity: "error", title: "duplicate parameter", message: "the parameter '{name}' is declared twice", help: "rename one of the two; two conditions on one field need two names" },
  VB2004: { severity: ["error", "warning"], title: "backend lacks a feature", message: "{backend} (connection '{connection}') does not support {what}", help: "change the tool, or move its data to a store that has it" },
  VB2005: { severity: "warning", title: "enum with an open operator", message: "an enum restricts '{name}' to fixed values, but the operator {op} compares rather than matches", help: "use eq, ne, in or nin, or remove the enum" },
  VB2006: { severity: "warning", title: "lookup with another limit", message: "a lookup returns one record; output.limit_default is {limit}", help: "set output.limit_default to 1, or use kind search or scroll for several rows" },
  VB2010: { severity: "error", title: "reserved tool name", message: "the tool name '{name}' is {why}", help: "choose another name" },
  VB2011: { severity: "error", title: "meta tool with inputs", message: "a meta tool has no query, parameters or static filters", help: "remove them" },
  VB2012: { severity: "error", title: "hybrid search not available", message: "{backend} (connection '{connection}') has no hybrid search", help: "use mode: dense" },
  VB2013: { severity: ["warning", "error"], title: "hybrid search not confirmed", message: "{detail}", help: "`toolsrv validate --live` asks the store" },
  VB2014: { severity: "error", title: "kind meta is for built-ins", message: "kind meta is reserved for built-in tools", help: "enable builtin_tools.list_collections on the connection instead" },
  VB2015: { severity: "error", title: "collection is not a name", message: "target.collection must be the name of one collection, not {got}", help: "write one name; a tool that reads several collections is several tools" },
  VB2016: { severity: "error", title: "table without vectors searched by text", message: "connection '{connection}' is a plain table (no vector column), so it cannot be searched by text", help: "remove the query block, or set vector_column on the connection" },
  VB2017: { severity: "error", title: "vector lengths differ", message: "{detail}", help: "use the embedding model that the collection was filled with" },
  VB2018: { severity: "warning", title: "vector length unknown", message: "the vector length of the model '{model}' is not known", help: "state it: embedding.dims" },
  VB2019: { severity: "error", title: "package missing", message: "{what} needs the package {package}, which is not installed", help: "run `npm i {package}` in the folder of {file}, or where toolsrv is installed" },
  VB2020: { severity: "error", title: "operator cannot be negated", message: "must_not cannot negate the operator {op}", help: "must_not takes eq ne gt gte lt lte in nin; write other operators in must" },
  VB2021: { severity: "error", title: "unknown key in static_filters", message: "static_filters has the key '{key}'; only must and must_not exist", help: "a misspelt guard would protect nothing, so the catalog is refused" },
  VB2022: { severity: "error", title: "min_score out of range", message: "min_score must be between 0 and 1, not {value}", help: "scores are similarities between 0 and 1" },
  VB2023: { severity: "warning", title: "ef has no effect", message: "{backend} (connection '{connection}') has no ef parameter; query.ef is ignored", help: "remove query.ef" },
  VB2024: { severity: "warning", title: "experimental backend", message: "the backend {backend} of connection '{connection}' is experimental", help: "with --strict this warning ends in exit code 1" },
  VB2025: { severity: "error", title: "built-in would escape its guard", message: "{backend} cannot run the built-in {builtin} and keep its filters", help: "turn builtin_tools.{builtin} off for connection '{connection}'" },
  VB2026: { severity: "error", title: "filter path without an index", message: "{backend} needs an index on '{path}' of collection '{collection}'", help: "create a payload index for it in the store" },
  VB2101: { severity: "error", title: "pipeline without retrieve", message: "the first step of a pipeline must be retrieve", help: "start with retrieve; it reads the rows that later steps work on" },
  VB2102: { severity: "error", title: "empty expression", message: "post_filter.expr is empty", help: "write a condition such as: rating >= 4 and year > params.since" },

  // ---- advice ---------------------------------------------------------------------------------------------------
  VB3001: { severity: "warning", title: "short description", message: "the description has {length} characters; a model chooses better with 40 or more", help: "say what is searched, and when to use it" },
  VB3002: { severity: "warning", title: "description repeats the name", message: "the description only repeats the tool's name", help: "say what is searched, and when to use it" },
  VB3003: { severity: "warning", title: "general search beside special ones", message: "the built-in search of connection '{connection}' competes with {count} search tool(s) of your own", help: "turn builtin_tools.semantic_search off, or say in its description when to use it" },
  VB3004: { severity: "warning", title: "open search", message: "the built-in search of connection '{connection}' reads {what}", help: "set builtin_defaults.static_filters or one collection in builtin_defaults.collections" },
  VB3005: { severity: "warning", title: "short built-in description", message: "the description of the built-in {builtin} has {length} characters; a tool needs 20", help: "say what it does and when to use it" },

  // ---- live and at call time ------------------------------------------------------------------------------------
  VB4001: { severity: "warning", title: "projected field missing", message: "a projected field is missing from at least one row", help: "check output.fields against the stored fields (`toolsrv introspect`)" },
  VB4002: { severity: "warning", title: "null compared", message: "the pipeline compared a null", help: "every comparison with null is false, == null too; exclude such records with a static filter (op exists)" },
  VB4003: { severity: ["error", "warning"], title: "store not healthy", message: "{detail}", help: "check the connection's address and credentials, and that the store runs" },
  VB4004: { severity: "warning", title: "path not seen", message: "the path '{path}' was not seen in collection '{collection}'", help: "check its spelling against the stored fields" },
  VB4010: { severity: ["error", "warning"], title: "argument conflicts with the tenant", message: "the argument '{name}' conflicts with the caller's tenant", help: "leave the argument out; the tenant comes from the caller" },
  VB4011: { severity: "error", title: "tenancy without a claim name", message: "tenancy.mode claim needs the claim's name", help: "add security.tenancy.claim: NAME" },
  VB4012: { severity: "warning", title: "parameter meets the tenant path", message: "the parameter '{name}' filters on the tenant path '{path}'", help: "the tenant comes from the caller; remove the parameter" },
  VB4013: { severity: "error", title: "rbac without roles", message: "security.rbac is enabled but has no roles", help: "add security.rbac.roles; without any, no caller can call a tool" },
  VB4014: { severity: "warning", title: "role allows an unknown tool", message: "the role '{role}' allows '{name}', which is not a tool", help: "remove it, or add the tool" },
  VB4020: { severity: "warning", title: "directory value not found", message: "'{value}' is not in the directory", help: "use one of the suggested values" },
  VB4021: { severity: "error", title: "directory cannot be read", message: "{backend} (connection '{connection}') cannot list values for a directory", help: "use an enum, or a directory on another connection" },
  VB4030: { severity: "warning", title: "query expansion failed", message: "query expansion failed; only the original query was used", help: "the provider of query.expand did not answer as expected" },
  VB4031: { severity: "warning", title: "rerank failed", message: "reranking failed; rows keep the order of the vector search", help: "the provider of rerank did not answer as expected" },
  VB4032: { severity: "warning", title: "local reranker missing", message: "rerank provider {provider} needs the package {package}, which is not installed", help: "run `npm i {package}` in the folder of {file}, or where toolsrv is installed; until then rows keep their vector order" },
  VB4040: { severity: "error", title: "vault path missing", message: "credentials.provider vault needs vault.path", help: "add credentials.vault.path" },
  VB4041: { severity: "error", title: "secret id missing", message: "credentials.provider aws_sm needs aws_sm.secret_id", help: "add credentials.aws_sm.secret_id" },
  VB4042: { severity: "error", title: "secret name missing", message: "credentials.provider k8s needs k8s.secret", help: "add credentials.k8s.secret" },

  // ---- profiles and policies ------------------------------------------------------------------------------------
  VE001: { severity: "error", title: "authoring is on", message: "the enterprise profile forbids authoring.define_tool", help: "set authoring.define_tool to false or remove it" },
  VE002: { severity: "error", title: "tool without isolation", message: "the tool has neither request tenancy nor a static filter", help: "set security.tenancy, or add static_filters.must to the tool" },
  VE003: { severity: "error", title: "limit too high", message: "output.limit_max is {max}; the enterprise profile allows {limit}", help: "lower output.limit_max" },
  VE004: { severity: "error", title: "endpoint written in the catalog", message: "'{key}' is written out; the enterprise profile wants an environment reference", help: "write an environment reference and keep the value in the file given with --env FILE" },
  VE005: { severity: "warning", title: "meta tools", message: "the enterprise profile expects a server without meta tools", help: "serve with --no-meta-tools, or declare profiles.enterprise, which turns them off" },
  VE006: { severity: "error", title: "public URL is not https", message: "the public URL '{url}' does not start with https://", help: "serve behind TLS and give its address with --public-url" },
  VE007: { severity: "warning", title: "local embeddings", message: "the default embedding provider is local; the enterprise profile expects a hosted one", help: "set defaults.embedding to a hosted or http provider" },
  POL000: { severity: "error", title: "policy could not be evaluated", message: "{detail}", help: "install opa and check that the file is valid Rego" },
  POL001: { severity: "error", title: "policy denied", message: "{detail}", help: "change the catalog, or the policy" },

  // ---- errors of a call -----------------------------------------------------------------------------------------
  invalid_arguments: { severity: "error", title: "invalid arguments", message: "{detail}", rpc: -32602 },
  auth_error: { severity: "error", title: "not permitted", message: "{detail}", http: 403, rpc: -32001 },
  rate_limited: { severity: "error", title: "rate limited", message: "{detail}", http: 429, rpc: -32029, retryable: true },
  timeout: { severity: "error", title: "deadline exceeded", message: "tool '{tool}' did not finish within {seconds} s (QueryTimeout)", retryable: true },
  backend_unreachable: { severity: "error", title: "backend unreachable", message: "{detail}", retryable: true },
  embedding_error: { severity: "error", title: "embedding failed", message: "{detail}" },
  schema_drift: { severity: "error", title: "stored data does not fit the catalog", message: "{detail}" },
  expr_error: { severity: "error", title: "expression failed", message: "{detail}" },
  missing_env: {
    severity: "error", title: "missing environment value",
    message: "no value for {names}",
    help: "add the line NAME=value to the file given with --env FILE, or give the reference a default: ${NAME:-value}",
  },
  tds_invalid: { severity: "error", title: "catalog is invalid", message: "{detail}" },
  internal: { severity: "error", title: "internal error", message: "internal error", rpc: -32603 },
  cancelled: { severity: "error", title: "cancelled by the client", message: "the call was cancelled" },
});

export type Code = keyof typeof CODES;

type Holes<S extends string> = S extends `${string}{${infer H}}${infer R}` ? H | Holes<R> : never;

/** The severities a code may be raised with. */
export type CodeSeverity<C extends Code> = (typeof CODES)[C]["severity"] extends readonly (infer S)[] ? S : (typeof CODES)[C]["severity"];

/** The holes of a code's help text, so that help never shows an unfilled hole; `file`, the catalog as the user named it, is filled for every help. */
type HelpHoles<C extends Code> = (typeof CODES)[C] extends { readonly help: infer H extends string } ? Exclude<Holes<H>, "file" | `${string}${"," | " " | ":"}${string}`> : never;

/** The arguments that a code's message and help need; a wrong code or a missing argument does not compile. */
export type CodeArgs<C extends Code> = {
  readonly [K in Holes<(typeof CODES)[C]["message"]> | HelpHoles<C>]: string | number;
};

/** Fills a message's holes. Values are inserted as they are: callers pass display text, never secrets. */
export function formatMessage<C extends Code>(code: C, args: CodeArgs<C>): string {
  return fillHoles(CODES[code].message, args);
}

/** Replaces `{name}` by `args.name`; a hole without an argument stays visible. */
export function fillHoles(text: string, args: { readonly [key: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (hole, key: string) => (Object.hasOwn(args, key) ? String(args[key]) : hole));
}
