"""Who calls, stated by the application after it has authenticated the caller. A model never sees or writes any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from .errors import ContextRefused

#: Key under which a framework's per-run configuration carries the context.
CONTEXT_KEY = "call_context"


class CallContext(BaseModel):
    """The caller of one call.

    A server that this package starts believes all of it. A server behind a URL authenticates its callers itself: there
    only ``tenant`` (where the catalog takes it from a header) and ``deadline_s`` can be sent, and everything else is
    refused before anything is called.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    principal: str | None = None
    claims: dict[str, Any] | None = None
    roles: list[str] | None = None
    tenant: str | None = Field(default=None, validation_alias=AliasChoices("tenant", "tenant_value"))
    deadline_s: float | None = Field(default=None, gt=0, le=86_400, allow_inf_nan=False)
    request_id: str | None = Field(default=None, pattern=r"^[\x21-\x7e]{1,128}$")

    def stated(self) -> dict[str, Any]:
        """The context as the server reads it."""
        return {name: value for name, value in self if value is not None}


#: A context, or what makes one for each call, such as a function that reads a context variable.
ContextSource = Union[CallContext, Callable[[], "CallContext | None"], None]


def read_context(value: object) -> CallContext | None:
    """A context as given by application code: a CallContext, a mapping of its fields, or None.

    Anything else is an error, because a call without its context would run as somebody else.
    """
    if value is None or isinstance(value, CallContext):
        return value
    if not isinstance(value, Mapping):
        raise ContextRefused(f"a context is a CallContext or a mapping of its fields, not {type(value).__name__}")
    try:
        return CallContext.model_validate(dict(value))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}" for problem in error.errors())
        raise ContextRefused(f"the context is not usable: {problems}") from None


def resolve_context(source: ContextSource) -> CallContext | None:
    """The context of the call that is made now."""
    if source is None or isinstance(source, CallContext):
        return source
    return read_context(source() if callable(source) else source)
