"""Every way in which a call can fail, as one tree of exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ToolError(Exception):
    """A call that failed. ``except ToolError`` catches everything that this package raises for a call.

    ``code`` is stable and meant for programs, ``message`` for people and models. ``retryable`` says whether the same
    call may succeed later; ``details`` has what else the server said, such as ``retry_after_s``.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False, tool: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.retryable = retryable
        self.tool = tool
        self.details: dict[str, Any] = dict(details or {})

    def as_json(self) -> dict[str, Any]:
        """The error as an MCP client would receive it; what a model is shown."""
        return {"error": {**self.details, "code": self.code, "message": self.message, "retryable": self.retryable, "tool": self.tool}}


class CallTimeout(ToolError):
    """The deadline of a call passed, here or in the server."""

    def __init__(self, message: str, *, tool: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__("timeout", message, retryable=True, tool=tool, details=details)


class UnknownTool(ToolError, KeyError):
    """The catalog has no tool of this name."""

    def __init__(self, name: str, names: list[str]) -> None:
        super().__init__("unknown_tool", f"no tool {name[:128]!r}; the catalog has {', '.join(names) or 'none'}", tool=name[:128])

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class ContextRefused(ToolError, ValueError):
    """The context of a call cannot be sent this way. Nothing was called."""

    def __init__(self, message: str, *, tool: str | None = None) -> None:
        super().__init__("context_refused", message, tool=tool)


class StartFailed(ToolError):
    """The server could not be started, or refused the connection. ``stderr`` has its last lines."""

    def __init__(self, message: str, *, stderr: str = "") -> None:
        super().__init__("start_failed", message)
        self.stderr = stderr


class ServerDied(ToolError):
    """The server, or the connection to it, ended before the answer. The next call starts or connects anew."""

    def __init__(self, message: str, *, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__("server_died", message, retryable=True)
        self.exit_code = exit_code
        self.stderr = stderr


class ConnectFailed(ToolError):
    """The server at a URL cannot be reached."""

    def __init__(self, message: str) -> None:
        super().__init__("unreachable", message, retryable=True)


class ProtocolError(ToolError):
    """The other end sent what is not an answer of this protocol."""

    def __init__(self, message: str) -> None:
        super().__init__("protocol_error", message)
