/**
 * Every way to lose, weaken or change one guard in the text of a printed `plans.ts`. The text is edited in place, at the
 * positions that TypeScript's own parser gives, so a mutation is what a hand or a merge could do to the file.
 */
import ts from "typescript";

export interface Mutation {
  readonly what: string;
  readonly text: string;
}

/** Members of a plan that isolate or take away; everything at and below them is mutated. */
const GUARDS = new Set(["guard", "tenant", "document_acl", "route", "redact", "fields", "filter", "connection", "collection", "allowed", "rows", "max_field_length", "id", "score", "kind"]);

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** All mutations of a text, each with one edit. */
export function mutationsOf(text: string): readonly Mutation[] {
  const source = ts.createSourceFile("plans.ts", text, ts.ScriptTarget.ES2023, true);
  const made: Mutation[] = [];
  const edit = (what: string, { start, end, by }: Edit): void => void made.push({ what, text: text.slice(0, start) + by + text.slice(end) });
  const swap = (what: string, node: ts.Node, by: string): void => edit(what, { start: node.getStart(source), end: node.getEnd(), by });
  /** The node with the comma after it. */
  const drop = (what: string, node: ts.Node): void => {
    const comma = /^\s*,/.exec(text.slice(node.getEnd()));
    edit(`${what} dropped`, { start: node.getStart(source), end: node.getEnd() + (comma?.[0].length ?? 0), by: "" });
  };

  const nameOf = (property: ts.PropertyAssignment): string => (ts.isIdentifier(property.name) || ts.isStringLiteral(property.name) ? property.name.text : property.name.getText(source));

  /** Every edit at and below a value that guards. */
  const attack = (path: string, value: ts.Node): void => {
    if (ts.isStringLiteral(value) || ts.isBinaryExpression(value)) {
      swap(`${path} changed`, value, '"other"');
    } else if (ts.isNumericLiteral(value) || ts.isPrefixUnaryExpression(value)) {
      swap(`${path} raised`, value, String(Number(value.getText(source)) + 1));
    } else if (value.kind === ts.SyntaxKind.TrueKeyword || value.kind === ts.SyntaxKind.FalseKeyword) {
      swap(`${path} inverted`, value, value.kind === ts.SyntaxKind.TrueKeyword ? "false" : "true");
    } else if (ts.isArrayLiteralExpression(value)) {
      for (const [index, item] of value.elements.entries()) {
        drop(`${path}[${index}]`, item);
        attack(`${path}[${index}]`, item);
        const isCondition = ts.isObjectLiteralExpression(item);
        if (isCondition) swap(`${path}[${index}] made optional`, item, `{ or: [${item.getText(source)}, { path: "x", op: "exists", value: false }] }`);
        else swap(`${path}[${index}] joined by another`, item, `${item.getText(source)}, "other"`);
      }
      if (value.elements.length > 0) swap(`${path} emptied`, value, "[]");
    } else if (ts.isObjectLiteralExpression(value)) {
      for (const property of value.properties) {
        if (!ts.isPropertyAssignment(property)) continue;
        const name = nameOf(property);
        drop(`${path}.${name}`, property);
        attack(`${path}.${name}`, property.initializer);
        // An `or` of one condition is that condition.
        const isMany = ts.isArrayLiteralExpression(property.initializer) && property.initializer.elements.length > 1;
        if (name === "and" && isMany) swap(`${path}.and weakened`, property.name, "or");
        if (name === "or" && isMany) swap(`${path}.or changed`, property.name, "and");
      }
    } else if (value.kind === ts.SyntaxKind.NullKeyword) {
      swap(`${path} changed`, value, '"other"');
    }
  };

  const attackProperty = (path: string, property: ts.PropertyAssignment): void => {
    drop(path, property);
    swap(`${path} renamed`, property.name, `${nameOf(property)}_`);
    attack(path, property.initializer);
  };

  /** A plan, or the part of one that reads or shows. */
  const plan = (path: string, value: ts.Expression): void => {
    if (!ts.isObjectLiteralExpression(value)) return;
    for (const property of value.properties) {
      if (!ts.isPropertyAssignment(property)) continue;
      const name = nameOf(property);
      const here = `${path}.${name}`;
      const { initializer } = property;
      if (GUARDS.has(name)) attackProperty(here, property);
      else if (name === "retrieve" || name === "output" || name === "resolve") plan(here, initializer);
      else if (name === "limit") limit(here, initializer);
      else if (name === "bind" && ts.isArrayLiteralExpression(initializer)) for (const [index, item] of initializer.elements.entries()) plan(`${here}[${index}]`, item);
      else if (name === "steps" && ts.isArrayLiteralExpression(initializer)) for (const [index, item] of initializer.elements.entries()) step(`${here}[${index}]`, item);
    }
  };

  const limit = (path: string, value: ts.Expression): void => {
    if (!ts.isObjectLiteralExpression(value)) return;
    for (const property of value.properties) if (ts.isPropertyAssignment(property) && nameOf(property) === "max") attackProperty(`${path}.max`, property);
  };

  /** Steps that take rows or fields away. */
  const step = (path: string, value: ts.Expression): void => {
    if (/^\{\s*kind: "(?:post_filter|project)"/.test(value.getText(source))) attack(path, value);
    drop(path, value);
  };

  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const [declaration] = statement.declarationList.declarations;
    const name = declaration?.name.getText(source);
    let value = declaration?.initializer;
    while (value !== undefined && (ts.isSatisfiesExpression(value) || ts.isAsExpression(value))) value = value.expression;
    if (value === undefined || !ts.isObjectLiteralExpression(value)) continue;
    for (const property of value.properties) {
      if (!ts.isPropertyAssignment(property)) continue;
      const path = `${name}.${nameOf(property)}`;
      if (name === "plans") {
        drop(path, property);
        swap(`${path} renamed`, property.name, "another_tool");
        plan(path, property.initializer);
      } else if (name === "connections") {
        attack(path, property.initializer);
      } else if (name === "settings" && nameOf(property) === "security" && ts.isObjectLiteralExpression(property.initializer)) {
        drop(path, property);
        for (const section of property.initializer.properties) if (ts.isPropertyAssignment(section) && ["rbac", "rate_limit"].includes(nameOf(section) ?? "")) attackProperty(`${path}.${nameOf(section)}`, section);
      }
    }
  }
  return made;
}
