/**
 * Models in this process. The package that runs them is large and optional: where TOOLSRV_TRANSFORMERS names a folder in
 * which it is installed, small models of our own run through it.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedder } from "../../runtime/embed/table.js";
import { openReranker } from "../../runtime/rerank/table.js";
import { suite } from "../lib/suite.js";
import { writeCrossEncoder, writeSentenceModel } from "./onnx-model.js";

const test = suite("embed/onnx");
const never = new AbortController().signal;
const installed = process.env["TOOLSRV_TRANSFORMERS"] ?? null;

const base = mkdtempSync(join(tmpdir(), "toolsrv-onnx-"));
test.before(() => {
  if (installed !== null) symlinkSync(join(installed, "node_modules"), join(base, "node_modules"));
  writeSentenceModel(join(base, "models/tiny"));
  writeCrossEncoder(join(base, "other/tiny"));
  mkdirSync(join(base, "empty"));
});
test.after(() => rmSync(base, { recursive: true }));

const sentence = (config: { readonly [key: string]: string }, more: object = {}) => openEmbedder({ provider: "local", model: "acme/tiny", config, ...more }, { base });
const cross = (config: { readonly [key: string]: string }) => openReranker({ provider: "cross_encoder", model: "acme/tiny", retrieve_k: 5, config }, { base });

test("without a model's folder, or with one that holds no model, nothing opens and nothing is downloaded", async () => {
  for (const open of [sentence, cross]) {
    await assert.rejects(open({}), { name: "BackendError", kind: "setup", message: /needs config\.model_dir/ });
    for (const folder of ["models/none", "empty"]) await assert.rejects(open({ model_dir: folder }), { name: "BackendError", kind: "setup", message: /has no config\.json/ });
  }
  await assert.rejects(sentence({ model_dir: "models/tiny", pooling: "max" }), { kind: "setup", message: /pooling is mean or cls/ });
});

if (installed === null) {
  test("without the package a model says what to install", async () => {
    for (const open of [sentence, cross]) await assert.rejects(open({ model_dir: open === sentence ? "models/tiny" : "other/tiny" }), { name: "BackendError", kind: "setup", message: /npm i @huggingface\/transformers/ });
  });
  test.skip("models run", "TOOLSRV_TRANSFORMERS names no folder with @huggingface/transformers, which takes 470 MB");
} else {
  test("a sentence model of a folder makes normalised vectors, the same alone and in a batch", async () => {
    const embedder = await sentence({ model_dir: "models/tiny" });
    const texts = ["bike", "a lost helmet", "paint a fence", ...Array.from({ length: 60 }, () => "helmet")];
    const vectors = await embedder.embed(texts, never);
    assert.deepEqual([vectors.length, embedder.dims], [63, 8]);
    const product = (a: Float32Array | undefined, b: Float32Array | undefined): number => [...(a ?? [])].reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0);
    for (const vector of vectors) assert.ok(Math.abs(product(vector, vector) - 1) < 1e-5);
    assert.ok(product(vectors[1], vectors[3]) > product(vectors[0], vectors[3]));
    const [alone] = await embedder.embed(["a lost helmet"], never);
    assert.ok(Math.abs(product(alone, vectors[1]) - 1) < 1e-5);
  }, { timeoutMs: 60_000 });

  test("a length other than the catalog's is an error", async () => {
    await assert.rejects((await sentence({ model_dir: "models/tiny" }, { dims: 384 })).embed(["bike"], never), { kind: "internal", message: /8 numbers; 384 are expected/ });
  }, { timeoutMs: 60_000 });

  test("models that open at once are each found in their own folder", async () => {
    const [embedder, reranker] = await Promise.all([sentence({ model_dir: "models/tiny" }), cross({ model_dir: "other/tiny" })]);
    assert.equal((await embedder.embed(["bike"], never))[0]?.length, 8);
    assert.deepEqual(await reranker.order("a", ["bike", "paint a fence", "paint paint"], never), [2, 1, 0]);
    assert.deepEqual((await reranker.order("paint", Array.from({ length: 40 }, (_, i) => (i === 33 ? "paint" : "helmet")), never)).slice(0, 3), [33, 0, 1]);
  }, { timeoutMs: 60_000 });

  test("a file that the dtype names and the folder lacks is an error that says so", async () => {
    await assert.rejects(sentence({ model_dir: "models/tiny", dtype: "q8" }), { kind: "setup", message: /cannot be loaded; the folder needs/ });
  }, { timeoutMs: 60_000 });
}

test.run();
