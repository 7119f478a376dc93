/** Catalogs of any size. */

/** A catalog of as many different tools. */
export function catalogOf(tools: number, toolText = fullTool): string {
  return `tds_version: '2'
connections:
  main: { backend: sqlite, path: ./articles.db }
defaults:
  embedding: local/hashing-512
tools:
${Array.from({ length: tools }, (_, index) => toolText(index)).join("")}`;
}

/** In the style of those that people write. */
function fullTool(index: number): string {
  return `  - name: search_topic_${index}
    kind: search
    description: >-
      Search the articles of topic ${index} by meaning, status and date.
      Use when the user asks about topic ${index} and nothing narrower fits.
    target: { connection: main, collection: articles }
    query: { param: query, required: true }
    static_filters:
      must:
        - { path: topic, op: eq, value: topic-${index} }
    parameters:
      - { name: status, path: status, dtype: keyword, op: in, enum: [draft, published, archived], description: Keep these states. }
      - { name: min_rating, path: rating, dtype: float, op: gte, max: 5, description: Lowest rating. }
      - { name: since, path: published_at, dtype: datetime, op: gte, description: First day. }
    output:
      fields: [title, status, rating, published_at]
      limit_default: 5
      limit_max: 20
`;
}

/** As small as a tool gets. */
export function smallTool(index: number): string {
  return `  - name: count_topic_${index}
    kind: count
    description: Count the articles of one topic, number ${index} of all.
    target: { connection: main, collection: articles }
    static_filters: { must: [{ path: topic, op: eq, value: t${index} }] }
`;
}
