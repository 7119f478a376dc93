/**
 * ONNX models in this process, by an optional package with the interface of Transformers.js. A model is a folder on this machine;
 * nothing is downloaded. The package's own threads do the arithmetic.
 */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BackendError } from "../abi/errors.js";
import { loadOptionalPackage, PackageError } from "../base/optional-package.js";
import { ONNX_SETTINGS } from "./onnx-settings.js";
import { required, type Config, textOf } from "./settings.js";

/** What is used of a tensor. */
export interface Tensor {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number | bigint>;
}

interface LoadOptions {
  readonly local_files_only: true;
  readonly dtype: string;
}

/** What is used of the package. */
export interface Transformers {
  readonly env: { allowRemoteModels: boolean };
  pipeline(task: "feature-extraction", model: string, options: LoadOptions): Promise<(texts: readonly string[], options: { readonly pooling: string; readonly normalize: boolean }) => Promise<Tensor>>;
  readonly AutoTokenizer: { from_pretrained(model: string, options: LoadOptions): Promise<(texts: readonly string[], options: { readonly text_pair: readonly string[]; readonly padding: true; readonly truncation: true }) => object> };
  readonly AutoModelForSequenceClassification: { from_pretrained(model: string, options: LoadOptions): Promise<(inputs: object) => Promise<{ readonly logits: Tensor }>> };
}

export interface OnnxModel {
  readonly transformers: Transformers;
  /** Absolute; the package reads a model there instead of asking for one by name. */
  readonly folder: string;
  readonly options: LoadOptions;
}

/**
 * The package and the folder of a model.
 * @throws BackendError setup that says what is missing.
 */
export async function openOnnx(provider: string, packageName: string, config: Config, base: string): Promise<OnnxModel> {
  const written = required(textOf(config, "model_dir"), provider, "model_dir");
  const folder = resolve(base, written);
  if (!(await exists(join(folder, "config.json")))) throw new BackendError("setup", provider, `provider '${provider}': config.model_dir '${written}' has no config.json; it is the folder of one model`);
  const transformers = await loadOptionalPackage<Transformers>(packageName, resolve(base)).catch((error: unknown) => {
    throw error instanceof PackageError ? new BackendError("setup", provider, `provider '${provider}': ${error.message}`, { cause: error.cause }) : error;
  });
  transformers.env.allowRemoteModels = false;
  return { transformers, folder, options: { local_files_only: true, dtype: textOf(config, "dtype") ?? ONNX_SETTINGS.dtype.default } };
}

/** What the package says about a model that it cannot load. */
export function unloadable(provider: string, config: Config, error: unknown): BackendError {
  return new BackendError("setup", provider, `provider '${provider}': the model in config.model_dir '${textOf(config, "model_dir") ?? ""}' cannot be loaded; the folder needs tokenizer.json and the file of its dtype under onnx/`, { cause: error });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false);
}
