"""An official Python client that a test drives: a command a line in, an answer a line out.

client.py URL KEY MODE, where MODE is `legacy` or `auto`; the first edition knows only the former.
"""

import json
import sys

import anyio
import mcp
from mcp.client.streamable_http import streamable_http_client

URL, KEY, MODE = sys.argv[1:4]
HEADERS = {"Authorization": f"Bearer {KEY}"}
SECOND = hasattr(mcp, "Client")
Failure = mcp.MCPError if SECOND else mcp.McpError


def say(**answer):
    print(json.dumps(answer), flush=True)


def plain(value):
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


async def do(session, command, scopes):
    """Does one command and says what it came to, unless it is cancelled before."""
    number = command["id"]

    async def on_step(done, total, message):
        say(id=number, step={"progress": done, "total": total, "message": message})

    with anyio.CancelScope() as scope:
        scopes[number] = scope, getattr(session, "_request_id", None)
        try:
            if command["do"] == "list":
                say(id=number, result=plain(await session.list_tools()))
            else:
                told = on_step if command.get("steps") else None
                answer = await session.call_tool(
                    command["tool"], command["arguments"], progress_callback=told
                )
                say(id=number, result=plain(answer))
        except Failure as failure:
            say(id=number, error=plain(failure.error))
        except Exception as failure:
            say(id=number, error={"message": repr(failure)})
    if scope.cancelled_caught:
        say(id=number, error={"message": "cancelled"})


async def obey(session):
    """Does what is asked, several things at a time, until nothing more is asked."""
    scopes = {}
    async with anyio.create_task_group() as tasks:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            command = json.loads(line)
            if command["do"] == "cancel":
                scope, request = scopes[command["id"]]
                if not SECOND:
                    # The first edition gives a call up without telling the server by itself.
                    given_up = mcp.types.CancelledNotificationParams(requestId=request)
                    told = mcp.types.CancelledNotification(params=given_up)
                    await session.send_notification(mcp.types.ClientNotification(told))
                scope.cancel()
            else:
                tasks.start_soon(do, session, command, scopes)


async def second():
    import httpx2

    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        transport = streamable_http_client(URL, http_client=http)
        async with mcp.Client(transport, mode=MODE) as client:
            say(id=0, result={"version": client.protocol_version})
            await obey(client)


async def first():
    import httpx

    async with httpx.AsyncClient(headers=HEADERS, timeout=60) as http:
        async with streamable_http_client(URL, http_client=http) as (read, write, _):
            async with mcp.ClientSession(read, write) as client:
                found = await client.initialize()
                say(id=0, result={"version": found.protocolVersion})
                await obey(client)


anyio.run(second if SECOND else first)
