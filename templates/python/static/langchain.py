"""The tools for LangChain and LangGraph (extra ``langchain``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .context import CONTEXT_KEY, CallContext, read_context
from .errors import CallTimeout, ToolError
from .protocol import Tool

try:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, ToolException
except ImportError as error:
    raise ImportError("LangChain's tools need the package langchain-core: pip install 'langchain-core', or this package with the extra [langchain]") from error

if TYPE_CHECKING:
    from .catalog import Catalog


class CatalogTool(BaseTool):
    """A tool of the catalog. Its name, description and schema are those that any MCP client sees.

    The context of a call is ``config["configurable"]["call_context"]``, else the catalog's own. A failed call is shown
    to the model as the server words it; a server that cannot be reached is an exception.
    """

    catalog: Any
    definition: Any
    handle_tool_error: Any = True

    def _to_args_and_kwargs(self, tool_input: str | dict[str, Any], tool_call_id: str | None) -> tuple[tuple[()], dict[str, Any]]:
        # Whatever the model calls an argument, it stays an argument and never becomes a parameter of this class.
        if not isinstance(tool_input, Mapping):
            raise ToolException(f"the arguments of {self.name} are an object")
        return (), {"arguments": dict(tool_input)}

    def _run(self, arguments: dict[str, Any], *, config: RunnableConfig) -> Any:
        try:
            return self.catalog.call(self.definition.name, arguments, context_of(config)).envelope
        except ToolError as error:
            raise shown(error) from error

    async def _arun(self, arguments: dict[str, Any], *, config: RunnableConfig) -> Any:
        try:
            return (await self.catalog.acall(self.definition.name, arguments, context_of(config))).envelope
        except ToolError as error:
            raise shown(error) from error


def langchain_tool(catalog: Catalog, tool: Tool[Any]) -> BaseTool:
    """One tool of the catalog for LangChain."""
    return CatalogTool(name=tool.name, description=tool.description or tool.name, args_schema=dict(tool.input_schema), catalog=catalog, definition=tool)


def context_of(config: Mapping[str, Any] | None) -> CallContext | None:
    """The context that the application put into the configuration of the run."""
    configurable = (config or {}).get("configurable")
    return read_context(configurable.get(CONTEXT_KEY)) if isinstance(configurable, Mapping) else None


def shown(error: ToolError) -> Exception:
    """A failure that the model can act on, or the error itself."""
    return ToolException(json.dumps(error.as_json(), ensure_ascii=False)) if type(error) in (ToolError, CallTimeout) else error
