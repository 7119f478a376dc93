/** Test ids as documents name them, `test/cli/main.test.ts: name of the test`, and whether there is such a test. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { repo } from "./repo.js";

/** Looks up tests in the sources; caches the files it has read. */
export function createTestIndex(): { exists(id: string): boolean } {
  const namesByFile = new Map<string, readonly RegExp[]>();
  return {
    exists(id) {
      const colon = id.indexOf(": ");
      const file = id.slice(0, colon);
      if (colon < 0 || !file.endsWith(".test.ts") || !existsSync(repo(file))) return false;
      const names = namesByFile.get(file) ?? testNames(file);
      namesByFile.set(file, names);
      return names.some((name) => name.test(id.slice(colon + 2)));
    },
  };
}

/**
 * Names of the tests that a file registers, as patterns. A name built from a template matches any filling. A name that
 * is a constant, or one column of a table that a `for … of` goes through, is looked up there; any other expression is
 * not understood and names no test. Tests that an imported function registers, given `test` or called by a test file
 * without a suite of its own, are the file's own.
 */
function testNames(file: string): readonly RegExp[] {
  return namesIn(file, readFileSync(repo(file), "utf8"));
}

/** The same for a text. */
export function namesIn(file: string, text: string): readonly RegExp[] {
  const names: RegExp[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const imports = new Map<string, string>();
  const constants = constantsOf(source);
  /** Tables by the loop variables that go through them. */
  const columns = new Map<string, readonly string[]>();
  const registrars = new Set(["test", ...wrappersOf(source)]);
  const isWithoutSuite = file.endsWith(".test.ts") && !constants.has("test");
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text.startsWith(".")) {
      const bindings = node.importClause?.namedBindings;
      if (bindings !== undefined && ts.isNamedImports(bindings)) for (const { name } of bindings.elements) imports.set(name.text, node.moduleSpecifier.text);
    }
    if (ts.isForOfStatement(node)) for (const [name, texts] of columnsOf(node, constants)) columns.set(name, texts);
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && (isWithoutSuite || node.arguments.some((given) => ts.isIdentifier(given) && given.text === "test"))) {
      const from = imports.get(node.expression.text);
      if (from !== undefined) names.push(...testNames(join(dirname(file), from.replace(/\.js$/, ".ts"))));
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && registrars.has(node.expression.text)) {
      const [first] = node.arguments;
      if (first !== undefined && ts.isTemplateExpression(first)) names.push(exactly([first.head.text, ...first.templateSpans.map((span) => span.literal.text)]));
      else if (first !== undefined) for (const name of ts.isIdentifier(first) ? columns.get(first.text) ?? textsOf(first, constants) : textsOf(first, constants)) names.push(exactly([name]));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

type Constants = ReadonlyMap<string, ts.Expression>;

/** Initializers of the file's constants, by name. */
function constantsOf(source: ts.SourceFile): Constants {
  const found = new Map<string, ts.Expression>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) found.set(node.name.text, node.initializer);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The expression behind `as`, `satisfies`, parentheses and the names of constants. */
function behind(node: ts.Expression, constants: Constants, depth = 0): ts.Expression {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node)) return behind(node.expression, constants, depth);
  const value = ts.isIdentifier(node) && depth < 8 ? constants.get(node.text) : undefined;
  return value === undefined ? node : behind(value, constants, depth + 1);
}

/** The text of a literal or of a constant; nothing for any other expression. */
function textsOf(node: ts.Expression, constants: Constants): readonly string[] {
  const value = behind(node, constants);
  return ts.isStringLiteralLike(value) ? [value.text] : [];
}

/** Rows of a table written as an array literal, those of spread tables included. */
function rowsOf(node: ts.Expression, constants: Constants): readonly ts.Expression[] {
  const table = behind(node, constants);
  if (!ts.isArrayLiteralExpression(table)) return [];
  return table.elements.flatMap((row) => (ts.isSpreadElement(row) ? rowsOf(row.expression, constants) : [row]));
}

/** The keys of `Object.entries(TABLE)`, where the table is an object literal. */
function keysOf(node: ts.Expression, constants: Constants): readonly string[] {
  const [given] = ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === "entries" ? node.arguments : [];
  const table = given === undefined ? undefined : behind(given, constants);
  if (table === undefined || !ts.isObjectLiteralExpression(table)) return [];
  return table.properties.flatMap(({ name }) => (name !== undefined && (ts.isStringLiteralLike(name) || ts.isIdentifier(name)) ? [name.text] : []));
}

/**
 * What the variables of `for (const [name, …] of TABLE)`, `for (const name of TABLE)` or
 * `for (const [name, …] of Object.entries(TABLE))` can be, where that is a text.
 */
function columnsOf({ initializer, expression }: ts.ForOfStatement, constants: Constants): readonly (readonly [string, readonly string[]])[] {
  const declared = ts.isVariableDeclarationList(initializer) ? initializer.declarations[0]?.name : undefined;
  if (declared === undefined || ts.isObjectBindingPattern(declared)) return [];
  const rows = rowsOf(expression, constants);
  if (ts.isIdentifier(declared)) return [[declared.text, rows.flatMap((row) => textsOf(row, constants))]];
  return declared.elements.flatMap((element, index) => {
    if (ts.isOmittedExpression(element) || !ts.isIdentifier(element.name)) return [];
    if (index === 0 && rows.length === 0) return [[element.name.text, keysOf(expression, constants)] as const];
    const cells = rows.flatMap((row) => {
      const list = behind(row, constants);
      const cell = ts.isArrayLiteralExpression(list) ? list.elements[index] : undefined;
      return cell === undefined ? [] : textsOf(cell, constants);
    });
    return [[element.name.text, cells] as const];
  });
}

/** Matches the parts with anything between them. */
function exactly(parts: readonly string[]): RegExp {
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".+")}$`);
}

/** Functions of the file that register a test under the name that they are given first. */
function wrappersOf(source: ts.SourceFile): readonly string[] {
  return source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => declarationList.declarations).flatMap(({ name, initializer }) => {
    if (!ts.isIdentifier(name) || initializer === undefined || !ts.isArrowFunction(initializer)) return [];
    const [first] = initializer.parameters;
    if (first === undefined || !ts.isIdentifier(first.name)) return [];
    const given = first.name.text;
    const registers = (node: ts.Node): boolean => {
      const isTest = ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "test";
      const [argument] = isTest ? node.arguments : [];
      return (argument !== undefined && ts.isIdentifier(argument) && argument.text === given) || (ts.forEachChild(node, (child) => registers(child) || undefined) ?? false);
    };
    return registers(initializer.body) ? [name.text] : [];
  });
}
