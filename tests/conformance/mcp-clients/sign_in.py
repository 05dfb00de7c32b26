"""Is let in by a person and works, refreshes and is sent away, through the sign-in of the Python SDK.

Usage: sign_in.py URL LINK: the endpoint for agents, and the one-time link of an approved account. The person's browser is
played by HTTP requests.
"""

import asyncio
import re
import sys
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

CALLBACK = "http://127.0.0.1:49152/callback"


def check(holds, what):
    if not holds:
        sys.exit(what)


class Browser:
    """A browser with cookies. Browsers take the cookies of this machine over http, which Python does not."""

    def __init__(self, base):
        self.base, self.cookies, self.page = base, {}, ""

    def get(self, url):
        return self.send("GET", url)

    def post(self, url, fields):
        token = re.search(r'name="token" value="([^"]*)"', self.page).group(1)
        return self.send("POST", url, data={**fields, "token": token})

    def send(self, method, url, **body):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookies, "Origin": self.base, "Sec-Fetch-Site": "same-origin"}
        answer = httpx2.request(method, url, headers=headers, **body)
        for cookie in answer.headers.get_list("set-cookie"):
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        self.page = answer.text
        return answer


class Storage:
    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def main(url, link):
    base = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    browser, storage, clicks = Browser(base), Storage(), []
    browser.get(link)
    signed_in = browser.post(link, {"login": "python", "password": "correct horse"})
    check(signed_in.status_code == 303, f"the person cannot sign in: {signed_in.text}")

    async def ask_person(address):
        asked = browser.get(address)
        check(asked.status_code == 200 and "Python SDK" in asked.text, f"the person is not asked: {asked.text}")
        allowed = browser.post(address, {"scopes": ["search", "node"], "budget": "3", "days": "90", "decision": "allow"})
        left = re.search(r'http-equiv="refresh" content="0;url=([^"]*)"', allowed.text)
        check(left, f"nothing leads back to the program: {allowed.text}")
        clicks.append(unescape(left.group(1)))

    async def answer():
        check(clicks[-1].startswith(CALLBACK), f"the answer goes elsewhere: {clicks[-1]}")
        fields = {name: values[0] for name, values in parse_qs(urlsplit(clicks[-1]).query).items()}
        return AuthorizationCodeResult(code=fields["code"], state=fields["state"], iss=fields["iss"])

    metadata = OAuthClientMetadata(client_name="Python SDK", redirect_uris=[CALLBACK])
    provider = OAuthClientProvider(url, metadata, storage, ask_person, answer)

    async def search(client):
        found = await client.call_tool("law.search", {"q": "security deposit", "limit": 1})
        check(not found.is_error, f"the search fails: {found}")

    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            await search(client)
            check(len(clicks) == 1, f"the person was asked {len(clicks)} times")
            first = storage.tokens
            # As if the hour were over.
            provider.context.token_expiry_time = 1.0
            await search(client)
            check(len(clicks) == 1 and storage.tokens.access_token != first.access_token, "the token was not refreshed")

    def authorized(address, token, **body):
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        return httpx2.request("POST" if body else "GET", address, headers=headers, **body).status_code

    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "law.search", "arguments": {"q": "a"}}}
    second = storage.tokens
    check(authorized(url, first.access_token, json=call) == 401, "the token before works on")
    check(authorized(f"{base}/api/v1/me", second.access_token) == 401, "the token works outside of the endpoint for agents")
    check(authorized(url, second.access_token, json=call) == 200, "the new token does not work")
    ended = httpx2.post(f"{base}/oauth/revoke", data={"token": second.refresh_token, "client_id": storage.client.client_id})
    check(ended.status_code == 200, f"the grant cannot be ended: {ended.text}")
    check(authorized(url, second.access_token, json=call) == 401, "the token works after its grant ended")


asyncio.run(main(*sys.argv[1:]))
