/** yaml-language-server as an editor runs it: a process that is spoken to in JSON-RPC over stdio. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { repo } from "../lib/repo.js";

const SERVER = repo("node_modules", "yaml-language-server", "bin", "yaml-language-server");
const HEADER_END = "\r\n\r\n";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export interface EditorDiagnostic {
  readonly message: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

export interface Editor {
  /** Opens a text as the content of a file; answers what the server finds wrong with it. */
  open(path: string, text: string): Promise<readonly EditorDiagnostic[]>;
  /** Labels that the server offers at a place of an opened file, counted from 0. */
  complete(path: string, line: number, character: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Starts the server with a folder as its workspace, and with no schema store to ask. */
export async function startEditor(folder: string): Promise<Editor> {
  const child = spawn(process.execPath, [SERVER, "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const { request, notify, found } = connect(child);
  const rootUri = pathToFileURL(folder).href;
  await request("initialize", { processId: process.pid, rootUri, capabilities: { workspace: { configuration: true } }, workspaceFolders: [{ uri: rootUri, name: "catalog" }] });
  notify("initialized", {});
  return {
    open(path, text) {
      const uri = pathToFileURL(path).href;
      const first = found(uri);
      notify("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
      return first;
    },
    async complete(path, line, character) {
      const answer = await request("textDocument/completion", { textDocument: { uri: pathToFileURL(path).href }, position: { line, character } });
      return (answer as { readonly items: readonly { readonly label: string }[] }).items.map(({ label }) => label);
    },
    async close() {
      await request("shutdown", null);
      notify("exit", null);
      await exited;
    },
  };
}

interface Connection {
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** The next diagnostics published for a file. */
  found(uri: string): Promise<readonly EditorDiagnostic[]>;
}

type Wait<T> = (value: T) => void;

function connect(child: ChildProcessByStdio<Writable, Readable, null>): Connection {
  const answers = new Map<number, Wait<Message>>();
  const published = new Map<string, Wait<readonly EditorDiagnostic[]>>();
  let lastId = 0;
  const send = (message: Message): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}${HEADER_END}${body}`);
  };
  const receive = (message: Message): void => {
    const { id, method, params } = message;
    if (method === "textDocument/publishDiagnostics") {
      const { uri, diagnostics } = params as { readonly uri: string; readonly diagnostics: readonly EditorDiagnostic[] };
      published.get(uri)?.(diagnostics);
    } else if (method !== undefined && id !== undefined) {
      send({ id, result: method === "workspace/configuration" ? settingsFor(params) : null });
    } else if (typeof id === "number") {
      answers.get(id)?.(message);
    }
  };
  readMessages(child.stdout, receive);
  return {
    async request(method, params) {
      const id = (lastId += 1);
      const answered = new Promise<Message>((resolve) => answers.set(id, resolve));
      send({ id, method, params });
      const { result, error } = await answered;
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    notify: (method, params) => send({ method, params }),
    found: (uri) => new Promise((resolve) => published.set(uri, resolve)),
  };
}

/** One value for each section asked for: nothing leaves the machine. */
function settingsFor(params: unknown): readonly unknown[] {
  const { items } = params as { readonly items: readonly { readonly section?: string }[] };
  return items.map(({ section }) => (section === "yaml" ? { schemaStore: { enable: false }, validate: true, completion: true } : {}));
}

function readMessages(stream: Readable, receive: (message: Message) => void): void {
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf(HEADER_END);
      const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, Math.max(end, 0)).toString("latin1"))?.[1]);
      const start = end + HEADER_END.length;
      if (end < 0 || rest.length < start + length) return;
      receive(JSON.parse(rest.subarray(start, start + length).toString("utf8")) as Message);
      rest = rest.subarray(start + length);
    }
  });
}
