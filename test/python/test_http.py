"""Calls to a server behind a URL: the real one, and ones that misbehave."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Served


def test_rows_come_over_http_called_and_awaited_in_any_loop(movies: Path, serve: Callable[..., Served]) -> None:
    import toolsrv_catalog

    served = serve(movies / "out" / "server.js", "--auth", "none")
    with toolsrv_catalog.connect(url=served.url) as catalog:
        assert catalog.tools.search_movies(query="space", limit=3).count == 3
        assert catalog.server_pids == []
        for _ in range(2):

            async def everything() -> list[Any]:
                return await asyncio.gather(*(catalog.aio.get_movie(title=title) for title in ["Avatar", "Titanic"] * 25))

            assert {row["title"] for result in asyncio.run(everything()) for row in result.rows} == {"Avatar", "Titanic"}
        with pytest.raises(toolsrv_catalog.ToolError, match="invalid_arguments"):
            catalog.call("search_movies", {"query": 5})
    with toolsrv_catalog.connect(url=f"{served.url}/mcp/") as catalog:
        assert catalog.tools.count_movies().count == 3201


def test_a_wrong_token_and_a_dead_address_are_errors_of_connect(movies: Path, serve: Callable[..., Served]) -> None:
    import toolsrv_catalog

    keys = movies / "keys.json"
    keys.write_text(json.dumps({"right": {"principal": "ada", "claims": {}}}))
    served = serve(movies / "out" / "server.js", "--auth", "api_key", "--api-keys-file", str(keys))
    for token in (None, "wrong"):
        with pytest.raises(toolsrv_catalog.StartFailed):
            toolsrv_catalog.connect(url=served.url, token=token)
    with toolsrv_catalog.connect(url=served.url, headers={"Authorization": "Bearer right"}) as catalog:
        assert catalog.tools.count_movies().count == 3201
        served.stop()
        with pytest.raises(toolsrv_catalog.ToolError) as caught:
            catalog.tools.count_movies()
        assert caught.value.code in ("unreachable", "server_died") and caught.value.retryable
    with pytest.raises(toolsrv_catalog.ConnectFailed):
        toolsrv_catalog.connect(url=served.url, token="right")


class Odd(BaseHTTPRequestHandler):
    """Answers a call as its query says."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, Any]] = []

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.seen.append((self.headers.get("authorization", ""), dict(self.headers)))
        number = message["id"]
        if message["method"] == "initialize":
            self.reply(200, {"jsonrpc": "2.0", "id": number, "result": {"protocolVersion": "2025-11-25", "capabilities": {}}}, [("mcp-session-id", "s-1")])
            return
        what = message["params"]["arguments"]["query"]
        rows = {"jsonrpc": "2.0", "id": number, "result": {"structuredContent": {"rows": [{"title": what}], "count": 1}}}
        if what == "events":
            head, _, rest = json.dumps(rows).partition(",")
            text = f": hello\r\n\r\ndata: {json.dumps({'jsonrpc': '2.0', 'method': 'notifications/progress'})}\n\nevent: message\ndata: {head},\ndata: {rest}\n\n"
            self.reply(200, text, kind="text/event-stream")
        elif what == "events that end":
            self.reply(200, "data: {}\n\n", kind="text/event-stream")
        elif what == "redirect":
            self.reply(307, "", [("location", "http://127.0.0.1:1/mcp")])
        elif what == "another id":
            self.reply(200, {**rows, "id": number + 1})
        elif what == "half":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b"{")
            self.close_connection = True
        elif what == "trickle":
            self.send_response(200)
            self.send_header("content-length", "100000")
            self.end_headers()
            try:
                while not STOP.wait(0.02):
                    self.wfile.write(b" ")
            except OSError:
                pass
            self.close_connection = True
        elif what == "limit":
            self.reply(429, {"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": "too many calls", "data": {"code": "rate_limited", "retry_after_s": 3}}})
        elif what == "overload":
            self.reply(503, {"error": {"code": "overloaded", "message": "later"}}, [("retry-after", "2")])
        elif what == "page":
            self.reply(502, "<html>bad gateway</html>", kind="text/html")
        elif what == "deep":
            self.reply(200, "[" * 200_000)
        else:
            self.reply(200, rows)

    def reply(self, status: int, body: Any, headers: list[tuple[str, str]] = [], kind: str = "application/json") -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in [("content-type", kind), ("content-length", str(len(data))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


STOP = threading.Event()


@pytest.fixture(scope="module")
def odd(movies: Path) -> Iterator[Any]:
    import toolsrv_catalog

    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with toolsrv_catalog.connect(url=f"http://127.0.0.1:{server.server_port}", token="secret-token") as catalog:
        yield catalog
    STOP.set()
    server.shutdown()
    server.server_close()


FAILURES = [
    ("events that end", "server_died", True), ("redirect", "protocol_error", False), ("another id", "protocol_error", False), ("half", "server_died", True), ("limit", "rate_limited", True),
    ("overload", "overloaded", True), ("page", "http_error", True), ("deep", "protocol_error", False),
]


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
@pytest.mark.parametrize(("query", "code", "retryable"), FAILURES)
def test_every_bad_answer_is_one_clear_exception(odd: Any, query: str, code: str, retryable: bool, awaited: bool) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError) as caught:
        asyncio.run(odd.aio.search_movies(query=query)) if awaited else odd.tools.search_movies(query=query)
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert "secret-token" not in str(caught.value) + repr(caught.value.details)


def test_the_details_say_when_to_call_again(odd: Any) -> None:
    from toolsrv_catalog import ToolError

    for query, details in (("limit", {"retry_after_s": 3}), ("overload", {"status": 503, "retry_after": "2"})):
        with pytest.raises(ToolError) as caught:
            odd.tools.search_movies(query=query)
        assert caught.value.details == details


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
def test_an_event_stream_is_read_up_to_the_answer(odd: Any, awaited: bool) -> None:
    result = asyncio.run(odd.aio.search_movies(query="events")) if awaited else odd.tools.search_movies(query="events")
    assert result.rows[0].title == "events"


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
def test_an_answer_that_trickles_does_not_outlast_the_deadline(odd: Any, awaited: bool) -> None:
    from toolsrv_catalog import CallContext, CallTimeout

    context = CallContext(deadline_s=0.2)
    with pytest.raises(CallTimeout):
        asyncio.run(odd.aio.search_movies(query="trickle", context=context)) if awaited else odd.tools.search_movies(query="trickle", context=context)


def test_version_session_and_token_go_with_each_call(odd: Any) -> None:
    odd.tools.search_movies(query="x")
    authorization, headers = Odd.seen[-1]
    lower = {name.lower(): value for name, value in headers.items()}
    assert (authorization, lower["mcp-protocol-version"], lower["mcp-session-id"]) == ("Bearer secret-token", "2025-11-25", "s-1")


def test_the_tenant_of_a_call_takes_the_place_of_a_header_of_the_connection_however_it_is_written(movies: Path) -> None:
    from toolsrv_catalog.http import HttpTransport
    from toolsrv_catalog.protocol import Request

    transport = HttpTransport("http://127.0.0.1:1", token=None, headers={"X-TENANT-ID": "acme"}, start_timeout_s=1, httpx_options=None)
    _, _, headers = transport._outgoing("tools/call", Request({}, {"X-Tenant-Id": "globex"}, 1))
    assert [value for name, value in headers.items() if name.lower() == "x-tenant-id"] == ["globex"]


def test_a_token_that_no_header_can_hold_is_refused_without_being_shown(movies: Path) -> None:
    import toolsrv_catalog

    with pytest.raises(toolsrv_catalog.ToolError) as caught:
        toolsrv_catalog.connect(url="http://127.0.0.1:1", token="a\r\nX-Org: acme")
    assert "acme" not in str(caught.value)


def test_closed_means_closed(movies: Path, serve: Callable[..., Served]) -> None:
    import toolsrv_catalog

    catalog = toolsrv_catalog.connect(url=serve(movies / "out" / "server.js", "--auth", "none").url)

    async def use_and_close() -> None:
        await catalog.aio.count_movies()
        await catalog.aclose()

    asyncio.run(use_and_close())
    with pytest.raises(toolsrv_catalog.ServerDied, match="closed"):
        catalog.tools.count_movies()
