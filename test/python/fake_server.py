"""A server over stdio that does what the query of a call says: hang, die, answer garbage, and worse."""

import json
import os
import sys
import threading
import time
from typing import Any

MODE = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
LOCK = threading.Lock()


def send(message: Any) -> None:
    with LOCK:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(number: Any, rows: list[Any], **more: Any) -> None:
    send({"jsonrpc": "2.0", "id": number, "result": {"structuredContent": {"rows": rows, "count": len(rows), **more}, "isError": False, "content": []}})


def fail(number: Any, **error: Any) -> None:
    send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": json.dumps({"error": error})}], "isError": True}})


def call(message: dict[str, Any]) -> None:
    number, params = message["id"], message["params"]
    what = params["arguments"].get("query", params["arguments"].get("title", ""))
    if what == "die":
        print("out of memory, probably", file=sys.stderr, flush=True)
        os._exit(9)
    elif what == "hang":
        print("hanging", file=sys.stderr, flush=True)
    elif what == "close":
        os.close(1)
        time.sleep(60)
    elif what == "log":
        for line in range(20_000):
            print(f"line {line} " + "x" * 200, file=sys.stderr)
        sys.stderr.write("\x1b[31mred\x1b[0m \x00 end\n")
        sys.stderr.flush()
        answer(number, [])
    elif what == "noise":
        with LOCK:
            sys.stdout.write("a wrapper says hello\n\n[]\n17\n\"text\"\n" + "[" * 100_000 + "\n")
            sys.stdout.flush()
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        send({"jsonrpc": "2.0", "id": 1_000_000, "result": {}})
        send({"jsonrpc": "2.0", "id": True, "result": {}})
        answer(number, [{"title": "after the noise"}])
    elif what == "no envelope":
        send({"jsonrpc": "2.0", "id": number, "result": {"structuredContent": {"rows": 7}, "isError": False}})
    elif what == "no result":
        send({"jsonrpc": "2.0", "id": number})
    elif what == "server timeout":
        fail(number, code="timeout", message="25 s are over", retryable=True, tool=params["name"])
    elif what == "rate limit":
        fail(number, code="rate_limited", message="too many calls", retryable=True, tool=params["name"], retry_after_s=7)
    elif what == "odd rows":
        answer(number, [{"title": 5, "imdb_rating": "high", "cls": 1, "_fields_set": 2, "self": 3, "_id": [1]}, {"title": "plain", "imdb_rating": 7}])
    elif what == "old":
        text = json.dumps({"rows": [{"title": "from text"}], "count": 1})
        send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}], "isError": False}})
    elif what == "what was cancelled":
        answer(number, [{"title": json.dumps(CANCELLED)}])
    elif what == "environment":
        answer(number, [{"title": json.dumps({"argv": sys.argv[1:], "A": os.environ.get("TOOLSRV_A"), "B": os.environ.get("TOOLSRV_B")})}])
    elif what == "meta":
        answer(number, [{"title": json.dumps(params.get("_meta"))}])
    else:
        answer(number, [{"title": what}])


CANCELLED: list[Any] = []

if MODE == "refuse":
    print("toolsrv: ${MOVIES_DB} has no value", file=sys.stderr)
    sys.exit(2)
if MODE == "mute":
    time.sleep(60)
for text in sys.stdin:
    message = json.loads(text)
    method = message.get("method")
    if method == "initialize":
        if MODE == "stranger":
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32022, "message": "protocol version '2025-11-25' is not supported"}})
            continue
        experimental = {} if MODE == "plain" else {"experimental": {"toolsrv/caller": {}}}
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, **experimental}, "serverInfo": {"name": "fake", "version": "1"}}})
        send({"jsonrpc": "2.0", "id": "from the server", "method": "ping"})
    elif method == "tools/call":
        call(message)
    elif method == "notifications/cancelled":
        CANCELLED.append(message["params"]["reason"])
