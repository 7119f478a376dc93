"""Projects that are built for the tests, by the compiler of this repository, and servers that run there."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE_SERVER = Path(__file__).with_name("fake_server.py")

TENANTS = """tds_version: '2'
connections:
  store: { backend: sqlite, path: "${STORE_DB}" }
security:
  tenancy: { mode: %(mode)s, path: org, enforce: strict }
  rbac: { enabled: true, default_role: nobody, roles: { nobody: { allow: [count_notes] }, reader: { allow: ['*'] } } }
tools:
  - name: list_notes
    kind: scroll
    description: List notes. Use when somebody asks for notes.
    target: { connection: store, collection: notes }
    parameters: [{ name: org, path: org, dtype: keyword, op: eq }]
    output: { fields: [text, org] }
  - name: count_notes
    kind: count
    description: Count notes. Use for questions that ask how many.
    target: { connection: store, collection: notes }
"""


def toolsrv(*words: str, cwd: Path) -> str:
    done = subprocess.run([str(ROOT / "bin" / "toolsrv"), *words], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def workspace() -> Iterator[Path]:
    # Within the repository, where built servers find the packages that they import.
    parent = ROOT / ".cache" / "python-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def movies(workspace: Path) -> Path:
    """The quickstart, loaded and built; its package can be imported as toolsrv_catalog."""
    folder = workspace / "movies"
    folder.mkdir()
    shutil.copy(ROOT / "specs" / "examples" / "quickstart" / "tools.yaml", folder)
    toolsrv("build", "--no-trace", "--python", "python", cwd=folder)
    toolsrv(
        "load", "tools.yaml", "--connection", "movies", "--collection", "movies", "--snake-case", "--types", "release_date:datetime,title:keyword",
        "--text", "title,major_genre,creative_type,source,director,distributor", str(ROOT / "node_modules" / "vega-datasets" / "data" / "movies.json"), cwd=folder,
    )
    sys.path.insert(0, str(folder / "python"))
    return folder


@pytest.fixture(scope="session")
def tenants(workspace: Path) -> Path:
    """Two catalogs with tenants, of a header and of a claim: packages header_notes and claim_notes."""
    folder = workspace / "tenants"
    folder.mkdir()
    (folder / "notes.jsonl").write_text("".join(json.dumps({"id": str(number), "text": f"note {number} of {org}", "org": org}) + "\n" for number, org in enumerate(["acme", "acme", "globex", "über"])))
    (folder / "load.env").write_text(f"STORE_DB={folder / 'notes.db'}\n")
    for mode, more in (("header", "header, header: X-Org, header_encoding: percent"), ("claim", "claim, claim: org")):
        (folder / f"{mode}.yaml").write_text(TENANTS % {"mode": more})
        toolsrv("build", f"{mode}.yaml", "--out", f"out-{mode}", "--no-trace", "--python", f"python-{mode}", "--python-name", f"{mode}_notes", cwd=folder)
        sys.path.insert(0, str(folder / f"python-{mode}"))
    toolsrv("load", "header.yaml", "--connection", "store", "--collection", "notes", "notes.jsonl", "--env-file", "load.env", cwd=folder)
    return folder


class Served:
    """A server that listens on a port of its own."""

    def __init__(self, server: Path, *words: str) -> None:
        self.process = subprocess.Popen(["node", "--", str(server), "--http", "127.0.0.1:0", *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found is not None:
                self.url = found.group()
                return
        raise AssertionError(said)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def start(server: Path, *words: str) -> Served:
        running.append(Served(server, *words))
        return running[-1]

    yield start
    for served in running:
        served.stop()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is only remembered does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    """Whether something becomes true in time."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


def run_program(text: str, movies: Path, **options: object) -> subprocess.Popen[str]:
    """A Python program that imports the package of the quickstart."""
    environment = {**os.environ, "PYTHONPATH": str(movies / "python"), "FAKE_SERVER": str(FAKE_SERVER)}
    # A job in the background ignores Ctrl-C, and so does what it starts; Python would take that over.
    hears_ctrl_c = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=hears_ctrl_c, **options)  # type: ignore[call-overload, no-any-return]
