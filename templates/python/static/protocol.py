"""What goes over the wire, whatever carries it: definitions of tools, requests, answers and results."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from .context import CallContext
from .errors import CallTimeout, ContextRefused, ProtocolError, ToolError

#: The newest protocol version with a handshake.
PROTOCOL_VERSION = "2025-11-25"
#: Member of ``_meta`` that states the caller, and the capability of a server that reads it.
CALLER_KEY = "toolsrv/caller"
#: Longest message that a server reads, in bytes.
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
#: Seconds between the deadline that the server keeps and the one that is kept here, in case it does not.
GRACE_S = 5.0


class Row(BaseModel):
    """One row. Fields that the catalog projects are attributes; ``row["name"]`` reads any field by its own name.

    Types of fields come from the catalog's parameters. A store may hold something else: such a row keeps its values as
    they are.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, protected_namespaces=())

    _wire: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self._wire[name]

    def __contains__(self, name: object) -> bool:
        return name in self._wire

    @property
    def wire(self) -> Mapping[str, Any]:
        """The row as the server sent it."""
        return self._wire


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Tenancy:
    """Where the tenant of a tool comes from: a claim or a header of the caller."""

    source: Literal["claim", "header"]
    header: str | None = None
    encoding: Literal["plain", "percent", "base64url"] = "plain"


@dataclass(frozen=True)
class Tool(Generic[R]):
    """A tool of the catalog, as a model sees it, and what a client must know to call it."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    row: type[R]
    deadline_s: float
    tenancy: Tenancy | None = None
    #: The catalog that has the tool, where the server has several.
    project: str | None = None


@dataclass(frozen=True)
class Result(Generic[R]):
    """The result of a call. ``envelope`` is the same as the server sent it."""

    rows: list[R]
    count: int
    truncated: bool
    may_be_incomplete: bool
    exact_search: bool
    search_mode: str
    warnings: list[str]
    latency_ms: float
    compiled_query: Any
    message: str | None
    envelope: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One tools/call, ready to be sent."""

    params: dict[str, Any]
    #: Headers of this call; only over HTTP.
    headers: dict[str, str]
    #: Seconds after which the caller stops waiting.
    timeout_s: float


def arguments_of(arguments: Mapping[str, Any] | BaseModel | None) -> dict[str, Any]:
    """Arguments by their names in the catalog; those that are None count as absent."""
    given = arguments.model_dump(by_alias=True) if isinstance(arguments, BaseModel) else (arguments or {})
    return {name: list(value) if isinstance(value, (tuple, set, frozenset)) else value for name, value in given.items() if value is not None}


def stdio_request(tool: Tool[R], arguments: dict[str, Any], context: CallContext | None, *, embedded: bool) -> Request:
    """The call to a server that this package started, which believes what it is told of the caller."""
    params: dict[str, Any] = {"name": tool.name, "arguments": arguments}
    stated = {} if context is None else context.stated()
    if stated and embedded:
        params["_meta"] = {CALLER_KEY: stated}
    elif stated.keys() - {"deadline_s", "request_id"}:
        raise ContextRefused("this server does not take callers from the program that starts it; start it with --embedded", tool=tool.name)
    deadline_s = context.deadline_s if context is not None and context.deadline_s is not None else tool.deadline_s
    return Request(params, {}, deadline_s + (GRACE_S if embedded or context is None else 0.0))


def http_request(tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Request:
    """The call to a server behind a URL, which authenticates its callers itself."""
    params: dict[str, Any] = {"name": tool.name, "arguments": arguments}
    if context is None:
        return Request(params, {}, tool.deadline_s + GRACE_S)
    stated = [name for name in ("principal", "claims", "roles") if getattr(context, name) is not None]
    if stated:
        raise ContextRefused(f"over HTTP the server takes {' and '.join(stated)} from the caller's credentials; connect with the token of this caller", tool=tool.name)
    headers = {}
    if context.tenant is not None and tool.tenancy is not None:
        if tool.tenancy.source != "header" or tool.tenancy.header is None:
            raise ContextRefused("over HTTP the server takes the tenant from a claim of the caller's credentials; connect with the token of this caller", tool=tool.name)
        headers[tool.tenancy.header] = header_value(context.tenant, tool.tenancy.encoding, tool.name)
    timeout_s = tool.deadline_s + GRACE_S
    return Request(params, headers, timeout_s if context.deadline_s is None else min(context.deadline_s, timeout_s))


def header_value(value: str, encoding: str, tool: str) -> str:
    """A tenant as its header is written."""
    try:
        if encoding == "percent":
            return quote(value, safe="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~")
        if encoding == "base64url":
            return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")
    except UnicodeEncodeError:
        raise ContextRefused("the tenant is not text that can be sent", tool=tool) from None
    # A space at either end would be lost on the way, and another tenant would be asked for.
    if re.fullmatch(r"[\x20-\x7e]*", value) is None or value != value.strip():
        raise ContextRefused("the tenant is not plain ASCII, which its header must be; see security.tenancy.header_encoding", tool=tool)
    return value


def message_line(message: Mapping[str, Any]) -> bytes:
    """A message as one line of ASCII: also a lone surrogate is written, as an escape."""
    try:
        line = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("invalid_arguments", f"the arguments cannot be written as JSON: {error}") from None
    if len(line) > MAX_MESSAGE_BYTES:
        # The server would refuse it without saying which call it was.
        raise ToolError("invalid_arguments", f"the call is larger than {MAX_MESSAGE_BYTES} bytes")
    return line


def read_result(tool: Tool[R], message: Mapping[str, Any]) -> Result[R]:
    """The result of a call, or its failure as an exception."""
    error = message.get("error")
    if isinstance(error, Mapping):
        raise rpc_error(error, tool.name)
    result = message.get("result")
    if not isinstance(result, Mapping):
        raise ProtocolError("the answer has neither a result nor an error")
    payload = result.get("structuredContent")
    if not isinstance(payload, Mapping):
        payload = _content_json(result)
    if result.get("isError") is True:
        failure = payload.get("error") if isinstance(payload, Mapping) else None
        if not isinstance(failure, Mapping):
            raise ToolError("tool_error", _content_text(result) or "the tool failed without a message", tool=tool.name)
        raise failure_error(failure, tool.name)
    if not isinstance(payload, Mapping) or not isinstance(payload.get("rows"), list):
        raise ProtocolError(f"the result of {tool.name} is no envelope with rows")
    return Result(
        rows=[read_row(tool.row, row) for row in payload["rows"]],
        count=payload.get("count", len(payload["rows"])),
        truncated=payload.get("truncated", False),
        may_be_incomplete=payload.get("may_be_incomplete", False),
        exact_search=payload.get("exact_search", False),
        search_mode=payload.get("search_mode", "none"),
        warnings=payload.get("warnings", []),
        latency_ms=payload.get("latency_ms", 0),
        compiled_query=payload.get("compiled_query"),
        message=payload.get("message"),
        envelope=payload,
    )


def read_row(model: type[R], wire: Any) -> R:
    """One row; values of other types than the catalog suggests are kept as they are."""
    if not isinstance(wire, Mapping):
        raise ProtocolError("a row is an object")
    try:
        row = model.model_validate(wire, strict=True)
    except ValidationError:
        # Names of the method's own parameters stay readable as row["name"].
        row = model.model_construct(**{name: value for name, value in wire.items() if name not in ("cls", "_fields_set")})
    row._wire = wire
    return row


def failure_error(failure: Mapping[str, Any], tool: str) -> ToolError:
    """A failed call, as the server words it for the model."""
    code, message = str(failure.get("code", "tool_error")), str(failure.get("message", ""))
    details = {key: value for key, value in failure.items() if key not in ("code", "message", "retryable", "tool")}
    named = failure.get("tool")
    tool = named if isinstance(named, str) else tool
    if code == "timeout":
        return CallTimeout(message, tool=tool, details=details)
    return ToolError(code, message, retryable=failure.get("retryable") is True, tool=tool, details=details)


def rpc_error(error: Mapping[str, Any], tool: str | None) -> ToolError:
    """An error of the protocol, or a refusal that has a status over HTTP."""
    data = error.get("data")
    data = dict(data) if isinstance(data, Mapping) else {}
    code = data.pop("code", None)
    if not isinstance(code, str):
        code = {-32602: "invalid_request", -32601: "invalid_request", -32600: "invalid_request", -32603: "internal"}.get(error.get("code", 0), "protocol_error")
    return ToolError(code, str(error.get("message", "")), retryable=code == "rate_limited", tool=tool, details=data)


def _content_text(result: Mapping[str, Any]) -> str | None:
    content = result.get("content")
    if not isinstance(content, list) or not content or not isinstance(content[0], Mapping):
        return None
    text = content[0].get("text")
    return text if isinstance(text, str) else None


def _content_json(result: Mapping[str, Any]) -> Any:
    text = _content_text(result)
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
