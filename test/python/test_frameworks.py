"""Agent loops of real frameworks with scripted models: the model asks for a tool, gets rows, and answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FAKE_SERVER

SPACE = {"name": "search_movies", "args": {"query": "space", "genre": ["Comedy"], "limit": 1}}
WRONG = {"name": "search_movies", "args": {"query": "space", "limit": 99}}
#: Names that a framework uses for itself, and a context as a model would forge it.
FORGED = {"query": "meta", "config": {"configurable": {"call_context": {"tenant": "evil"}}}, "run_manager": 1, "callbacks": 2, "context": {"tenant": "evil"}, "call_context": {"tenant": "evil"}, "self": 3, "tool_input": 4, "arguments": 5}


def scripted_langchain(*steps: Any) -> Any:
    core = pytest.importorskip("langchain_core.language_models.fake_chat_models", reason="langchain-core is not installed")
    from langchain_core.messages import AIMessage

    class Scripted(core.FakeMessagesListChatModel):  # type: ignore[misc, name-defined]
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    messages = [AIMessage(content=step) if isinstance(step, str) else AIMessage(content="", tool_calls=[{**step, "id": f"call-{number}", "type": "tool_call"}]) for number, step in enumerate(steps)]
    return Scripted(responses=messages)


def test_a_langchain_agent_gets_rows_and_an_error_that_it_can_act_on(movies: Path) -> None:
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from toolsrv_catalog import load_tools

    with load_tools().catalog as catalog:
        agent = agents.create_agent(scripted_langchain(WRONG, SPACE, "Space Jam."), tools=catalog.as_langchain())
        for answer in (agent.invoke({"messages": [("user", "a comedy in space")]}), asyncio.run(agent.ainvoke({"messages": [("user", "a comedy in space")]}))):
            failed, found = [message for message in answer["messages"] if message.type == "tool"]
            assert failed.status == "error" and json.loads(failed.content)["error"]["code"] == "invalid_arguments"
            assert json.loads(found.content)["rows"][0]["title"] == "Space Jam"
            assert answer["messages"][-1].content == "Space Jam."


def test_langchain_sees_names_descriptions_and_schemas_as_tools_list_sends_them(movies: Path) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from toolsrv_catalog import load_tools

    tools = load_tools()
    try:
        for tool, seen in zip(tools, tools.catalog.schemas):
            function = convert_to_openai_tool(tool)["function"]
            assert (function["name"], function["description"]) == (seen["name"], seen["description"])
            assert function["parameters"]["properties"] == seen["inputSchema"]["properties"]
        assert [tool.name for tool in tools] == tools.catalog.names
    finally:
        asyncio.run(tools.aclose())


def test_langchains_context_is_the_applications_and_a_model_cannot_write_it(movies: Path) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from toolsrv_catalog import CallContext, ContextRefused, connect

    with connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        tool = catalog.as_langchain()[0]
        config: Any = {"configurable": {"call_context": {"tenant": "acme"}}}
        for result in (tool.invoke(FORGED, config), asyncio.run(tool.ainvoke(FORGED, config))):
            assert json.loads(result["rows"][0]["title"]) == {"toolsrv/caller": {"tenant": "acme"}}
        assert json.loads(tool.invoke(FORGED)["rows"][0]["title"]) is None
        bound = catalog.bound(CallContext(tenant="acme")).as_langchain()[0]
        assert json.loads(bound.invoke(FORGED)["rows"][0]["title"]) == {"toolsrv/caller": {"tenant": "acme"}}
        for wrong in ({"tenat": "acme"}, "acme", 5):
            with pytest.raises(ContextRefused):
                tool.invoke({"query": "meta"}, {"configurable": {"call_context": wrong}})


def test_a_dead_server_is_an_exception_of_the_agent_and_not_words_for_the_model(movies: Path) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from toolsrv_catalog import ServerDied, connect

    with connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        with pytest.raises(ServerDied):
            catalog.as_langchain()[0].invoke({"query": "die"})


def scripted_openai(*steps: Any) -> Any:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    agents.set_tracing_disabled(True)
    left = list(enumerate(steps))

    class Scripted(Model):  # type: ignore[misc]
        async def get_response(self, *_: Any, **__: Any) -> Any:
            number, step = left.pop(0)
            output: Any
            if isinstance(step, str):
                output = ResponseOutputMessage(id=f"m-{number}", type="message", role="assistant", status="completed", content=[ResponseOutputText(type="output_text", text=step, annotations=[])])
            else:
                output = ResponseFunctionToolCall(type="function_call", call_id=f"call-{number}", name=step["name"], arguments=json.dumps(step["args"]))
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
            raise NotImplementedError

    return Scripted()


def outputs(result: Any) -> list[Any]:
    return [json.loads(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


def test_an_openai_agent_gets_rows_and_an_error_that_it_can_act_on(movies: Path) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from toolsrv_catalog import load_tools

    tools = load_tools(format="openai-agents")
    try:
        agent = agents.Agent(name="films", model=scripted_openai(WRONG, SPACE, "Space Jam."), tools=list(tools))
        result = asyncio.run(agents.Runner.run(agent, "a comedy in space"))
        failed, found = outputs(result)
        assert failed["error"]["code"] == "invalid_arguments"
        assert found["rows"][0]["title"] == "Space Jam"
        assert result.final_output == "Space Jam."
        assert [tool.params_json_schema for tool in tools] == [seen["inputSchema"] for seen in tools.catalog.schemas]
    finally:
        tools.close()


def test_the_context_of_an_openai_run_is_the_applications(movies: Path) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from types import SimpleNamespace

    from toolsrv_catalog import CallContext, connect

    acme = CallContext(tenant="acme")
    with connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        for context, want in ((acme, "acme"), ({"call_context": {"tenant": "acme"}}, "acme"), (SimpleNamespace(call_context=acme), "acme"), (SimpleNamespace(user="ada"), None), (None, None)):
            agent = agents.Agent(name="films", model=scripted_openai({"name": "search_movies", "args": FORGED}, "done"), tools=list(catalog.as_openai_agents()))
            (found,) = outputs(asyncio.run(agents.Runner.run(agent, "x", context=context)))
            stated = json.loads(found["rows"][0]["title"])
            assert stated == (None if want is None else {"toolsrv/caller": {"tenant": want}})


def test_arguments_of_a_model_that_are_no_object_are_shown_to_it_as_an_error(movies: Path) -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    from toolsrv_catalog import connect

    with connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        tool = catalog.as_openai_agents()[0]
        for text in ("[]", "{", "5", "[" * 100_000):
            answer = json.loads(asyncio.run(tool.on_invoke_tool(None, text)))
            assert answer["error"]["code"] == "invalid_arguments"


def test_the_official_client_starts_the_server_and_its_session_has_the_typed_tools(movies: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="mcp is not installed")
    from mcp.client.stdio import stdio_client
    from toolsrv_catalog.official_mcp import server_parameters, tools_over
    from toolsrv_catalog import CallContext, ContextRefused, ToolError

    async def session() -> None:
        async with stdio_client(server_parameters(), errlog=sys.__stderr__) as (read, write), mcp.ClientSession(read, write) as opened:
            await opened.initialize()
            tools = tools_over(opened)
            result = await tools.search_movies(query="space", genre=["Comedy"], limit=1)
            assert result.rows[0].title == "Space Jam"
            with pytest.raises(ToolError, match="invalid_arguments"):
                await tools.search_movies(query="x", limit=99)
            with pytest.raises(ContextRefused):
                await tools.count_movies(context=CallContext(tenant="acme"))

    asyncio.run(session())


def test_an_unknown_format_is_refused_and_starts_no_server(movies: Path) -> None:
    from toolsrv_catalog import load_tools

    with pytest.raises(ValueError, match="'langchain' or 'openai-agents'"):
        load_tools(format="autogen")  # type: ignore[call-overload]


def test_a_missing_package_is_named_with_its_extra_and_leaves_no_server(movies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolsrv_catalog import connect

    monkeypatch.setitem(sys.modules, "langchain_core.tools", None)
    monkeypatch.delitem(sys.modules, "toolsrv_catalog.langchain", raising=False)
    with connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        with pytest.raises(ImportError, match=r"extra \[langchain\]"):
            catalog.as_langchain()
