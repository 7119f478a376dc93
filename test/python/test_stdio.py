"""Calls to a server that the package starts."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import FAKE_SERVER, is_alive, run_program, wait_until


@pytest.fixture
def fake(movies: Path) -> Any:
    """Connects to the fake server."""
    import toolsrv_catalog

    opened: list[Any] = []

    def connect(mode: str = "", **options: Any) -> Any:
        opened.append(toolsrv_catalog.connect(server=[sys.executable, str(FAKE_SERVER), *([mode] if mode else [])], **options))
        return opened[-1]

    yield connect
    for catalog in opened:
        catalog.close()


@pytest.fixture(scope="module")
def catalog(movies: Path) -> Any:
    import toolsrv_catalog

    with toolsrv_catalog.connect() as catalog:
        yield catalog


def test_rows_come_as_typed_models_and_by_their_own_names(catalog: Any) -> None:
    result = catalog.tools.search_movies(query="space", genre=["Comedy"], limit=2)
    assert (result.count, len(result.rows), result.search_mode) == (2, 2, "dense")
    row = result.rows[0]
    assert row.title == row["title"] == row.wire["title"]
    assert row.major_genre == "Comedy"
    assert row.row_id == row["_id"] and isinstance(row.row_score, float)
    assert result.envelope["rows"][0] == row.wire


def test_the_same_call_can_be_awaited(catalog: Any) -> None:
    called = catalog.tools.get_movie(title="Avatar").rows
    assert asyncio.run(catalog.aio.get_movie(title="Avatar")).rows == called
    assert asyncio.run(catalog.acall("get_movie", {"title": "Avatar"})).rows == called


def test_arguments_may_be_a_model_and_none_counts_as_absent(catalog: Any) -> None:
    from toolsrv_catalog.models import CountMoviesArguments

    assert catalog.call("count_movies", CountMoviesArguments(genre=["Comedy"])).count == catalog.tools.count_movies(genre=["Comedy"]).count == 675
    assert catalog.call("count_movies", {"genre": None}).count == 3201


def test_a_model_refuses_what_the_catalog_does_not_have() -> None:
    from pydantic import ValidationError
    from toolsrv_catalog.models import SearchMoviesArguments

    for wrong in ({"query": ""}, {"query": "x", "genre": ["Western", "Sport"]}, {"query": "x", "limit": 21}, {"query": "x", "min_rating": 11}, {"query": "x", "sort": "title"}, {}):
        with pytest.raises(ValidationError):
            SearchMoviesArguments.model_validate(wrong)


def test_a_refused_argument_is_the_servers_own_error(catalog: Any) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError) as caught:
        catalog.tools.search_movies(query="x", limit=99)
    error = caught.value
    assert (error.code, error.retryable, error.tool) == ("invalid_arguments", False, "search_movies")
    assert error.as_json()["error"]["message"] == error.message and "limit" in error.message


def test_an_unknown_tool_is_a_key_error_that_names_the_tools(catalog: Any) -> None:
    with pytest.raises(KeyError, match="search_movies, search_paramount_movies"):
        catalog.call("search_films")
    with pytest.raises(KeyError):
        catalog.call("list_available_tools")


def test_the_catalog_shows_what_a_model_sees_and_no_meta_tool(catalog: Any) -> None:
    assert catalog.names == ["search_movies", "search_paramount_movies", "get_movie", "count_movies", "list_movies", "search_box_office"]
    assert [each["name"] for each in catalog.schemas] == [each["name"] for each in catalog.as_anthropic()] == catalog.names
    assert catalog.as_anthropic()[0]["input_schema"]["required"] == ["query"]


def test_a_hundred_calls_run_side_by_side_on_one_child_and_none_gets_the_rows_of_another(catalog: Any) -> None:
    titles = [row["title"] for row in catalog.tools.list_movies(limit=50).rows] * 2

    async def everything() -> list[Any]:
        return await asyncio.gather(*(catalog.aio.get_movie(title=title) for title in titles))

    before = catalog.server_pids
    for title, result in zip(titles, asyncio.run(everything())):
        assert {row["title"] for row in result.rows} == {title}
    assert catalog.server_pids == before


def test_threads_share_a_connection(catalog: Any) -> None:
    titles = [row["title"] for row in catalog.tools.list_movies(limit=20).rows]
    found: dict[str, str] = {}
    threads = [threading.Thread(target=lambda title=title: found.__setitem__(title, catalog.tools.get_movie(title=title).rows[0]["title"])) for title in titles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {title: title for title in titles}


@pytest.mark.parametrize("text", ["ä€ 映画 🎬", "\u2028\u2029\u202e", "\x00\x1b[31m", '"\\\n\r\t', "\U0010ffff", "e\u0301", "x" * 1_000_000])
def test_texts_come_back_as_they_were_sent(fake: Any, text: str) -> None:
    assert fake().tools.get_movie(title=text).rows[0]["title"] == text


def test_half_a_character_is_an_error_and_not_a_broken_connection(catalog: Any) -> None:
    assert catalog.tools.get_movie(title="\ud800").count == 0
    assert catalog.tools.get_movie(title="Avatar").count == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"bytes"])
def test_what_json_cannot_hold_is_refused_before_anything_is_sent(catalog: Any, value: Any) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError) as caught:
        catalog.call("search_movies", {"query": "x", "min_rating": value})
    assert caught.value.code == "invalid_arguments"
    assert catalog.tools.count_movies().count == 3201


def test_an_argument_of_a_hundred_kilobytes_is_the_servers_to_refuse(catalog: Any) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError, match="invalid_arguments"):
        catalog.tools.search_movies(query="x" * 100_000)


@pytest.mark.parametrize("awaited", [False, True], ids=["called", "awaited"])
def test_a_call_that_no_server_would_read_is_refused_at_once(catalog: Any, awaited: bool) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError, match="larger than 4194304 bytes"):
        asyncio.run(catalog.aio.get_movie(title="x" * 5_000_000)) if awaited else catalog.tools.get_movie(title="x" * 5_000_000)
    assert catalog.tools.count_movies().count == 3201


def test_a_large_result_is_read_whole(fake: Any) -> None:
    assert len(fake().tools.get_movie(title="y" * 4_000_000).rows[0]["title"]) == 4_000_000


def test_a_server_that_dies_is_one_clear_exception_for_each_caller_with_its_last_words(fake: Any) -> None:
    from toolsrv_catalog import ServerDied

    catalog = fake()

    async def calls() -> list[Any]:
        waiting = [asyncio.create_task(catalog.aio.search_movies(query="hang")) for _ in range(5)]
        await asyncio.sleep(0)
        return await asyncio.gather(*waiting, catalog.aio.search_movies(query="die"), return_exceptions=True)

    errors = asyncio.run(calls())
    assert [type(error) for error in errors] == [ServerDied] * 6
    assert len({id(error) for error in errors}) == 6
    assert all(error.exit_code == 9 and error.retryable and "exit code 9: out of memory, probably" in str(error) for error in errors)


def test_the_next_call_after_a_death_starts_a_new_server(fake: Any) -> None:
    from toolsrv_catalog import ServerDied

    catalog = fake()
    before = catalog.server_pids
    with pytest.raises(ServerDied):
        catalog.tools.search_movies(query="die")
    assert catalog.tools.search_movies(query="again").rows[0].title == "again"
    assert catalog.server_pids != before and not is_alive(before[0])


def test_the_real_server_killed_under_load_fails_what_waits_and_nothing_hangs(movies: Path) -> None:
    import toolsrv_catalog

    with toolsrv_catalog.connect() as catalog:
        (pid,) = catalog.server_pids

        async def calls() -> list[Any]:
            waiting = [asyncio.create_task(catalog.aio.search_movies(query=f"film {number}")) for number in range(50)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            # Stopped, it answers nothing more, however quick it is: these calls wait when it is killed.
            os.kill(pid, signal.SIGSTOP)
            waiting += [asyncio.create_task(catalog.aio.search_movies(query=f"late film {number}")) for number in range(50)]
            await asyncio.wait(waiting[50:], timeout=0.2)
            os.kill(pid, signal.SIGKILL)
            return await asyncio.gather(*waiting, return_exceptions=True)

        ended = asyncio.run(calls())
        died = [error for error in ended if isinstance(error, toolsrv_catalog.ServerDied)]
        assert len(died) >= 50 and len(died) + sum(isinstance(each, toolsrv_catalog.Result) for each in ended) == 100
        assert "signal 9" in str(died[0])


def test_a_server_that_closes_its_output_is_ended(fake: Any) -> None:
    from toolsrv_catalog import ServerDied

    catalog = fake()
    (pid,) = catalog.server_pids
    with pytest.raises(ServerDied):
        catalog.tools.search_movies(query="close")
    assert not is_alive(pid)


def test_a_deadline_is_an_exception_and_the_server_is_told(fake: Any) -> None:
    from toolsrv_catalog import CallContext, CallTimeout
    from toolsrv_catalog import protocol

    grace, protocol.GRACE_S = protocol.GRACE_S, 0.0
    try:
        catalog = fake()
        with pytest.raises(CallTimeout) as caught:
            catalog.tools.search_movies(query="hang", context=CallContext(deadline_s=0.05))
        assert (caught.value.code, caught.value.retryable, caught.value.tool) == ("timeout", True, "search_movies")
        with pytest.raises(CallTimeout):
            asyncio.run(catalog.aio.search_movies(query="hang", context=CallContext(deadline_s=0.05)))
    finally:
        protocol.GRACE_S = grace
    assert json.loads(catalog.tools.search_movies(query="what was cancelled").rows[0].title) == ["timeout", "timeout"]


def test_the_servers_own_deadline_is_the_same_exception(fake: Any) -> None:
    from toolsrv_catalog import CallTimeout

    with pytest.raises(CallTimeout, match="25 s are over") as caught:
        fake().tools.search_movies(query="server timeout")
    assert (caught.value.code, caught.value.retryable) == ("timeout", True)


def test_what_else_the_server_says_of_a_failure_is_in_the_details(fake: Any) -> None:
    from toolsrv_catalog import ToolError

    with pytest.raises(ToolError) as caught:
        fake().tools.search_movies(query="rate limit")
    error = caught.value
    assert (error.code, error.retryable, error.details, error.tool) == ("rate_limited", True, {"retry_after_s": 7}, "search_movies")


def test_a_cancelled_task_cancels_its_call_in_the_server(fake: Any) -> None:
    catalog = fake()

    async def cancelled() -> str:
        task = asyncio.create_task(catalog.aio.search_movies(query="hang"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return str((await catalog.aio.search_movies(query="what was cancelled")).rows[0].title)

    assert json.loads(asyncio.run(cancelled())) == ["cancelled"]


def test_noise_between_the_answers_is_skipped(fake: Any) -> None:
    assert fake().tools.search_movies(query="noise").rows[0].title == "after the noise"


@pytest.mark.parametrize("query", ["no envelope", "no result"])
def test_an_answer_that_is_none_is_an_error_of_the_protocol(fake: Any, query: str) -> None:
    from toolsrv_catalog import ProtocolError

    with pytest.raises(ProtocolError):
        fake().tools.search_movies(query=query)


def test_values_of_other_types_than_the_catalog_suggests_are_kept(fake: Any) -> None:
    odd, plain = fake().tools.search_movies(query="odd rows").rows
    assert (odd.title, odd.imdb_rating, odd["cls"], odd["_fields_set"], odd["self"], odd.row_id) == (5, "high", 1, 2, 3, [1])
    assert (plain.title, plain.imdb_rating, plain.director) == ("plain", 7.0, None)


def test_a_server_without_structured_content_is_read_from_its_text(fake: Any) -> None:
    assert fake().tools.search_movies(query="old").rows[0].title == "from text"


def test_a_flood_on_standard_error_neither_blocks_nor_grows(fake: Any) -> None:
    catalog = fake()
    assert catalog.tools.search_movies(query="log").count == 0
    from toolsrv_catalog import ServerDied

    with pytest.raises(ServerDied) as caught:
        catalog.tools.search_movies(query="die")
    assert len(caught.value.stderr) <= 4_000
    assert "\x1b" not in caught.value.stderr and "red  end" in caught.value.stderr


def test_the_log_can_be_received_and_a_receiver_that_fails_is_dropped(fake: Any) -> None:
    lines: list[str] = []

    def receive(line: str) -> None:
        lines.append(line)
        raise RuntimeError("full")

    catalog = fake(on_log=receive)
    assert catalog.tools.search_movies(query="log").count == 0
    assert len(lines) == 1


START: list[tuple[str, str]] = [("refuse", r"\$\{MOVIES_DB\} has no value"), ("stranger", "not supported"), ("mute", "did not answer within 0.5 s")]


@pytest.mark.parametrize(("mode", "message"), START)
def test_a_server_that_does_not_come_is_an_error_of_connect_and_leaves_no_process(fake: Any, mode: str, message: str) -> None:
    from toolsrv_catalog import StartFailed

    before = children()
    with pytest.raises(StartFailed, match=message):
        fake(mode, start_timeout_s=0.5 if mode == "mute" else 30)
    assert wait_until(lambda: children() <= before)


def children() -> set[int]:
    """Running processes that this one has started."""
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split() if is_alive(int(pid))}


def test_a_program_that_is_not_there_is_named(movies: Path) -> None:
    import toolsrv_catalog

    for server, message in ((["no-such-program"], "no-such-program"), ([], "empty"), ("/nowhere/server.js", "there is no server at /nowhere/server.js")):
        with pytest.raises(toolsrv_catalog.StartFailed, match=message):
            toolsrv_catalog.connect(server=server)


def test_options_that_do_not_go_together_are_refused(movies: Path) -> None:
    import toolsrv_catalog

    for options in ({"url": "http://127.0.0.1:1", "env": {}}, {"token": "t"}, {"url": "ftp://x"}, {"url": "http://user:pass@host"}):
        with pytest.raises(toolsrv_catalog.StartFailed):
            toolsrv_catalog.connect(**options)  # type: ignore[arg-type]
    with pytest.raises(toolsrv_catalog.StartFailed, match="not both"):
        toolsrv_catalog.connect("tools.yaml", server="server.js")


def test_the_environment_is_the_process_then_env_then_the_file(fake: Any, movies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSRV_A", "process")
    monkeypatch.setenv("TOOLSRV_B", "process")
    seen = json.loads(fake(env={"TOOLSRV_B": "env"}, env_file="some.env").tools.search_movies(query="environment").rows[0].title)
    assert (seen["A"], seen["B"]) == ("process", "env")
    assert seen["argv"][-2:] == ["--env", os.path.abspath("some.env")]
    import toolsrv_catalog

    database = str(movies / "movies.db")
    (movies / "right.env").write_text(f"MOVIES_DB={database}\n")
    monkeypatch.setenv("MOVIES_DB", database)
    with toolsrv_catalog.connect() as catalog:
        assert catalog.tools.count_movies().count == 3201
    monkeypatch.setenv("MOVIES_DB", "/nowhere/process.db")
    with toolsrv_catalog.connect(env={"MOVIES_DB": database}) as catalog:
        assert catalog.tools.count_movies().count == 3201
    with toolsrv_catalog.connect(env={"MOVIES_DB": "/nowhere/env.db"}, env_file=movies / "right.env") as catalog:
        assert catalog.tools.count_movies().count == 3201
    with pytest.raises(toolsrv_catalog.StartFailed, match="no such file"):
        toolsrv_catalog.connect(env_file=movies / "missing.env")


def test_a_catalog_file_is_served_without_a_build(movies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import toolsrv_catalog
    from conftest import ROOT

    monkeypatch.setenv("PATH", f"{ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with toolsrv_catalog.connect(movies / "tools.yaml") as catalog:
        assert catalog.tools.count_movies().count == 3201


def test_closing_ends_the_server_fails_what_waits_and_may_be_repeated(fake: Any) -> None:
    from toolsrv_catalog import ServerDied

    catalog = fake()
    (pid,) = catalog.server_pids

    async def close_while_waiting() -> BaseException | None:
        task = asyncio.create_task(catalog.aio.search_movies(query="hang"))
        await asyncio.sleep(0.05)
        await catalog.aclose()
        return (await asyncio.gather(task, return_exceptions=True))[0]  # type: ignore[return-value]

    assert isinstance(asyncio.run(close_while_waiting()), ServerDied)
    catalog.close()
    assert not is_alive(pid)
    with pytest.raises(ServerDied, match="closed"):
        catalog.tools.search_movies(query="x")


def test_a_forgotten_catalog_ends_its_server(movies: Path) -> None:
    import toolsrv_catalog

    catalog = toolsrv_catalog.connect(server=[sys.executable, str(FAKE_SERVER)])
    (pid,) = catalog.server_pids
    del catalog
    gc.collect()
    assert wait_until(lambda: not is_alive(pid))


def test_a_wrapper_that_leaves_its_server_behind_leaves_nothing(movies: Path, tmp_path: Path) -> None:
    import toolsrv_catalog

    # The wrapper ends at once; what it started ignores the end of its input.
    note = tmp_path / "pid"
    program = f"import os, runpy, signal, sys, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.argv = sys.argv[1:]\nrunpy.run_path({str(FAKE_SERVER)!r})\ntime.sleep(60)"
    wrapper = ["sh", "-c", 'exec 3<&0; "$@" <&3 & ', "sh", sys.executable, "-c", program, "server"]
    with toolsrv_catalog.connect(server=wrapper) as catalog:
        assert catalog.tools.search_movies(query="x").count == 1
        pid = int(note.read_text())
        assert is_alive(pid)
    assert wait_until(lambda: not is_alive(pid))


def test_several_catalogs_have_a_server_each_behind_one_package(workspace: Path) -> None:
    from conftest import toolsrv

    folder = workspace / "projects"
    folder.mkdir()
    for name, count in (("books", 2), ("films", 3)):
        (folder / f"{name}.yaml").write_text(f"""tds_version: '2'
connections:
  store: {{ backend: sqlite, path: ./{name}.db }}
tools:
  - name: count_{name}
    kind: count
    description: Count {name}. Use for questions that ask how many.
    target: {{ connection: store, collection: things }}
""")
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"id": str(number), "text": name}) + "\n" for number in range(count)))
        toolsrv("load", f"{name}.yaml", "--connection", "store", "--collection", "things", f"{name}.jsonl", cwd=folder)
    toolsrv("build", "books.yaml", "films.yaml", "--no-trace", "--python", "python", "--python-name", "shop_tools", cwd=folder)
    sys.path.insert(0, str(folder / "python"))
    import shop_tools

    with shop_tools.connect() as catalog:
        assert len(catalog.server_pids) == 2
        assert (catalog.tools.count_books().count, catalog.tools.count_films().count) == (2, 3)
        pids = catalog.server_pids
    assert not any(is_alive(pid) for pid in pids)


HEAD = """
import asyncio, os, signal, sys, threading, time
from toolsrv_catalog import connect
catalog = connect(server=[sys.executable, os.environ["FAKE_SERVER"]])
print(catalog.server_pids[0], flush=True)
"""
ENDS = {
    "its end": "",
    "an exception": "raise RuntimeError",
    "sys.exit in a call": "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\ntry:\n    catalog.tools.search_movies(query='hang')\nexcept KeyboardInterrupt:\n    sys.exit(3)",
    "Ctrl-C during a call": "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\ncatalog.tools.search_movies(query='hang')",
    "Ctrl-C during an awaited call": "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\nasyncio.run(catalog.aio.search_movies(query='hang'))",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "os._exit": "os._exit(1)",
    "a loop that is abandoned": "loop = asyncio.new_event_loop()\nloop.create_task(catalog.aio.search_movies(query='hang'))\nloop.call_later(0.1, loop.stop)\nloop.run_forever()\nloop.close()",
}


@pytest.mark.parametrize("how", ENDS)
def test_no_server_outlives_its_program_ended_by(movies: Path, how: str) -> None:
    program = run_program(HEAD + ENDS[how], movies)
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    try:
        _, stderr = program.communicate(timeout=20)
        assert "Fatal" not in stderr
        assert wait_until(lambda: not is_alive(pid)), stderr
    finally:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


def test_ctrl_c_in_the_terminal_is_for_the_program_and_not_for_its_server(movies: Path) -> None:
    # The second line is printed where the interrupt is expected: a signal that came before it would end the program.
    program = run_program(HEAD + "try:\n    print('ready', flush=True)\n    while True: time.sleep(0.05)\nexcept KeyboardInterrupt:\n    print(catalog.tools.search_movies(query='alive').rows[0].title, flush=True)\n", movies, start_new_session=True)
    assert program.stdout is not None
    program.stdout.readline()
    assert program.stdout.readline() == "ready\n"
    os.killpg(program.pid, signal.SIGINT)
    assert program.communicate(timeout=20)[0] == "alive\n"


def test_a_forked_process_has_a_server_of_its_own_and_leaves_its_parents_alone(movies: Path) -> None:
    program = run_program(HEAD + """
before = catalog.server_pids
child = os.fork()
if child == 0:
    title = catalog.tools.search_movies(query="in the fork").rows[0].title
    assert catalog.server_pids != before
    print(title, flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert catalog.server_pids == before
print(catalog.tools.search_movies(query="in the parent").rows[0].title, flush=True)
""", movies)
    out, err = program.communicate(timeout=30)
    assert out.splitlines()[1:] == ["in the fork", "in the parent"], err


def test_a_fork_does_not_keep_the_server_of_its_parent_alive(movies: Path) -> None:
    program = run_program(HEAD + "if os.fork() == 0:\n    print(os.getpid(), flush=True)\n    signal.pause()\nelse:\n    os._exit(0) if sys.stdin is None else None\n    import time\n    time.sleep(0.3)\n    os._exit(0)\n", movies)
    assert program.stdout is not None
    server, fork = int(program.stdout.readline()), int(program.stdout.readline())
    try:
        assert wait_until(lambda: not is_alive(server))
        assert is_alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)
        program.communicate(timeout=20)


def test_one_client_serves_one_event_loop_after_another(catalog: Any) -> None:
    for _ in range(3):
        assert asyncio.run(catalog.aio.count_movies()).count == 3201


def test_many_calls_in_turn_are_answered_by_one_server(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    catalog = fake()
    took = []
    for number in range(300):
        began = time.perf_counter()
        answered = catalog.tools.search_movies(query=f"call {number}")
        took.append(time.perf_counter() - began)
        assert answered.rows[0].title == f"call {number}"
    assert len(catalog.server_pids) == 1
    # A figure to read, and no limit: how busy the machine is decides it. The fake server's own time is part of it.
    with capsys.disabled():
        print(f"\npython: a call over stdio takes {sorted(took)[150] * 1000:.2f} ms (median of 300, with a server that answers at once)")
