"""Lists, searches, fetches, is refused and runs out of credits, through a Python client of the Model Context Protocol.

Usage: client.py mcp|fastmcp URL KEY. The account of the key has a few credits, which are used up.
"""

import asyncio
import json
import sys

import httpx2
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

TOOLS = {"search", "fetch", "law.search", "law.get_node", "law.list_coverage", "account.status"}
TOOLS |= {"formation.requirements", "formation.lookup_naics"}
# More calls than the account has credits.
CALLS_MAX = 50


def check(holds, what):
    if not holds:
        sys.exit(what)


async def with_sdk(url, key, steps):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            tools = (await client.list_tools()).tools
            return await steps(tools, client.call_tool)


async def with_fastmcp(url, key, steps):
    async with FastClient(StreamableHttpTransport(url, headers={"Authorization": f"Bearer {key}"})) as client:
        async def call(name, arguments):
            return await client.call_tool(name, arguments, raise_on_error=False)

        return await steps(await client.list_tools(), call)


def read(result):
    """What research connectors read: JSON in the text."""
    return json.loads(result.content[0].text)


async def use_up(tools, call):
    names = {tool.name for tool in tools}
    check(TOOLS <= names, f"tools are missing: {TOOLS - names}")
    found = await call("search", {"query": "security deposit"})
    check(not found.is_error and read(found)["results"], f"nothing found: {found}")
    first = read(found)["results"][0]
    fetched = await call("fetch", {"id": first["id"]})
    check(not fetched.is_error and read(fetched)["id"] == first["id"], "another provision than the one asked for")
    check(read(fetched)["text"] and read(fetched)["url"], "a provision without text or url")
    for _ in range(CALLS_MAX):
        answer = await call("law.search", {"q": "security deposit", "limit": 1})
        if answer.is_error:
            break
    check(answer.is_error, "credits do not run out")
    error = answer.structured_content
    check(error["error"] == "insufficient_credits" and error["upgradeUrl"], f"another error: {error}")


async def try_wrong_key(_, call):
    await call("search", {"query": "security deposit"})


def main():
    which, url, key = sys.argv[1:]
    connect = {"mcp": with_sdk, "fastmcp": with_fastmcp}[which]
    asyncio.run(connect(url, key, use_up))
    try:
        asyncio.run(connect(url, f"{key}x", try_wrong_key))
    except Exception as error:
        causes = [error]
        while hasattr(causes[-1], "exceptions"):
            causes.append(causes[-1].exceptions[0])
        check("API key is not valid" in str(causes[-1]), f"refused for another reason: {causes[-1]}")
    else:
        sys.exit("a wrong key is let in")


main()
