/**
 * The inner loop of a search by vectors, in WebAssembly with 128-bit instructions: integer dot products of one query
 * with many rows of codes. The module is small enough to be written here, instruction by instruction, so that no build
 * step and no binary has to be trusted. It reads and writes only the memory that it is given.
 * Opcodes: https://webassembly.github.io/spec/core/appendix/index-instructions.html
 */

/** Codes of a row are padded with zeros to a multiple of this: what one step of the loop takes. */
export const STEP = 32;

/** Dot products of rows. All arguments are byte addresses in the memory, or counts. */
export interface Kernel {
  /**
   * `out[i] = query · row index[i]` for `count` rows of `stride` codes: query is int16, codes int8, index and out int32.
   * The products must fit into 32 bits.
   */
  dots(query: number, codes: number, stride: number, index: number, count: number, out: number): void;
}

/** Memory of WebAssembly that threads share; can be passed to another thread. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;
/** What one memory can have. */
export const MAX_MEMORY_BYTES = MAX_PAGES * PAGE_BYTES;

/** The parts of WebAssembly that are used; the types of Node have none. */
interface WebAssemblyApi {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number; readonly shared: true }) => SharedMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { readonly host: { readonly memory: SharedMemory } }) => { readonly exports: unknown };
}
const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

/** @throws RangeError when there is no such memory */
export function createMemory(bytes: number): SharedMemory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return new Memory({ initial: pages, maximum: pages, shared: true });
}

/** @param memory several kernels may read the same one */
export function createKernel(memory: SharedMemory): Kernel {
  return new Instance(new Module(moduleBytes()), { host: { memory } }).exports as Kernel;
}

type Code = readonly number[];

const I32 = 0x7f;
const V128 = 0x7b;
const NO_RESULT = 0x40;

/** Unsigned LEB128, as WebAssembly writes its numbers. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** An i32.const; small non-negative numbers are enough here. */
const constant = (value: number): Code => (value < 0x40 ? [0x41, value] : [0x41, (value & 0x7f) | 0x80, value >>> 7]);
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const simd = (opcode: number, ...rest: readonly number[]): Code => [0xfd, ...unsigned(opcode), ...rest];
const I32_LOAD: Code = [0x28, 2, 0];
const I32_STORE: Code = [0x36, 2, 0];
const I32_LT_U: Code = [0x49];
const I32_GE_U: Code = [0x4f];
const I32_ADD: Code = [0x6a];
const I32_MUL: Code = [0x6c];
const END: Code = [0x0b];
const loop = (...body: readonly Code[]): Code => [0x03, NO_RESULT, ...body.flat(), ...END];
const block = (...body: readonly Code[]): Code => [0x02, NO_RESULT, ...body.flat(), ...END];
const branchIf = (depth: number): Code => [0x0d, depth];
/** Eight int8 at address + offset, as eight int16. */
const loadCodes = (offset: number): Code => simd(0x01, 0, offset);
const loadQuery = (offset: number): Code => simd(0x00, 0, offset);
const ZEROS: Code = simd(0x0c, ...new Array<number>(16).fill(0));
const ADD_LANES: Code = simd(0xae);
/** Products of int16, neighbours added: i32x4.dot_i16x8_s. */
const DOT: Code = simd(0xba);
const lane = (index: number): Code => simd(0x1b, index);

const [QUERY, CODES, STRIDE, INDEX, COUNT, OUT, LAST, ROW, END_OF_ROW, AT, SUM_A, SUM_B] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] as const;
const PARAMS = 6;

const advance = (local: number, bytes: number): Code => [...get(local), ...constant(bytes), ...I32_ADD, ...set(local)];

/** `sum += codes[offset…] · query[2 × offset…]`, eight of them. */
const addEight = (sum: number, offset: number): Code => [
  ...get(sum), ...get(ROW), ...loadCodes(offset), ...get(AT), ...loadQuery(2 * offset), ...DOT, ...ADD_LANES, ...set(sum),
];

const DOTS: Code = [
  ...get(INDEX), ...get(COUNT), ...constant(4), ...I32_MUL, ...I32_ADD, ...set(LAST),
  ...block(
    get(INDEX), get(LAST), I32_GE_U, branchIf(0),
    loop(
      get(CODES), get(INDEX), I32_LOAD, get(STRIDE), I32_MUL, I32_ADD, set(ROW),
      get(ROW), get(STRIDE), I32_ADD, set(END_OF_ROW),
      get(QUERY), set(AT),
      ZEROS, set(SUM_A), ZEROS, set(SUM_B),
      loop(
        addEight(SUM_A, 0), addEight(SUM_B, 8), addEight(SUM_A, 16), addEight(SUM_B, 24),
        advance(ROW, STEP), advance(AT, 2 * STEP),
        get(ROW), get(END_OF_ROW), I32_LT_U, branchIf(0),
      ),
      get(SUM_A), get(SUM_B), ADD_LANES, set(SUM_A),
      get(OUT),
      get(SUM_A), lane(0), get(SUM_A), lane(1), I32_ADD, get(SUM_A), lane(2), I32_ADD, get(SUM_A), lane(3), I32_ADD,
      I32_STORE,
      advance(OUT, 4), advance(INDEX, 4),
      get(INDEX), get(LAST), I32_LT_U, branchIf(0),
    ),
  ),
  ...END,
];

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const name = (text: string): Code => [text.length, ...Buffer.from(text)];

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const locals: Code = [2, 4, I32, 2, V128];
  const body: Code = [...locals, ...DOTS];
  return Uint8Array.from([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, PARAMS, ...new Array<number>(PARAMS).fill(I32), 0]),
    // A shared memory, of whatever size the importer has.
    ...section(2, [1, ...name("host"), ...name("memory"), 2, 3, 1, ...unsigned(MAX_PAGES)]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("dots"), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}
