"""A server as a child process: bytes in, messages out.

Three threads move bytes and know no event loop, so the same child serves synchronous callers, any number of threads and
one event loop after another. The child ends with this process, whatever ends that: its input is closed then, which
ends the server, and an orderly exit waits for it and kills it if it does not end.
"""

from __future__ import annotations

import io
import json
import os
import queue
import re
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from .errors import ServerDied, StartFailed, ToolError
from .protocol import message_line

#: Last lines of the server's standard error that an exception shows, in characters.
STDERR_SHOWN = 4_000
#: Seconds that the server has for ending by itself, and again after SIGTERM.
CLOSE_GRACE_S = 1.0

Outcome = Union[Mapping[str, Any], ToolError]


class _Tail:
    """The last lines of a stream, bounded."""

    def __init__(self, on_log: Callable[[str], object] | None) -> None:
        self._lines: deque[str] = deque(maxlen=100)
        self._on_log = on_log

    def add(self, raw: bytes) -> None:
        # What a terminal would obey is not text.
        line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", raw.decode("utf-8", "replace").rstrip("\r\n"))[:STDERR_SHOWN]
        self._lines.append(line)
        if self._on_log is not None:
            try:
                self._on_log(line)
            except Exception:
                # A log that fails must not stop the stream: the server would wait for ever with a full pipe.
                self._on_log = None

    def text(self) -> str:
        return "\n".join(self._lines)[-STDERR_SHOWN:].strip()


class ServerProcess:
    """One running server. Threads hold this object and never the transport, so that a forgotten transport is collected."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: str | None, on_log: Callable[[str], object] | None) -> None:
        self.owner = os.getpid()
        self.dead: ToolError | None = None
        self.closing = False
        self._lock = threading.Lock()
        self._pending: dict[int, Callable[[Outcome], None]] = {}
        self._next_id = 0
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.tail = _Tail(on_log)
        # A session of its own: Ctrl-C in a terminal is for this process, and a wrapper ends together with its server.
        session: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        try:
            self.process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, env=dict(env), cwd=cwd, **session)
        except OSError as error:
            raise StartFailed(f"cannot start {command[0]!r}: {error.strerror or error}") from None
        _RUNNING.add(self)
        self._threads = [threading.Thread(target=target, name=f"toolsrv-{self.process.pid}-{name}", daemon=True) for name, target in (("read", self._read), ("write", self._write), ("log", self._drain))]
        for thread in self._threads:
            thread.start()

    @property
    def usable(self) -> bool:
        return self.dead is None and not self.closing and self.owner == os.getpid()

    def send(self, message: dict[str, Any], done: Callable[[Outcome], None]) -> int:
        """Queues a request; ``done`` is called once, on a thread of the child, unless the request is forgotten first."""
        with self._lock:
            if self.dead is not None:
                raise self.dead.with_traceback(None)
            self._next_id += 1
            number = self._next_id
            line = message_line({"jsonrpc": "2.0", "id": number, **message})
            self._pending[number] = done
        self._outbox.put(line)
        return number

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._outbox.put(message_line({"jsonrpc": "2.0", "method": method, "params": params}))

    def forget(self, number: int, reason: str) -> None:
        """Nobody waits for this answer any more; the server stops working on it."""
        with self._lock:
            known = self._pending.pop(number, None)
        if known is not None:
            self.notify("notifications/cancelled", {"requestId": number, "reason": reason})

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        try:
            with io.BufferedReader(stdout, 1 << 16) as lines:  # type: ignore[type-var]
                for line in lines:
                    self._take(line)
        except (OSError, ValueError):
            pass
        self._end()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            # A wrapper printed something; it may say why the server does not come.
            if line.strip():
                self.tail.add(line[:STDERR_SHOWN])
            return
        if not isinstance(message, dict):
            return
        if "method" in message:
            if "id" in message:
                answer: dict[str, Any] = {"result": {}} if message["method"] == "ping" else {"error": {"code": -32601, "message": "method not found"}}
                self._outbox.put(message_line({"jsonrpc": "2.0", "id": message["id"], **answer}))
            return
        number = message.get("id")
        with self._lock:
            done = self._pending.pop(number, None) if type(number) is int else None
        if done is not None:
            done(message)

    def _write(self) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            while (line := self._outbox.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[stdin.write(view) :]
        except (OSError, ValueError):
            # The server does not read any more. It is of no use, and the reader reports its end.
            self._signal(signal.SIGTERM)
        finally:
            try:
                stdin.close()
            except OSError:
                pass

    def _drain(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        try:
            with io.BufferedReader(stderr, 1 << 13) as lines:  # type: ignore[type-var]
                while line := lines.readline(1 << 16):
                    self.tail.add(line)
        except (OSError, ValueError):
            pass

    def _end(self) -> None:
        """The server has closed its output: it is ended for good, and everybody who waits is told."""
        try:
            self.process.wait(CLOSE_GRACE_S)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
            self.process.wait()
        # Standard error may still hold the reason; a process that inherited it must not delay the answer.
        self._threads[2].join(0.5)
        self._outbox.put(None)
        code = self.process.returncode
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        stderr = self.tail.text()
        last = stderr.splitlines()[-1] if stderr else ""
        why = "the connection was closed" if self.closing else f"the server ended with {how}" + (f": {last}" if last else "")
        with self._lock:
            self.dead = ServerDied(why, exit_code=code, stderr=stderr)
            pending, self._pending = list(self._pending.values()), {}
        for done in pending:
            # One exception for each caller: a shared one would collect the tracebacks of all.
            done(ServerDied(why, exit_code=code, stderr=stderr))
        _RUNNING.discard(self)

    def _signal(self, number: int, *, even_if_ended: bool = False) -> None:
        if not even_if_ended and self.process.poll() is not None:
            return
        try:
            if os.name == "posix":
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()
        except (OSError, PermissionError):
            pass

    def stop(self) -> None:
        """Ends the server: its input is closed, then SIGTERM, then SIGKILL. Never raises; does nothing in a fork."""
        if self.owner != os.getpid():
            return
        self.closing = True
        self._outbox.put(None)
        for number in (signal.SIGTERM, signal.SIGKILL if os.name == "posix" else signal.SIGTERM):
            try:
                self.process.wait(CLOSE_GRACE_S)
                break
            except subprocess.TimeoutExpired:
                self._signal(number)
        reader = self._threads[0]
        if reader is threading.current_thread():
            return
        reader.join(CLOSE_GRACE_S)
        if reader.is_alive():
            # What was started has ended, and a process of its own still holds the pipes: a wrapper left its server behind.
            self._signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM, even_if_ended=True)
            reader.join(CLOSE_GRACE_S)


_RUNNING: weakref.WeakSet[ServerProcess] = weakref.WeakSet()
#: Children of the process that this one was forked from. Kept, because closing their streams twice could close others.
_FORKED: list[ServerProcess] = []


def _after_fork() -> None:
    """A fork shares the pipes: it closes its copies, so that the server still ends when the process that started it does."""
    for child in list(_RUNNING):
        _FORKED.append(child)
        for stream in (child.process.stdin, child.process.stdout, child.process.stderr):
            try:
                if stream is not None:
                    os.close(stream.fileno())
            except (OSError, ValueError):
                pass
        # Not a child of this process: waiting for it would fail.
        child.process.returncode = 0
    _RUNNING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
