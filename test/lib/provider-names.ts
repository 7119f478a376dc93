/** Finds code that names a provider of embeddings, reranking or query expansion instead of asking its descriptor. */
import ts from "typescript";
import { EMBEDDERS } from "../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../runtime/rerank/descriptors.js";

const PROVIDERS = [...Object.values(EMBEDDERS), ...Object.values(RERANKERS), ...Object.values(EXPANDERS)];
const NAMES = new Set(PROVIDERS.flatMap(({ name, aliases }) => [name, ...aliases]));
/** Names with other meanings elsewhere (a transport, no tenancy): they count only beside something about providers. */
const COMMON: ReadonlySet<string> = new Set(["local", "http", "none"]);
/** Models and packages, which may be a part of a longer text. */
const PARTS = [...new Set([
  "hashing-", ...Object.values(EMBEDDERS).flatMap(({ dims }) => Object.keys(dims)),
  ...PROVIDERS.flatMap(({ defaultModel, packages }) => [...(defaultModel === null ? [] : [defaultModel]), ...packages(defaultModel ?? "")]),
])];
const ABOUT_PROVIDERS = /provider|embed|rerank|expan/i;

/** `file:line names openai`, one for each literal of the file. */
export function providerNames(file: string, text: string): readonly string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    const literal = literalOf(node);
    if (literal !== null) {
      const name = NAMES.has(literal) && (!COMMON.has(literal) || ABOUT_PROVIDERS.test(contextOf(node))) ? literal : PARTS.find((part) => literal.includes(part));
      if (name !== undefined) found.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1} names ${name}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Texts and patterns; what a module is imported from is no name. */
function literalOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent))) return null;
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) return node.text;
  return ts.isRegularExpressionLiteral(node) ? node.text : null;
}

/** What a literal is compared with, falls back for, is a case of, or is written to; "" for any other use. */
function contextOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) {
    const other = (parent.left === node ? parent.right : parent.left).getText();
    return parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken ? `${other} ${contextOf(parent)}` : other;
  }
  if (ts.isCaseClause(parent)) return parent.parent.parent.expression.getText();
  if (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent)) return parent.name.getText();
  if (ts.isArrayLiteralExpression(parent) || ts.isLiteralTypeNode(parent) || ts.isUnionTypeNode(parent) || ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent)) return contextOf(parent);
  if (ts.isPropertySignature(parent) || ts.isPropertyAccessExpression(parent)) return parent.getText();
  if (ts.isCallExpression(parent)) return parent.expression.getText();
  return "";
}
