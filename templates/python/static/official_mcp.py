"""For programs that use the official ``mcp`` package (extra ``mcp``), of any major version."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from .catalog import PathLike, tool_named
from .catalog import _command as server_command
from .context import CallContext
from .errors import ContextRefused, ProtocolError
from .protocol import R, Result, Tool, read_result
from .tools import AsyncTools

try:
    from mcp import ClientSession, StdioServerParameters
except ImportError as error:
    raise ImportError("this needs the package mcp: pip install mcp, or this package with the extra [mcp]") from error


def server_parameters(*sources: PathLike, env: Mapping[str, str] | None = None, env_file: PathLike | None = None, server: PathLike | Sequence[str] | None = None, server_args: Sequence[str] = ()) -> StdioServerParameters:
    """How the official client starts the server of this catalog, with the environment merged as ``connect`` does."""
    command, *words = server_command(sources, server)
    words += ["--embedded", "--no-meta-tools", *(() if env_file is None else ("--env", os.path.abspath(env_file))), *server_args]
    return StdioServerParameters(command=command, args=words, env={**os.environ, **(env or {})})


def tools_over(session: ClientSession) -> AsyncTools:
    """The typed tools over a session of the official client. A session states no context of its own."""

    async def call(tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Result[R]:
        if context is not None:
            raise ContextRefused("a session of the official client states no caller; use connect()", tool=tool.name)
        answer: Any = await session.call_tool(tool_named(tool.name).name, arguments)
        wire = answer.model_dump(by_alias=True, mode="json")
        if not isinstance(wire, Mapping):
            raise ProtocolError("the session returned no result")
        return read_result(tool, {"result": wire})

    return AsyncTools(call)
