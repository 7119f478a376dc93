"""The example for Python of docs/trace.md, run as it is written, with the packages that it names and a model's API that answers from a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, wait_until

BASE = "http://127.0.0.1:7842/"
#: Each way in has one example in the page; this is the one in Python.
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "trace.md").read_text(), re.DOTALL | re.MULTILINE)

#: What a reader who copies the example already has: a program that asks a model.
PROGRAM = """
import openai
answer = openai.OpenAI().chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Where is my order?"}])
print(answer.choices[0].message.content)
"""


class Model(BaseHTTPRequestHandler):
    """POST /chat/completions as the API of OpenAI answers it."""

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": "On its way."}
        body = json.dumps({
            "id": "c-1", "object": "chat.completion", "created": 1, "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        }).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def trace_url(tmp_path: Path) -> Iterator[str]:
    words = [str(ROOT / "bin" / "toolsrv"), "trace", "serve", "--port", "0", "--data-dir", str(tmp_path / "traces")]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        said = ""
        for line in service.stderr:
            said += line
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found is not None:
                yield found.group() + "/"
                break
        else:
            raise AssertionError(said)
        service.terminate()


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=15) as answer:
        return json.load(answer)


def test_the_example_sends_what_the_program_asks_a_model(trace_url: str, model_url: str, tmp_path: Path) -> None:
    (example,) = EXAMPLES
    assert BASE in example
    program = tmp_path / "program.py"
    program.write_text(example.replace(BASE, trace_url) + PROGRAM)
    environment = {**os.environ, "OPENAI_BASE_URL": model_url, "OPENAI_API_KEY": "none"}
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "On its way.\n"), done.stderr

    # The program has sent its spans before it ended; they are readable when they are committed.
    assert wait_until(lambda: get(f"{trace_url}api/runs")["total"] == 1), done.stderr
    (run,) = get(f"{trace_url}api/runs?extended=1")["runs"]
    assert (run["status"], run["preview"], run["answer"]) == ("completed", "Where is my order?", "On its way.")
    assert (run["total_tokens_input"], run["total_tokens_output"]) == (9, 4)
    assert [step["agent_name"] for step in get(f"{trace_url}api/runs/{run['run_id']}/journey")["steps"] if step["event_type"] == "llm_end"] == ["gpt-4o-mini"]


def test_the_example_is_installed_as_its_first_line_says() -> None:
    listed = {line.partition("==")[0] for line in (ROOT / ".ci" / "python.txt").read_text().splitlines()}
    (example,) = EXAMPLES
    named = set(example.splitlines()[0].removeprefix("# pip install ").split())
    assert named <= listed and "openai" in listed
