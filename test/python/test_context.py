"""Who calls: what may be stated to which server, and what comes of it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import FAKE_SERVER, Served


@pytest.fixture(params=["header", "claim"])
def notes(request: pytest.FixtureRequest, tenants: Path) -> Any:
    """The module and a connection to its own server."""
    package: Any = __import__(f"{request.param}_notes")
    with package.connect(env={"STORE_DB": str(tenants / "notes.db")}) as catalog:
        yield package, catalog


def orgs(result: Any) -> set[str]:
    return {row["org"] for row in result.rows}


def test_a_stated_tenant_sees_its_own_rows_whatever_the_catalog_takes_it_from(notes: Any) -> None:
    package, catalog = notes
    for org, count in (("acme", 2), ("globex", 1), ("über", 1)):
        context = package.CallContext(tenant=org, roles=["reader"])
        assert orgs(catalog.tools.list_notes(context=context)) == {org}
        assert catalog.tools.count_notes(context=context).count == count


def test_without_a_tenant_every_call_is_refused(notes: Any) -> None:
    package, catalog = notes
    for context in (None, package.CallContext(), package.CallContext(roles=["reader"]), package.CallContext(tenant="", roles=["reader"])):
        with pytest.raises(package.ToolError) as caught:
            catalog.tools.count_notes(context=context)
        assert caught.value.code == "auth_error"


def test_an_argument_that_names_another_tenant_is_refused(notes: Any) -> None:
    package, catalog = notes
    with pytest.raises(package.ToolError) as caught:
        catalog.tools.list_notes(org="globex", context=package.CallContext(tenant="acme", roles=["reader"]))
    assert caught.value.code == "VB4010"


def test_roles_decide_what_may_be_called(notes: Any) -> None:
    package, catalog = notes
    assert catalog.tools.count_notes(context=package.CallContext(tenant="acme")).count == 2
    with pytest.raises(package.ToolError, match="not permitted"):
        catalog.tools.list_notes(context=package.CallContext(tenant="acme"))
    with pytest.raises(package.ToolError, match="not permitted"):
        catalog.tools.list_notes(context=package.CallContext(tenant="acme", roles=[]))


def test_tenants_side_by_side_never_see_each_others_rows(notes: Any) -> None:
    package, catalog = notes
    names = ["acme", "globex", "über"] * 34

    async def everything() -> list[Any]:
        return await asyncio.gather(*(catalog.aio.list_notes(context=package.CallContext(tenant=name, roles=["reader"])) for name in names))

    for name, result in zip(names, asyncio.run(everything())):
        assert orgs(result) == {name}


def test_a_context_can_be_bound_or_made_for_each_call(notes: Any) -> None:
    package, catalog = notes
    acme = catalog.bound(package.CallContext(tenant="acme", roles=["reader"]))
    assert orgs(acme.tools.list_notes()) == {"acme"}
    assert orgs(acme.tools.list_notes(context=package.CallContext(tenant="globex", roles=["reader"]))) == {"globex"}
    current: contextvars.ContextVar[Any] = contextvars.ContextVar("current", default=None)
    mine = catalog.bound(current.get)
    with pytest.raises(package.ToolError):
        mine.tools.list_notes()
    current.set(package.CallContext(tenant="globex", roles=["reader"]))
    assert orgs(mine.tools.list_notes()) == {"globex"}


def test_a_mapping_is_a_context_too_and_anything_else_is_an_error(notes: Any) -> None:
    package, catalog = notes
    assert orgs(catalog.call("list_notes", None, {"tenant": "acme", "roles": ["reader"]})) == {"acme"}
    for wrong in ("acme", 5, {"tenat": "acme"}):
        with pytest.raises(package.ContextRefused):
            catalog.call("list_notes", None, wrong)


def test_a_context_is_stated_whole_and_only_in_meta(movies: Path) -> None:
    import toolsrv_catalog

    context = toolsrv_catalog.CallContext(principal="ada", claims={"team": "red"}, roles=["reader"], tenant="acme", deadline_s=5, request_id="r-1")
    with toolsrv_catalog.connect(server=[sys.executable, str(FAKE_SERVER)]) as catalog:
        meta = json.loads(catalog.tools.search_movies(query="meta", context=context).rows[0].title)
        assert meta == {"toolsrv/caller": {"principal": "ada", "claims": {"team": "red"}, "roles": ["reader"], "tenant": "acme", "deadline_s": 5, "request_id": "r-1"}}
        assert json.loads(catalog.tools.search_movies(query="meta").rows[0].title) is None


def test_a_server_that_would_ignore_a_caller_is_never_told_one(movies: Path) -> None:
    import toolsrv_catalog

    with toolsrv_catalog.connect(server=[sys.executable, str(FAKE_SERVER), "plain"]) as catalog:
        for stated in ({"tenant": "acme"}, {"principal": "ada"}, {"roles": []}, {"claims": {}}):
            with pytest.raises(toolsrv_catalog.ContextRefused, match="--embedded"):
                catalog.tools.search_movies(query="meta", context=toolsrv_catalog.CallContext(**stated))
        assert catalog.tools.search_movies(query="meta", context=toolsrv_catalog.CallContext(deadline_s=5)).count == 1


WRONG: list[dict[str, Any]] = [
    {"tenat": "acme"}, {"tenant": 5}, {"tenant": ["a"]}, {"roles": "reader"}, {"claims": []}, {"deadline_s": 0}, {"deadline_s": float("nan")}, {"deadline_s": "5"},
    {"request_id": "a b"}, {"request_id": "a\n"}, {"request_id": "x" * 129}, {"principal": b"x"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_context_that_cannot_be_read_whole_is_an_error(movies: Path, wrong: dict[str, Any]) -> None:
    from toolsrv_catalog import ContextRefused
    from toolsrv_catalog.context import read_context

    with pytest.raises(ContextRefused) as caught:
        read_context(wrong)
    assert "acme" not in str(caught.value)


def test_the_older_name_of_the_tenant_is_read_too(movies: Path) -> None:
    from toolsrv_catalog.context import read_context

    context = read_context({"tenant_value": "acme"})
    assert context is not None and context.tenant == "acme"


def test_over_http_a_tenant_of_a_header_is_sent_in_its_encoding(tenants: Path, serve: Callable[..., Served]) -> None:
    import header_notes

    keys = tenants / "keys.json"
    keys.write_text(json.dumps({"key-of-ada": {"principal": "ada", "claims": {"roles": ["reader"]}}}))
    (tenants / "load.env").write_text(f"STORE_DB={tenants / 'notes.db'}\n")
    served = serve(tenants / "out-header" / "server.js", "--auth", "api_key", "--api-keys-file", str(keys), "--env", str(tenants / "load.env"))
    with header_notes.connect(url=served.url, token="key-of-ada") as catalog:
        for org in ("acme", "globex", "über"):
            assert orgs(catalog.tools.list_notes(context=header_notes.CallContext(tenant=org))) == {org}
        with pytest.raises(header_notes.ToolError) as caught:
            catalog.tools.list_notes()
        assert caught.value.code == "auth_error"
        assert catalog.tools.list_notes(context=header_notes.CallContext(tenant="acme\r\nX-Org: globex")).count == 0


def test_over_http_who_calls_is_decided_by_the_token_alone(tenants: Path, serve: Callable[..., Served]) -> None:
    import claim_notes

    keys = tenants / "claim-keys.json"
    keys.write_text(json.dumps({f"key-of-{org}": {"principal": org, "claims": {"roles": ["reader"], "org": org}} for org in ("acme", "globex")}))
    served = serve(tenants / "out-claim" / "server.js", "--auth", "api_key", "--api-keys-file", str(keys), "--env", str(tenants / "load.env"))
    token = ["key-of-acme"]
    with claim_notes.connect(url=served.url, token=lambda: token[0]) as catalog:
        assert orgs(catalog.tools.list_notes()) == {"acme"}
        token[0] = "key-of-globex"
        assert orgs(catalog.tools.list_notes()) == {"globex"}
        for stated in ({"tenant": "acme"}, {"principal": "ada"}, {"roles": ["reader"]}, {"claims": {"org": "acme"}}):
            with pytest.raises(claim_notes.ContextRefused, match="over HTTP the server takes"):
                catalog.tools.list_notes(context=claim_notes.CallContext(**stated))
        token[0] = "key-of-nobody"
        with pytest.raises(claim_notes.ToolError) as caught:
            catalog.tools.list_notes()
        assert (caught.value.code, caught.value.retryable) == ("auth_error", False)


@pytest.mark.parametrize(("value", "encoding", "want"), [("acme", "plain", "acme"), ("a b", "plain", "a b"), ("über 100%", "percent", "%C3%BCber%20100%25"), ("über", "base64url", "w7xiZXI"), ("", "base64url", "")])
def test_a_tenant_is_written_as_the_server_reads_it(movies: Path, value: str, encoding: str, want: str) -> None:
    from toolsrv_catalog.protocol import header_value

    assert header_value(value, encoding, "tool") == want


@pytest.mark.parametrize(("value", "encoding"), [("über", "plain"), ("a\r\nb", "plain"), (" a", "plain"), ("a ", "plain"), ("\ud800", "percent"), ("\ud800", "base64url")])
def test_a_tenant_that_its_header_cannot_hold_is_refused_here(movies: Path, value: str, encoding: str) -> None:
    from toolsrv_catalog import ContextRefused
    from toolsrv_catalog.protocol import header_value

    with pytest.raises(ContextRefused):
        header_value(value, encoding, "tool")
