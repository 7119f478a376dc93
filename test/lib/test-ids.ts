/** Test ids as documents name them, `test/cli/main.test.ts: name of the test`, and whether there is such a test. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { repo } from "./repo.js";

/** Looks tests up in the sources; remembers the files it has read. */
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
 * Names of the tests of a file, as patterns. A name built from a template matches any filling; where a name comes
 * from a table, any text of the file may be one. Tests that an imported function registers, given `test`, are the
 * file's own.
 */
function testNames(file: string): readonly RegExp[] {
  const named: RegExp[] = [];
  const texts: RegExp[] = [];
  let fromTable = false;
  const source = ts.createSourceFile(file, readFileSync(repo(file), "utf8"), ts.ScriptTarget.Latest, false);
  const imports = new Map<string, string>();
  const shared: RegExp[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text.startsWith(".")) {
      const names = node.importClause?.namedBindings;
      if (names !== undefined && ts.isNamedImports(names)) for (const { name } of names.elements) imports.set(name.text, node.moduleSpecifier.text);
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.arguments.some((given) => ts.isIdentifier(given) && given.text === "test")) {
      const from = imports.get(node.expression.text);
      if (from !== undefined) shared.push(...testNames(join(dirname(file), from.replace(/\.js$/, ".ts"))));
    }
    if (ts.isStringLiteralLike(node)) texts.push(exactly([node.text]));
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "test") {
      const first = node.arguments[0];
      if (first !== undefined && ts.isStringLiteralLike(first)) named.push(exactly([first.text]));
      else if (first !== undefined && ts.isTemplateExpression(first)) named.push(exactly([first.head.text, ...first.templateSpans.map((span) => span.literal.text)]));
      else fromTable = true;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return fromTable ? [...shared, ...named, ...texts] : [...shared, ...named];
}

/** Matches the parts with anything between them. */
function exactly(parts: readonly string[]): RegExp {
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".+")}$`);
}
