"""The floods: what attackers send, and how."""

import json
import random
import time
from typing import NamedTuple

from http1 import Request
from http2 import STREAMS_AT_ONCE

JSON = ("Content-Type: application/json",)
# A letter that cites and quotes. One of a megabyte can be checked; the longer one is refused, and nearly the longest body.
LETTER = (
    "A landlord shall return the deposit, see Arden Rev. Stat. § 24-2-201: \"The landlord shall return a security deposit.\" "
    "The tenant left the rooms in good order, gave back the keys on the last day of the lease, and named a new address in writing. "
).encode()
DOCUMENT_BYTES = 990_000
TOO_LONG_BYTES = 1_400_000
# Names at which passwords are guessed. Each may be tried six times a minute.
NAMES = [f"person{number}" for number in range(200)]


class Flood(NamedTuple):
    name: str
    # The version of HTTP.
    version: int
    # One of these is sent at a time.
    requests: list
    act: object
    # Connections of each attacker.
    connections: int = 8
    # Whether it is repeated over TLS.
    tls: bool = False


def ask(connection, requests):
    """Over HTTP/1, one after the other."""
    return [connection.ask(random.choice(requests))]


def ask_once(connection, requests):
    """One request on each connection."""
    answered = connection.ask(random.choice(requests))
    connection.socket.close()
    return [answered]


def ask_at_once(connection, requests):
    return connection.ask(random.choices(requests, k=STREAMS_AT_ONCE))


def hold(connection, requests):
    """Sends what promises more than ever comes."""
    time.sleep(0.005)
    connection.socket.sendall(random.choice(requests).http1())
    return [("held", 0)]


def reset(connection, requests):
    connection.open_and_reset(random.choice(requests))
    return [("reset", 0)]


def send_frames(connection, _):
    connection.send_frames()
    return [("frames", 0)]


def continue_for_ever(connection, requests):
    connection.continue_for_ever(random.choice(requests))
    return [("endless", 0)]


def call(number, method="tools/call"):
    params = {"name": "law.search", "arguments": {"q": "deposit"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def with_key(key):
    """What a client asks whose key is valid and whose account has no credits, or made its calls of the minute."""
    named = (f"Authorization: Bearer {key}",)
    return [
        Request("GET", "/api/v1/search?q=deposit", headers=named),
        Request("GET", "/api/v1/me", headers=named),
        Request("POST", "/api/mcp", call(1), (*JSON, *named)),
        Request("POST", "/api/mcp", call(1, "tools/list"), (*JSON, *named)),
    ]


def form(browser, path, **fields):
    """A form that was sent from its own page, with the right token."""
    body = "&".join(f"{name}={value}" for name, value in {**fields, "token": browser.token}.items())
    headers = ("Content-Type: application/x-www-form-urlencoded", f"Origin: {browser.origin}", f"Cookie: {browser.cookie}")
    return Request("POST", path, body.encode(), headers)


def document(origin, length):
    """A form with a document that is to be checked."""
    text = LETTER * (length // len(LETTER))
    body = b'--edge\r\nContent-Disposition: form-data; name="text"\r\n\r\n' + text + b"\r\n--edge--\r\n"
    return Request("POST", "/check", body, ("Content-Type: multipart/form-data; boundary=edge", f"Origin: {origin}"))


def tiles(parts, tile):
    """Parts of a map around a tile, at each zoom level, and pictures of the whole map."""
    z, x, y = tile
    paths = [f"{parts}/zones", f"{parts}/overview/light", f"{parts}/overview/dark"]
    for zoom in range(8, 18):
        side = 2.0 ** (zoom - z)
        paths += [f"{parts}/{zoom}/{int((x + .5) * side) + east}/{int((y + .5) * side) + south}" for east in range(-2, 3) for south in range(-2, 3)]
    return [Request("GET", path, headers=("Accept-Encoding: br",)) for path in paths]


def floods(site):
    """All of them, for a server with the keys, links and sessions of `site`."""
    gets = lambda *paths, headers=(): [Request("GET", path, headers=headers) for path in paths]
    keyed = lambda key: (*JSON, f"Authorization: Bearer {key}")
    stranger, person = site.stranger, site.person
    signed_in = (f"Cookie: {person.cookie}",)

    searches = gets("/api/v1/search?q=deposit") + gets("/api/v1/search?q=notice", headers=("Authorization: Bearer hb_live_invented",))
    agents = [
        Request("POST", "/api/mcp", call(1), JSON),
        Request("POST", "/api/mcp", call(1, "tools/list"), JSON),
        Request("POST", "/api/mcp", b"[" + b",".join([call(1)] * 8) + b"]", JSON),
        Request("POST", "/api/mcp", b'{"jsonrpc":"2.0","method":"notifications/x"}', JSON),
        Request("POST", "/api/mcp", b"[" * 5000, JSON),
    ]
    pages = gets("/?q=deposit", "/browse", "/zoning", "/zoning/XA-PORT-ARDEN", "/docs", "/nowhere")
    sign_ins = [form(stranger, "/settings/sign-in", login=name, password="a+guess+at+it") for name in NAMES] + gets("/settings/sign-in")
    sign_ups = [form(stranger, "/settings/sign-up", login=f"new.{name}", password="correct+horse") for name in NAMES] + gets("/settings/sign-up")
    notices = [Request("POST", "/api/v1/billing/webhook", b'{"id":"evt_1"}', (*JSON, "Stripe-Signature: t=1,v1=00"))]
    checks = [document(site.origin, length) for length in (DOCUMENT_BYTES, TOO_LONG_BYTES)] + [
        Request("POST", "/api/v1/check", LETTER * (DOCUMENT_BYTES // len(LETTER)), ("Content-Type: text/plain", f"Authorization: Bearer {key}"))
        for key in (site.poor, site.paced)
    ]
    map_parts = tiles(site.map_parts, site.map_tile)
    typed = ("se", "secu", "security", "security+dep", "notise", "form")
    suggestions = gets(*(f"/suggest?q={text}" for text in typed)) + gets(*(f"/api/v1/suggest?q={text}" for text in typed), headers=keyed(site.paced))
    registration = json.dumps({"client_name": "A", "redirect_uris": ["http://127.0.0.1/callback"]}).encode()
    token = b"grant_type=authorization_code&code=" + b"A" * 32 + b"&code_verifier=" + b"a" * 43 + b"&client_id=x&redirect_uri=http://127.0.0.1/callback"
    sign_in_of_agents = [
        Request("POST", "/oauth/register", registration, JSON),
        Request("POST", "/oauth/token", token, ("Content-Type: application/x-www-form-urlencoded",)),
        Request("POST", "/oauth/revoke", b"token=hb_auth_x", ("Content-Type: application/x-www-form-urlencoded",)),
        *gets("/oauth/authorize?client_id=x", "/.well-known/oauth-authorization-server"),
    ]
    checkouts = [
        Request("POST", "/api/v1/billing/checkout", b'{"pack":"starter"}', keyed(site.poor)),
        Request("POST", "/api/v1/billing/checkout", b'{"pack":"starter"}', JSON),
        *gets("/billing/paid", "/billing/left"),
    ]
    links = [
        *gets(site.review, "/formation/review/" + "A" * 32, site.link, "/settings/link/" + "A" * 32),
        Request("POST", site.review, b"confirmed=no"),
        Request("POST", "/formation/track", b"order=x&token=y", ("Content-Type: application/x-www-form-urlencoded",)),
        form(stranger, site.link, login="a", password="short"),
        form(stranger, "/settings/link/" + "A" * 32, login="somebody", password="correct+horse"),
    ]
    operator = gets("/operator") + gets("/operator", "/operator/search?q=deposit", headers=signed_in) + [
        form(person, "/operator/account", account="acct-1", do="approve"),
        form(stranger, "/operator/invite", name="me", operator="yes"),
    ]
    ledger = gets("/settings/ledger.csv", "/settings", "/settings/ledger", headers=signed_in)
    channel = gets("/channel/channel.json", site.pack, "/channel/nothing.pack") + gets(site.pack, headers=("Range: bytes=1000-200000",))

    everything = (
        searches + agents + pages + sign_ins[:6] + sign_ups[:4] + notices + suggestions + sign_in_of_agents + checkouts + links + operator
        + ledger + map_parts[:20] + with_key(site.poor) + with_key(site.paced)
    )
    half_a_call = Request("POST", "/api/mcp", b"x" * 30000, JSON, withheld=30000)
    half_a_notice = Request("POST", "/api/v1/billing/webhook", b"x" * 30000, (*JSON, "Stripe-Signature: t=1,v1=00"), withheld=30000)
    return [
        Flood("searches", 1, searches, ask),
        Flood("connections", 1, searches, ask_once, tls=True),
        Flood("agents", 1, agents, ask),
        Flood("pages", 1, pages, ask),
        Flood("sign-ins", 1, sign_ins, ask),
        Flood("sign-ups", 1, sign_ups, ask),
        Flood("notices", 1, notices, ask),
        Flood("half a call", 1, [half_a_call], hold, connections=150, tls=True),
        Flood("half a notice", 1, [half_a_notice], hold, connections=150),
        Flood("checks", 1, checks, ask),
        Flood("map parts", 1, map_parts, ask),
        Flood("suggestions", 1, suggestions, ask),
        Flood("agent sign-in", 1, sign_in_of_agents, ask),
        Flood("checkouts", 1, checkouts, ask),
        Flood("links", 1, links, ask),
        Flood("operator", 1, operator, ask),
        Flood("ledger", 1, ledger, ask),
        Flood("channel", 1, channel, ask),
        Flood("no credits", 1, with_key(site.poor), ask),
        Flood("too fast", 1, with_key(site.paced), ask),
        Flood("streams", 2, everything, ask_at_once, tls=True),
        Flood("resets", 2, searches + with_key(site.poor), reset),
        Flood("frames", 2, [], send_frames),
        Flood("endless head", 2, searches, continue_for_ever),
        Flood("all at once", 1, everything + checks[:1], ask, tls=True),
    ]
