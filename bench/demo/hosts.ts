/** How to connect the hosts people use, with the real paths of this machine. */

export interface Place {
  /** Address of the running server, with /mcp. */
  readonly url: string;
  /** Absolute paths. */
  readonly node: string;
  readonly server: string;
}

/** Text for the terminal: one block per host, to be pasted as it is. */
export function connectHosts({ url, node, server }: Place): string {
  const stdio = { command: node, args: [server] };
  const block = (value: unknown): string => JSON.stringify(value, null, 2).replace(/\[\s+("[^\n]*")\s+\]/g, "[$1]").replace(/^/gm, "  ");
  return `Connect a host. Over stdio the host starts the server itself, over HTTP it uses
the one that runs here.

Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json)
${block({ mcpServers: { movies: stdio } })}

Claude Code
  claude mcp add movies -- ${shell(node)} ${shell(server)}
  claude mcp add --transport http movies ${url}

Cursor: ~/.cursor/mcp.json
${block({ mcpServers: { movies: { url } } })}

VS Code: .vscode/mcp.json
${block({ servers: { movies: { type: "http", url } } })}
`;
}

function shell(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
