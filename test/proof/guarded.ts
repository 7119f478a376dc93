/** A catalog that has every kind of guard, in every kind of tool. */
export const GUARDED = `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: a.db
    builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }
    builtin_defaults: { collections: [articles, news], static_filters: { must: [{ path: org, value: acme }], must_not: [{ path: state, op: in, value: [draft, gone] }] } }
  vectors: { backend: pinecone, api_key: "\${KEY}", host: h, namespace: acme }
  classes: { backend: weaviate, url: u, tenant: acme }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org_id, path: org }, rate_limit: { enabled: true, store: redis, redis_url: "\${REDIS}", global: { requests_per_minute: 600 }, per_principal: { requests_per_minute: 60, embed_requests_per_minute: 30 }, per_tool: { search_it: 10/minute } } }
tools:
  - name: search_it
    description: Search the articles by meaning, for any question at all.
    target: { connection: main, collection: articles }
    query: { param: q }
    static_filters: { must: [{ path: lang, value: en }, { path: size, op: gt, value: 3 }], must_not: [{ path: state, op: eq, value: draft }, { path: year, op: lt, value: 2020 }] }
    parameters:
      - { name: author, path: author, resolve: { kind: directory, field: author } }
      - { name: editor, path: editor, resolve: { kind: directory, field: editor, static_filters: [{ path: active, value: true }] } }
      - { name: owner, path: owner, resolve: { kind: directory, collection: people, static_filters: { must: [{ path: role, value: owner }], must_not: [{ path: state, value: gone }] } } }
  - name: get_it
    kind: lookup
    description: Look up one article by its slug, when it was named before.
    target: { connection: main, collection: articles }
    static_filters: [{ path: lang, op: in, value: [en, de] }]
    parameters: [{ name: slug, path: slug, required: true }]
    output: { limit_default: 1 }
  - name: count_it
    kind: count
    description: Count the articles of one author, or all of them together.
    target: { connection: main, collection: articles }
    static_filters: [{ path: lang, value: en }]
  - name: list_it
    kind: scroll
    description: List the articles in the order of their ids, for browsing.
    target: { connection: main, collection: articles }
    static_filters: [{ path: note, op: exists, value: true }]
  - name: group_it
    kind: pipeline
    description: The best articles of each author, for an overview of all.
    static_filters: [{ path: lang, value: en }]
    steps:
      - retrieve: { target: { connection: main, collection: articles }, query: { param: q, required: true }, filter: { or: [{ path: a, value: 1 }, { path: b, value: 2 }] } }
      - sort: { by: year }
  - name: search_vectors
    description: Search the vectors by meaning, for any question at all.
    target: { connection: vectors, collection: articles }
    query: { required: true }
  - name: search_classes
    description: Search the classes by meaning, for any question at all.
    target: { connection: classes, collection: Article }
    query: { required: true }
`;

/** The same with document access by each kind of rule. */
export const ACCESS_GUARDED = GUARDED.replace("security: { ", "security: { document_acl: { combine: any, rules: [{ any_of: { claim: groups, field: allowed } }, { equals: { claim: sub, field: owner } }, { at_most: { claim: clearance, field: level } }] }, ");

/** Guards, filters and expressions that compare points in time, said by dtypes, by parameters and by another tool. */
export const DATED = `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: a.db
    builtin_tools: { semantic_search: true, list_collections: true }
    builtin_defaults: { collections: [articles], dtypes: { made: datetime }, static_filters: { must: [{ path: made, op: gte, value: "\${SINCE}" }], must_not: [{ path: due, op: in, value: [2026-04-13, 2026-04-14T08:00:00Z] }] } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_it
    description: Search the articles by meaning, for any question at all.
    target: { connection: main, collection: articles }
    query: { param: q }
    static_filters: { must: [{ path: due, op: gt, value: 2026-04-13 }, { path: note, op: exists, value: true }], must_not: [{ path: due, op: gt, value: 2030-01-01 }, { path: due, value: null }] }
    parameters:
      - { name: due, dtype: datetime, op: lte }
      - { name: author, path: author, resolve: { kind: directory, field: author, static_filters: [{ path: due, op: lt, value: 2027-01-01 }] } }
      - { name: owner, path: owner, resolve: { kind: directory, collection: people, static_filters: [{ path: born, op: lt, value: 2000-01-01 }] } }
  - name: group_it
    kind: pipeline
    description: The best articles of each author, for an overview of all.
    dtypes: { made: datetime }
    parameters: [{ name: since, dtype: datetime, default: 2026-01-01 }]
    static_filters: [{ path: due, op: ne, value: 2026-04-13 }]
    steps:
      - retrieve: { target: { connection: main, collection: articles }, filter: { or: [{ path: made, op: lt, value: 2026-04-13 }, { path: seen, op: gte, param: since }] } }
      - post_filter: { expr: "due > '2026-01-01' and not (made <= params.since or x == 1)" }
      - sort: { by: due }
  - name: list_people
    kind: scroll
    description: List the people who write articles, in the order of their ids.
    target: { connection: main, collection: people }
    dtypes: { born: datetime }
`;
