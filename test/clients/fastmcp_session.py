"""One session of FastMCP's client, as JSON on standard output: fastmcp_session.py MODE PLAN (URL | COMMAND WORDS...).

PLAN is a JSON object {"calls": {tool: arguments}, "failing": {"tool": ..., "args": ...}}. What comes out is what the
client saw; the caller compares.
"""
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def main() -> None:
    mode, plan, target = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    http = target[0].startswith("http")
    transport = StreamableHttpTransport(target[0]) if http else StdioTransport(command=target[0], args=target[1:])
    async with Client(transport, mode=mode) as client:
        # The newest protocol has no ping.
        seen = {"protocol": client.protocol_version, "server": client.server_info.name}
        seen["ping"] = await client.ping() if client.protocol_version < "2026-07-28" else None
        seen["tools"] = [tool.name for tool in await client.list_tools()]
        seen["rows"] = {}
        for name, arguments in plan["calls"].items():
            result = await client.call_tool(name, arguments)
            seen["rows"][name] = len(result.structured_content["rows"])
        failed = await client.call_tool(plan["failing"]["tool"], plan["failing"]["args"], raise_on_error=False)
        seen["failed"] = failed.is_error
        seen["code"] = json.loads(failed.content[0].text)["error"]["code"]
    print(json.dumps(seen))


asyncio.run(main())
