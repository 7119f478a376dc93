"""The tools for the OpenAI Agents SDK (extra ``openai-agents``)."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .context import CONTEXT_KEY, CallContext, read_context
from .errors import CallTimeout, ToolError
from .protocol import Tool

try:
    from agents import FunctionTool
except ImportError as error:
    raise ImportError("the tools of the OpenAI Agents SDK need the package openai-agents: pip install openai-agents, or this package with the extra [openai-agents]") from error

if TYPE_CHECKING:
    from .catalog import Catalog


def function_tool(catalog: Catalog, tool: Tool[Any]) -> FunctionTool:
    """One tool of the catalog for the OpenAI Agents SDK.

    The context of a call is the run's own context where that is a CallContext, or its ``call_context``, else the
    catalog's. The schema is sent as the catalog has it, so it is not a strict one.
    """

    async def invoke(run: Any, arguments: str) -> str:
        try:
            given = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return json.dumps(ToolError("invalid_arguments", f"the arguments of {tool.name} are a JSON object", tool=tool.name).as_json())
        try:
            result = await catalog.acall(tool.name, given, context_of(getattr(run, "context", None)))
        except ToolError as error:
            if type(error) not in (ToolError, CallTimeout):
                raise
            return json.dumps(error.as_json(), ensure_ascii=False)
        return json.dumps(result.envelope, ensure_ascii=False)

    return FunctionTool(name=tool.name, description=tool.description or tool.name, params_json_schema=copy.deepcopy(dict(tool.input_schema)), on_invoke_tool=invoke, strict_json_schema=False)


def context_of(context: object) -> CallContext | None:
    """The context within the context object of a run, which is whatever the application made it."""
    if isinstance(context, CallContext):
        return context
    if isinstance(context, Mapping):
        return read_context(context.get(CONTEXT_KEY))
    return read_context(getattr(context, CONTEXT_KEY, None))
