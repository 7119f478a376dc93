"""A server behind a URL: streamable HTTP with httpx, synchronous and asynchronous."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from .errors import CallTimeout, ConnectFailed, ProtocolError, ServerDied, StartFailed, ToolError
from .protocol import PROTOCOL_VERSION, Request, message_line, rpc_error

#: Longest answer that is read, in bytes.
MAX_ANSWER_BYTES = 256 * 1024 * 1024



def endpoint_of(url: str) -> str:
    """The address of MCP for the base URL of a server."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise StartFailed("url is the http:// or https:// address of a server, without credentials; give these as token= or headers=")
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path if path.endswith("/mcp") else f"{path}/mcp", "", ""))


class HttpTransport:
    """Calls to a server behind a URL. Redirects are not followed: credentials go nowhere else."""

    embedded = False
    pid = None

    def __init__(self, url: str, *, token: str | Callable[[], str] | None, headers: Mapping[str, str] | None, start_timeout_s: float, httpx_options: Mapping[str, Any] | None) -> None:
        self._endpoint = endpoint_of(url)
        self._token = token
        # A header of a call takes the place of one of the connection, however either is written.
        self._headers = {name.lower(): value for name, value in (headers or {}).items()}
        if token is not None and "authorization" in self._headers:
            raise StartFailed("give the credentials as token= or as the header authorization, not both")
        self._start_timeout_s = start_timeout_s
        self._options = {"follow_redirects": False, "limits": httpx.Limits(max_connections=200, max_keepalive_connections=50), **(httpx_options or {})}
        self._client = httpx.Client(**self._options)
        # A connection belongs to the event loop that opened it.
        self._async: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._session: str | None = None
        self._number = 0
        self._closed = False

    def start(self) -> None:
        """Says hello, so that a wrong address or token is an error at once."""
        hello = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": {"name": "toolsrv-python", "version": "1"}}
        request = Request(hello, {}, self._start_timeout_s)
        try:
            answer = self._post(None, "initialize", request)
        except ToolError as error:
            if isinstance(error, (ConnectFailed, CallTimeout, StartFailed)):
                raise
            raise StartFailed(error.message) from error
        if isinstance(answer.get("error"), Mapping):
            raise StartFailed(rpc_error(answer["error"], None).message)
        result = answer.get("result")
        if not isinstance(result, Mapping) or result.get("protocolVersion") != PROTOCOL_VERSION:
            raise ProtocolError("what answers at this URL is not an MCP server of this version")

    def call(self, tool: str, prepare: Callable[[], Request]) -> Mapping[str, Any]:
        return self._post(tool, "tools/call", prepare())

    async def acall(self, tool: str, prepare: Callable[[], Request]) -> Mapping[str, Any]:
        request = prepare()
        number, content, headers = self._outgoing("tools/call", request)
        reader = _AnswerReader(number, tool)
        try:
            async with asyncio.timeout(request.timeout_s) if hasattr(asyncio, "timeout") else _timeout(request.timeout_s):
                async with self._async_client().stream("POST", self._endpoint, content=content, headers=headers, timeout=None) as response:
                    reader.head(response)
                    async for chunk in response.aiter_bytes():
                        if reader.feed(chunk):
                            break
                return reader.end()
        except (TimeoutError, asyncio.TimeoutError):
            raise CallTimeout(f"no answer within {request.timeout_s:g} s", tool=tool) from None
        except httpx.HTTPError as error:
            raise _network_error(error, tool) from None

    def _post(self, tool: str | None, method: str, request: Request) -> Mapping[str, Any]:
        number, content, headers = self._outgoing(method, request)
        reader = _AnswerReader(number, tool)
        ends = time.monotonic() + request.timeout_s
        try:
            with self._client.stream("POST", self._endpoint, content=content, headers=headers, timeout=request.timeout_s) as response:
                reader.head(response)
                for chunk in response.iter_bytes():
                    if time.monotonic() > ends:
                        raise CallTimeout(f"no whole answer within {request.timeout_s:g} s", tool=tool)
                    if reader.feed(chunk):
                        break
            self._session = reader.session or self._session
            return reader.end()
        except httpx.HTTPError as error:
            raise _network_error(error, tool) from None

    def _outgoing(self, method: str, request: Request) -> tuple[int, bytes, dict[str, str]]:
        if self._closed:
            raise ServerDied("the connection was closed")
        with self._lock:
            self._number += 1
            number = self._number
        headers = {**self._headers, "content-type": "application/json", "accept": "application/json, text/event-stream", **{name.lower(): value for name, value in request.headers.items()}}
        if method != "initialize":
            headers["mcp-protocol-version"] = PROTOCOL_VERSION
        if self._session is not None:
            headers["mcp-session-id"] = self._session
        token = self._token() if callable(self._token) else self._token
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return number, message_line({"jsonrpc": "2.0", "id": number, "method": method, "params": request.params}), headers

    def _async_client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._async.get(loop)
            if client is None:
                client = self._async[loop] = httpx.AsyncClient(**self._options)
            return client

    def close(self) -> None:
        self._closed = True
        self._client.close()

    async def aclose(self) -> None:
        self.close()
        client = self._async.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncIterator[None]:
    """asyncio.timeout for Python 3.10."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    fired = False

    def fire() -> None:
        nonlocal fired
        fired = True
        if task is not None:
            task.cancel()

    handle = loop.call_later(seconds, fire)
    try:
        yield
    except asyncio.CancelledError:
        if fired:
            raise asyncio.TimeoutError from None
        raise
    finally:
        handle.cancel()


class _AnswerReader:
    """Reads one answer, as JSON or as an event stream, and turns every status into an answer or an error."""

    def __init__(self, number: int, tool: str | None) -> None:
        self._number = number
        self._tool = tool
        self._chunks: list[bytes] = []
        self._size = 0
        self._events: _Events | None = None
        self._found: Mapping[str, Any] | None = None
        self._status = 0
        self._retry_after: str | None = None
        self.session: str | None = None

    def head(self, response: httpx.Response) -> None:
        self._status = response.status_code
        self._retry_after = response.headers.get("retry-after")
        self.session = response.headers.get("mcp-session-id")
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            self._events = _Events()

    def feed(self, chunk: bytes) -> bool:
        """Takes bytes; True when the answer is complete."""
        self._size += len(chunk)
        if self._size > MAX_ANSWER_BYTES:
            raise ProtocolError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
        if self._events is None:
            self._chunks.append(chunk)
            return False
        for data in self._events.feed(chunk):
            message = _json(data)
            if isinstance(message, Mapping) and message.get("id") == self._number and "method" not in message:
                self._found = message
                return True
        return False

    def end(self) -> Mapping[str, Any]:
        message = self._found if self._events is not None else _json(b"".join(self._chunks))
        if isinstance(message, Mapping) and ("result" in message or isinstance(message.get("error"), Mapping)) and message.get("jsonrpc") == "2.0":
            if self._status < 400 and message.get("id") != self._number:
                raise ProtocolError("the answer belongs to another request")
            return message
        raise self._refusal(message)

    def _refusal(self, body: Any) -> ToolError:
        if self._status < 400:
            if self._events is not None:
                return ServerDied("the connection ended before the answer")
            return ProtocolError(f"the answer (status {self._status}) is not a JSON-RPC message")
        error = body.get("error") if isinstance(body, Mapping) else None
        error = error if isinstance(error, Mapping) else {}
        default = {401: "auth_error", 403: "auth_error", 404: "not_found", 429: "rate_limited", 503: "unavailable"}.get(self._status, "http_error")
        code = error.get("code") if isinstance(error.get("code"), str) else default
        message = error.get("message") or f"the server answered with status {self._status}"
        details: dict[str, Any] = {"status": self._status}
        if self._retry_after is not None:
            details["retry_after"] = self._retry_after
        return ToolError(str(code), str(message), retryable=self._status in (429, 502, 503, 504), tool=self._tool, details=details)


class _Events:
    """The data of server-sent events, from bytes in any pieces."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                data, self._data = b"\n".join(self._data), []
                yield data


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _network_error(error: httpx.HTTPError, tool: str | None) -> ToolError:
    made: ToolError
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        made = ConnectFailed(f"the server cannot be reached: {error or type(error).__name__}")
    elif isinstance(error, httpx.TimeoutException):
        made = CallTimeout("no answer before the deadline")
    elif isinstance(error, httpx.LocalProtocolError):
        made = ToolError("invalid_request", "a header or the token holds what cannot be sent")
    else:
        made = ServerDied(f"the connection ended before the answer ({type(error).__name__})")
    made.tool = tool
    return made
