/**
 * Small models in ONNX form, written here: a table of token vectors, and nothing more. A sentence model looks the vector of
 * each token up; a cross encoder scores a pair by how much of its table's first column its tokens have.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "bike", "helmet", "fence", "paint", "lost", "a"] as const;
const DIMS = 8;

/** Protocol buffers, as much of them as a model needs. */
const varint = (value: number): readonly number[] => (value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]);
const number = (field: number, value: number): Buffer => Buffer.from([...varint(field << 3), ...varint(value)]);
const bytes = (field: number, value: Buffer | string): Buffer => {
  const data = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(data.length)]), data]);
};
const message = (field: number, ...parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const FLOAT = 1;
const INT64 = 7;

const input = (field: number, name: string, type: number, shape: readonly string[]): Buffer =>
  message(field, bytes(1, name), message(2, message(1, number(1, type), message(2, ...shape.map((dim) => message(1, bytes(2, dim)))))));
const tensor = (name: string, dims: readonly number[], type: number, data: Buffer): Buffer => message(5, ...dims.map((dim) => number(1, dim)), number(2, type), bytes(8, name), bytes(9, data));
const node = (op: string, from: readonly string[], to: string, ...attributes: readonly Buffer[]): Buffer => message(1, ...from.map((name) => bytes(1, name)), bytes(2, to), bytes(4, op), ...attributes);
const attribute = (name: string, value: number): Buffer => message(5, bytes(1, name), number(3, value), number(20, 2));

function model(output: string, shape: readonly string[], ...nodes: readonly Buffer[]): Buffer {
  const table = new Float32Array(WORDS.length * DIMS);
  // The vector of a word is one of the axes; the padding and marks have none.
  for (const [index, word] of WORDS.entries()) if (!word.startsWith("[")) table[index * DIMS + (index % DIMS)] = 1;
  const graph = message(7,
    ...nodes, bytes(2, "tiny"), tensor("table", [WORDS.length, DIMS], FLOAT, Buffer.from(table.buffer)), tensor("axes", [1], INT64, Buffer.from(BigInt64Array.of(1n).buffer)),
    input(11, "input_ids", INT64, ["batch", "tokens"]), input(11, "attention_mask", INT64, ["batch", "tokens"]), input(12, output, FLOAT, shape));
  return Buffer.concat([number(1, 8), graph, message(8, number(2, 13))]);
}

const TOKENIZER = {
  version: "1.0", truncation: null, padding: null, added_tokens: WORDS.slice(0, 5).map((content, id) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true })),
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: {
    type: "TemplateProcessing",
    single: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }],
    pair: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }, { SpecialToken: { id: "[SEP]", type_id: 1 } }],
    special_tokens: { "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] }, "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] } },
  },
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])) },
};

function writeModel(folder: string, config: object, onnx: Buffer): void {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const write = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  write("config.json", { model_type: "bert", hidden_size: DIMS, vocab_size: WORDS.length, ...config });
  write("tokenizer.json", TOKENIZER);
  write("tokenizer_config.json", { tokenizer_class: "BertTokenizer", do_lower_case: true, model_max_length: 512, unk_token: "[UNK]", sep_token: "[SEP]", pad_token: "[PAD]", cls_token: "[CLS]", mask_token: "[MASK]" });
  writeFileSync(join(folder, "onnx", "model.onnx"), onnx);
}

/** A sentence model of 8 numbers in the folder. */
export function writeSentenceModel(folder: string): void {
  writeModel(folder, { architectures: ["BertModel"] }, model("last_hidden_state", ["batch", "tokens", "numbers"], node("Gather", ["table", "input_ids"], "last_hidden_state")));
}

/** A cross encoder in the folder: the more of a pair's tokens are "paint", the better. */
export function writeCrossEncoder(folder: string): void {
  const paint = WORDS.indexOf("paint") % DIMS;
  const logits = model("logits", ["batch", "labels"],
    node("Gather", ["table", "input_ids"], "tokens"), node("ReduceSum", ["tokens", "axes"], "sums", attribute("keepdims", 0)), node("Gather", ["sums", "column"], "logits", attribute("axis", 1)),
    tensor("column", [1], INT64, Buffer.from(BigInt64Array.of(BigInt(paint)).buffer)));
  writeModel(folder, { architectures: ["BertForSequenceClassification"], id2label: { 0: "LABEL_0" }, label2id: { LABEL_0: 0 } }, logits);
}
