"""The examples of docs/python.md, run as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from test_frameworks import SPACE, scripted_langchain, scripted_openai

EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(), re.DOTALL | re.MULTILINE)
#: What each prints, in the order of the page.
PRINTED = [r"Space Jam 5\.6\n(.*\n)*invalid_arguments .*limit.* False\n", r".+ 789\n", r"", r"Space Jam\.\n", r"Space Jam\.\n"]


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == len(PRINTED)


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_example(movies: Path, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    text = EXAMPLES[number]
    names = {"model": (scripted_openai if "from agents" in text else scripted_langchain)(SPACE, "Space Jam.")} if "model" in text else {}
    exec(compile(text, f"docs/python.md, example {number + 1}", "exec"), names)
    assert re.fullmatch(PRINTED[number], capsys.readouterr().out)
