/** Settings of models in this process. Pure. */
import type { Setting } from "../abi/setting.js";

export const ONNX_SETTINGS = {
  model_dir: { default: null, use: "path", meaning: "folder of a model in ONNX form (config.json, tokenizer.json, onnx/model.onnx), relative to the catalog; nothing is downloaded" },
  dtype: { default: "fp32", use: "option", meaning: "which file of the model is used: fp32 is onnx/model.onnx, q8 is onnx/model_quantized.onnx" },
} as const satisfies { readonly [key: string]: Setting };
