"""Calls over the standard streams of a server that this package starts: one JSON message per line."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from .errors import CallTimeout, ProtocolError, ServerDied, StartFailed, ToolError
from .process import Outcome, ServerProcess
from .protocol import CALLER_KEY, PROTOCOL_VERSION, Request, rpc_error


class StdioTransport:
    """Calls over the standard streams of a server that this package starts, and starts anew after it has died."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str | None, start_timeout_s: float, on_log: Callable[[str], object] | None) -> None:
        self._command = list(command)
        self._env = dict(env)
        self._cwd = cwd
        self._start_timeout_s = start_timeout_s
        self._on_log = on_log
        self._starting = threading.Lock()
        self._starter = os.getpid()
        self._child: ServerProcess | None = None
        self._finalizer: weakref.finalize[[], StdioTransport] | None = None
        self._closed = False
        #: The server believes what it is told of the caller.
        self.embedded = False

    @property
    def pid(self) -> int | None:
        """The process of the server, while there is one."""
        child = self._child
        return child.process.pid if child is not None and child.usable else None

    def start(self) -> ServerProcess:
        """The running server; starts one where there is none."""
        child = self._child
        if child is not None and child.usable:
            return child
        if self._starter != os.getpid():
            # The lock may have been held when this process was forked.
            self._starting, self._starter = threading.Lock(), os.getpid()
        with self._starting:
            if self._closed:
                raise ServerDied("the connection was closed")
            if self._child is not None and self._child.usable:
                return self._child
            child = ServerProcess(self._command, self._env, self._cwd, self._on_log)
            if self._finalizer is not None:
                self._finalizer.detach()
            self._finalizer = weakref.finalize(self, child.stop)
            try:
                self.embedded = self._handshake(child)
            except BaseException:
                child.stop()
                raise
            self._child = child
            return child

    def _handshake(self, child: ServerProcess) -> bool:
        hello = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": {"name": "toolsrv-python", "version": "1"}}
        answer: Future[Outcome] = Future()
        number = child.send({"method": "initialize", "params": hello}, answer.set_result)
        try:
            outcome = answer.result(self._start_timeout_s)
        except FutureTimeout:
            child.forget(number, "timeout")
            raise StartFailed(f"the server did not answer within {self._start_timeout_s:g} s", stderr=child.tail.text()) from None
        if isinstance(outcome, ToolError):
            stderr = child.tail.text()
            raise StartFailed(f"{outcome.message}\n{stderr}" if "\n" in stderr else outcome.message, stderr=stderr)
        if isinstance(outcome.get("error"), Mapping):
            raise StartFailed(rpc_error(outcome["error"], None).message, stderr=child.tail.text())
        result = outcome.get("result")
        if not isinstance(result, Mapping) or result.get("protocolVersion") != PROTOCOL_VERSION:
            raise ProtocolError("what was started is not an MCP server of this version")
        child.notify("notifications/initialized", {})
        capabilities = result.get("capabilities")
        experimental = capabilities.get("experimental") if isinstance(capabilities, Mapping) else None
        return isinstance(experimental, Mapping) and CALLER_KEY in experimental

    def call(self, tool: str, prepare: Callable[[], Request]) -> Mapping[str, Any]:
        """Sends a tools/call and waits for its answer."""
        child = self.start()
        request = prepare()
        answer: Future[Outcome] = Future()
        number = child.send({"method": "tools/call", "params": request.params}, answer.set_result)
        try:
            outcome = answer.result(request.timeout_s)
        except FutureTimeout:
            child.forget(number, "timeout")
            raise _late(tool, request) from None
        except BaseException:
            # Ctrl-C, for example.
            child.forget(number, "cancelled")
            raise
        return _returned(outcome, tool)

    async def acall(self, tool: str, prepare: Callable[[], Request]) -> Mapping[str, Any]:
        """``call`` without blocking the event loop; a cancelled task cancels the call in the server."""
        child = self._child
        if child is None or not child.usable:
            child = await asyncio.to_thread(self.start)
        request = prepare()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Outcome] = loop.create_future()

        def settle(outcome: Outcome) -> None:
            if not answer.done():
                answer.set_result(outcome)

        def done(outcome: Outcome) -> None:
            try:
                loop.call_soon_threadsafe(settle, outcome)
            except RuntimeError:
                pass  # The loop was closed; nobody waits.

        number = child.send({"method": "tools/call", "params": request.params}, done)
        try:
            outcome = await asyncio.wait_for(answer, request.timeout_s)
        except (TimeoutError, asyncio.TimeoutError):
            child.forget(number, "timeout")
            raise _late(tool, request) from None
        except BaseException:
            child.forget(number, "cancelled")
            raise
        return _returned(outcome, tool)

    def close(self) -> None:
        """Ends the server. Calls that wait fail with ServerDied."""
        self._closed = True
        if self._finalizer is not None:
            self._finalizer()

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)


def _late(tool: str, request: Request) -> CallTimeout:
    return CallTimeout(f"no answer within {request.timeout_s:g} s", tool=tool)


def _returned(outcome: Outcome, tool: str) -> Mapping[str, Any]:
    if isinstance(outcome, ToolError):
        outcome.tool = tool
        raise outcome
    return outcome
