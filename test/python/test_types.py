"""What type checkers and readers see: the package is typed throughout, and a wrong argument is an error before it runs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

HERE = Path(__file__).parent


def mypy(*words: str, path: Path) -> subprocess.CompletedProcess[str]:
    cache = ROOT / ".cache" / "mypy"
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *words], capture_output=True, text=True, env={"MYPYPATH": str(path), "PATH": ""}, timeout=300)


@pytest.fixture(scope="module", autouse=True)
def has_mypy() -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")


def test_the_package_and_a_program_are_strictly_typed(movies: Path) -> None:
    checked = mypy("-p", "toolsrv_catalog", path=movies / "python")
    assert checked.returncode == 0, checked.stdout
    checked = mypy(str(HERE / "sample.py"), path=movies / "python")
    assert checked.returncode == 0, checked.stdout


WRONG = [
    ("catalog.tools.search_movies(query=5)", "arg-type"),
    ('catalog.tools.search_movies(query="x", genre=["Sport"])', "list-item"),
    ('catalog.tools.search_movies(query="x", sort="title")', "call-arg"),
    ("catalog.tools.search_movies()", "call-arg"),
    ('catalog.tools.search_films(query="x")', "attr-defined"),
    ('catalog.tools.search_movies(query="x").rows[0].budget', "attr-defined"),
    ('catalog.tools.search_movies(query="x").rows[0].imdb_rating.upper()', "union-attr"),
    ('catalog.tools.search_movies(query="x", context="acme")', "arg-type"),
    ('catalog.aio.search_movies(query="x").rows', "attr-defined"),
    ('models.SearchMoviesArguments(query="x", limit="5")', "arg-type"),
    ('CallContext(tenat="acme")', "call-arg"),
    ('load_tools(format="autogen")', "call-overload"),
]


def test_mypy_rejects_each_wrong_use(movies: Path, tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    head = ["from toolsrv_catalog import CallContext, connect, load_tools, models", "catalog = connect()"]
    program.write_text("\n".join([*head, *(line for line, _ in WRONG)]) + "\n")
    checked = mypy("--no-error-summary", str(program), path=movies / "python")
    for number, (line, kind) in enumerate(WRONG, len(head) + 1):
        assert any(f"wrong.py:{number}: error: " in said and said.endswith(f"[{kind}]") for said in checked.stdout.splitlines()), f"{line}\n{checked.stdout}"
    assert all(f"wrong.py:{number}: error" not in checked.stdout for number in range(1, len(head) + 1))


def test_the_core_needs_httpx_and_pydantic_and_no_extra_bounds_mcp_from_above(movies: Path) -> None:
    project = tomllib.loads((movies / "python" / "pyproject.toml").read_text())["project"]
    assert [need.split(">=")[0] for need in project["dependencies"]] == ["httpx", "pydantic"]
    assert sorted(project["optional-dependencies"]) == ["langchain", "mcp", "openai-agents"]
    assert all("<" not in need and "==" not in need for needs in project["optional-dependencies"].values() for need in needs)
    imported = subprocess.run([sys.executable, "-c", "import sys, toolsrv_catalog; print(*sys.modules)"], capture_output=True, text=True, env={"PYTHONPATH": str(movies / "python")}, check=True)
    assert {"mcp", "agents", "langchain_core"}.isdisjoint(imported.stdout.split())


@pytest.fixture(scope="module")
def hostile(workspace: Path) -> Path:
    """A package of names and texts that want to break out, with the same as JSON."""
    folder = workspace / "hostile"
    subprocess.run(["node", str(ROOT / "dist" / "test" / "python" / "write-hostile.js"), str(folder)], check=True, timeout=60)
    sys.path.insert(0, str(folder))
    return folder


def test_names_and_texts_that_want_to_break_out_arrive_as_they_are(hostile: Path) -> None:
    import hostile_tools  # type: ignore[import-not-found,unused-ignore]
    from hostile_tools import definitions, models

    want: dict[str, Any] = json.loads((hostile / "definitions.json").read_text())
    assert list(definitions.TOOLS) == [each["name"] for each in want]
    for each in want:
        tool = definitions.TOOLS[each["name"]]
        assert (tool.title, tool.description, tool.input_schema) == (each["title"], each["description"], each["inputSchema"])
    methods = [name for name in vars(hostile_tools.Tools) if not name.startswith("_")]
    assert len(methods) == len(want)
    assert all(len(name) > 0 for name in models.__all__)


def test_odd_names_are_called_by_their_own_names(hostile: Path) -> None:
    from hostile_tools import Tools

    sent: list[Any] = []
    tools = Tools(lambda tool, arguments, context: sent.append((tool.name, arguments)))
    tools.class_(arg__proto__="x", constructor=["a"])
    tools.tool__proto__(d="y")
    assert sent == [("class", {"__proto__": "x", "constructor": ["a"]}), ("__proto__", {"d": "y"})]


def test_rows_with_odd_fields_are_read(hostile: Path) -> None:
    from hostile_tools import definitions
    from hostile_tools.protocol import read_row

    row = read_row(definitions.TOOLS["class"].row, {"__proto__": "p", "_id": 1, "_score": 0.5, "model_dump": 2, "": 3})
    assert (row["__proto__"], row["model_dump"], row[""], row.row_id, row.row_score) == ("p", 2, 3, 1, 0.5)
    assert row.field__proto__ == "p"


def test_the_hostile_package_is_strictly_typed_too(hostile: Path) -> None:
    checked = mypy("-p", "hostile_tools", path=hostile)
    assert checked.returncode == 0, checked.stdout


def test_the_package_installs_and_says_that_it_is_typed(movies: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(movies / "python", tmp_path / "source")
    target = tmp_path / "site"
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target), str(tmp_path / "source")]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    installed = {path.name for path in (target / "toolsrv_catalog").iterdir()}
    assert {"py.typed", "__init__.py", "tools.py", "models.py"} <= installed
    # Away from its build there is no server beside it, and the error says what to do.
    tried = subprocess.run([sys.executable, "-c", "import toolsrv_catalog; toolsrv_catalog.connect()"], capture_output=True, text=True, env={"PYTHONPATH": str(target)})
    assert "StartFailed" in tried.stderr and "give server= the path of the built server.js" in tried.stderr
