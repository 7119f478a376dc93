/**
 * In place of the types of cross-fetch (tsconfig.json, `paths`): weaviate-client's own types name that package, and its
 * types declare the globals of a browser in every file of a program.
 */
export {};
