"""``connect`` and ``load_tools``: the tools of this package, called in a server."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union, overload

from pydantic import BaseModel

from . import definitions
from .context import CallContext, ContextSource, read_context, resolve_context
from .errors import StartFailed, UnknownTool
from .http import HttpTransport
from .protocol import R, Request, Result, Row, Tool, arguments_of, http_request, read_result, stdio_request
from .stdio import StdioTransport
from .tools import AsyncTools, Tools

if TYPE_CHECKING:
    from agents import FunctionTool  # type: ignore[import-not-found,unused-ignore]
    from langchain_core.tools import BaseTool  # type: ignore[import-not-found,unused-ignore]

PathLike = Union[str, "os.PathLike[str]"]
T = TypeVar("T")


class Catalog:
    """A running server and its tools: ``tools`` to call them, ``aio`` to await them. Close it when done.

    May be shared by threads, tasks and event loops; calls run side by side.
    """

    def __init__(self, connection: _Connection, context: ContextSource = None) -> None:
        self._connection = connection
        self._context = context
        self.tools = Tools(self._call)
        self.aio = AsyncTools(self._acall)

    @property
    def names(self) -> list[str]:
        """Names of the tools, in the order of the catalog. Meta tools of the server are not among them."""
        return list(definitions.TOOLS)

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """The tools as tools/list sends them."""
        return [{"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": dict(tool.input_schema)} for tool in definitions.TOOLS.values()]

    @property
    def server_pids(self) -> list[int]:
        """Processes of the servers that were started here and run now."""
        return [transport.pid for transport in self._connection.transports if transport.pid is not None]

    def bound(self, context: ContextSource) -> Catalog:
        """The same connection with another context for calls that state none."""
        return Catalog(self._connection, context)

    def call(self, name: str, arguments: Mapping[str, Any] | BaseModel | None = None, context: CallContext | None = None) -> Result[Row]:
        """Calls a tool by name. Arguments that are None count as absent."""
        return self._call(tool_named(name), arguments_of(arguments), context)

    async def acall(self, name: str, arguments: Mapping[str, Any] | BaseModel | None = None, context: CallContext | None = None) -> Result[Row]:
        """``call``, awaited."""
        return await self._acall(tool_named(name), arguments_of(arguments), context)

    def _call(self, tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Result[R]:
        transport, prepare = self._connection.prepare(tool, arguments, read_context(context) or resolve_context(self._context))
        return read_result(tool, transport.call(tool.name, prepare))

    async def _acall(self, tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Result[R]:
        transport, prepare = self._connection.prepare(tool, arguments, read_context(context) or resolve_context(self._context))
        return read_result(tool, await transport.acall(tool.name, prepare))

    def as_langchain(self) -> Toolset[BaseTool]:
        """Tools for LangChain and LangGraph; needs the extra ``langchain``."""
        from .langchain import langchain_tool

        return Toolset([langchain_tool(self, tool) for tool in definitions.TOOLS.values()], self)

    def as_openai_agents(self) -> Toolset[FunctionTool]:
        """Tools for the OpenAI Agents SDK; needs the extra ``openai-agents``."""
        from .openai_agents import function_tool

        return Toolset([function_tool(self, tool) for tool in definitions.TOOLS.values()], self)

    def as_anthropic(self) -> list[dict[str, Any]]:
        """Definitions for the Anthropic SDK's ``tools=``."""
        return [{"name": tool.name, "description": tool.description or tool.name, "input_schema": dict(tool.input_schema)} for tool in definitions.TOOLS.values()]

    def close(self) -> None:
        """Ends the server, or closes the connections to it."""
        self._connection.close()

    async def aclose(self) -> None:
        await self._connection.aclose()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Catalog:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Toolset(list[T], Generic[T]):
    """Tools for a framework, as a list, with the catalog behind them. Close it when done."""

    def __init__(self, tools: Iterable[T], catalog: Catalog) -> None:
        super().__init__(tools)
        self.catalog = catalog

    def close(self) -> None:
        self.catalog.close()

    async def aclose(self) -> None:
        await self.catalog.aclose()


def tool_named(name: str) -> Tool[Any]:
    """A tool by name. Raises UnknownTool, which is a KeyError."""
    tool = definitions.TOOLS.get(name)
    if tool is None:
        raise UnknownTool(name, list(definitions.TOOLS))
    return tool


class _Connection:
    """The servers behind a catalog. Over stdio each of several catalogs has a server of its own."""

    def __init__(self, transports: Mapping[str | None, StdioTransport] | HttpTransport) -> None:
        self._transports = transports

    def prepare(self, tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> tuple[StdioTransport | HttpTransport, Callable[[], Request]]:
        if isinstance(self._transports, HttpTransport):
            return self._transports, lambda: http_request(tool, arguments, context)
        transport = self._transports[tool.project if tool.project in self._transports else None]
        # Whether the server believes the context is known when it has started.
        return transport, lambda: stdio_request(tool, arguments, context, embedded=transport.embedded)

    @property
    def transports(self) -> list[StdioTransport | HttpTransport]:
        return [self._transports] if isinstance(self._transports, HttpTransport) else list(self._transports.values())

    def start(self) -> None:
        try:
            for transport in self.transports:
                transport.start()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for transport in self.transports:
            transport.close()

    async def aclose(self) -> None:
        await asyncio.gather(*(transport.aclose() for transport in self.transports))


def connect(
    *sources: PathLike,
    env: Mapping[str, str] | None = None,
    env_file: PathLike | None = None,
    server: PathLike | Sequence[str] | None = None,
    server_args: Sequence[str] = (),
    cwd: PathLike | None = None,
    url: str | None = None,
    token: str | Callable[[], str] | None = None,
    headers: Mapping[str, str] | None = None,
    context: ContextSource = None,
    start_timeout_s: float = 30.0,
    on_log: Callable[[str], object] | None = None,
    httpx_options: Mapping[str, Any] | None = None,
) -> Catalog:
    """Starts the server of this catalog as a child process, or connects to one that runs at ``url``.

    Without ``server`` the built server beside this package is started. ``server`` is the path of a built
    ``server.js``, or a whole command; with catalog files as ``sources``, ``toolsrv serve`` is started instead.
    References in the catalog are filled from the process environment, then ``env``, then ``env_file``; later ones win.
    With ``url``, ``token`` is the bearer token, or a function that returns the one to use now.

    Returns when the server has answered. Raises StartFailed or ConnectFailed when it does not.
    """
    if url is not None:
        if sources or server is not None or server_args or env is not None or env_file is not None or cwd is not None or on_log is not None:
            raise StartFailed("with url= the server runs already: sources, server, server_args, env, env_file, cwd and on_log do not go with it")
        connection = _Connection(HttpTransport(url, token=token, headers=headers, start_timeout_s=start_timeout_s, httpx_options=httpx_options))
    else:
        if token is not None or headers is not None or httpx_options is not None:
            raise StartFailed("token, headers and httpx_options go with url=")
        command = [*_command(sources, server), "--embedded", "--no-meta-tools", "--log-level", "warn"]
        if env_file is not None:
            command += ["--env", os.path.abspath(env_file)]
        projects: list[str | None] = sorted({tool.project for tool in definitions.TOOLS.values()}, key=str) if not sources or len(sources) > 1 else [None]
        connection = _Connection({
            project: StdioTransport(
                [*command, *(() if project is None else (f"--default-project={project}",)), *server_args],
                env={**os.environ, **(env or {})}, cwd=None if cwd is None else os.fspath(cwd), start_timeout_s=start_timeout_s, on_log=on_log,
            )
            for project in projects or [None]
        })
    connection.start()
    return Catalog(connection, context)


async def aconnect(*sources: PathLike, **options: Any) -> Catalog:
    """``connect`` without blocking the event loop while the server starts."""
    return await asyncio.to_thread(lambda: connect(*sources, **options))


@overload
def load_tools(*sources: PathLike, format: Literal["langchain"] = "langchain", **options: Any) -> Toolset[BaseTool]: ...
@overload
def load_tools(*sources: PathLike, format: Literal["openai-agents"], **options: Any) -> Toolset[FunctionTool]: ...
def load_tools(*sources: PathLike, format: str = "langchain", **options: Any) -> Toolset[Any]:
    """The tools of the catalog for an agent framework. Options are those of ``connect``.

    >>> tools = load_tools()
    >>> # pass ``tools`` to an agent; ``await tools.aclose()`` when done
    """
    if format not in ("langchain", "openai-agents"):
        raise ValueError(f"format is 'langchain' or 'openai-agents', not {format!r}; connect().as_anthropic() has definitions for the Anthropic SDK")
    catalog = connect(*sources, **options)
    try:
        return catalog.as_langchain() if format == "langchain" else catalog.as_openai_agents()
    except BaseException:
        catalog.close()
        raise


def _command(sources: Sequence[PathLike], server: PathLike | Sequence[str] | None) -> list[str]:
    if sources:
        if server is not None:
            raise StartFailed("give catalog files or server=, not both")
        for source in sources:
            if not isinstance(source, (str, os.PathLike)):
                raise StartFailed(f"a catalog is the path of a file, not a {type(source).__name__}")
        return [_toolsrv(), "serve", *(os.path.abspath(source) for source in sources), "--no-watch"]
    if server is not None and not isinstance(server, (str, os.PathLike)):
        if not server:
            raise StartFailed("server is a path or a command, and this list is empty")
        return list(server)
    path = Path(server) if server is not None else Path(__file__).resolve().parent / definitions.SERVER
    if not path.is_file():
        advice = "give server= the path of the built server.js" if server is None else "run: toolsrv build"
        raise StartFailed(f"there is no server at {path}; {advice}")
    node = shutil.which("node")
    if node is None:
        raise StartFailed("the server needs Node, and there is no 'node' on the PATH")
    return [node, "--", str(path)]


def _toolsrv() -> str:
    """The command line program: of a project's node_modules, else of the PATH."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        local = folder / "node_modules" / ".bin" / ("toolsrv.cmd" if os.name == "nt" else "toolsrv")
        if local.is_file():
            return str(local)
    found = shutil.which("toolsrv")
    if found is None:
        raise StartFailed("catalog files are served by 'toolsrv', which is neither in a node_modules nor on the PATH; install it, or leave the files out to start the built server")
    return found
