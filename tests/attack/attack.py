"""Floods every way into a server while a client that pays goes on searching, and judges what that client feels.

Settings, all from the environment: ATTACK_SECONDS a flood (6), ATTACK_FACTOR by which the paying client's p99 may grow (3),
ATTACK_FLOOR_MS below which it is never judged (4), ATTACK_MEMORY_MB by which anonymous memory may grow (96), ATTACK_TLS=1
for a server with TLS, ATTACK_ONLY=streams,frames for these floods alone.
"""

import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from http2 import STREAMS_AT_ONCE, Http2

SECONDS = float(os.environ.get("ATTACK_SECONDS", 6))
FACTOR = float(os.environ.get("ATTACK_FACTOR", 3))
FLOOR_MS = float(os.environ.get("ATTACK_FLOOR_MS", 4))
MEMORY_MB = float(os.environ.get("ATTACK_MEMORY_MB", 96))
TLS = os.environ.get("ATTACK_TLS") == "1"
ONLY = [name for name in os.environ.get("ATTACK_ONLY", "").split(",") if name]
# A refusal of the API is below 4 KB, a page that refuses has the frame of every page.
REFUSAL_BYTES_MAX = 8192
ATTACKERS = 6
CONNECTIONS = 8
QUERIES = ["security deposit", "notice to quit", "formation of a company", "late fees", "zoning of a port", "annual report"]


class Request(NamedTuple):
    method: str
    path: str
    body: bytes = b""
    headers: tuple = ()
    # Bytes of the body that are promised and never sent.
    withheld: int = 0

    def http1(self):
        head = [f"{self.method} {self.path} HTTP/1.1", "Host: localhost", *self.headers]
        if self.body or self.method == "POST":
            head.append(f"Content-Length: {len(self.body) + self.withheld}")
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


def call(number, method="tools/call"):
    params = {"name": "law.search", "arguments": {"q": "deposit"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


JSON = ("Content-Type: application/json",)
FORM = ("Content-Type: application/x-www-form-urlencoded", "Origin: http://localhost")
SEARCH = Request("GET", "/api/v1/search?q=deposit")
SEARCHES = [SEARCH, Request("GET", "/api/v1/search?q=notice", headers=("Authorization: Bearer hb_live_invented",))]
AGENTS = [
    Request("POST", "/api/mcp", call(1), JSON),
    Request("POST", "/api/mcp", call(1, "tools/list"), JSON),
    Request("POST", "/api/mcp", b"[" + b",".join([call(1)] * 8) + b"]", JSON),
    Request("POST", "/api/mcp", b'{"jsonrpc":"2.0","method":"notifications/x"}', JSON),
    Request("POST", "/api/mcp", b"[" * 5000, JSON),
]
PAGES = [Request("GET", path) for path in ("/?q=deposit", "/browse", "/zoning", "/zoning/XA-PORT-ARDEN", "/docs", "/nowhere")]
SIGN_INS = [Request("POST", "/settings/sign-in", b"login=jane&password=a+guess&token=x", FORM), Request("GET", "/settings/sign-in")]
NOTICES = [Request("POST", "/api/v1/billing/webhook", b'{"id":"evt_1"}', (*JSON, "Stripe-Signature: t=1,v1=00"))]
EVERYTHING = SEARCHES + AGENTS + PAGES + SIGN_INS + NOTICES


def with_key(key):
    """What somebody asks whose key is good and whose account has no credits, or spent its calls of the minute."""
    named = (f"Authorization: Bearer {key}",)
    return [
        Request("GET", "/api/v1/search?q=deposit", headers=named),
        Request("GET", "/api/v1/me", headers=named),
        Request("POST", "/api/mcp", call(1), (*JSON, *named)),
        Request("POST", "/api/mcp", call(1, "tools/list"), (*JSON, *named)),
    ]


def ask(connection, requests):
    """Over HTTP/1, one after the other."""
    return [connection.ask(random.choice(requests))]


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


def floods(poor, paced):
    """Name, HTTP version, what is sent by turns, and how."""
    return [
        ("searches", 1, SEARCHES, ask),
        ("agents", 1, AGENTS, ask),
        ("pages", 1, PAGES, ask),
        ("sign-ins", 1, SIGN_INS, ask),
        ("notices", 1, NOTICES, ask),
        ("half a body", 1, [Request("POST", "/api/mcp", b"x" * 30000, JSON, withheld=30000)], hold),
        ("no credits", 1, with_key(poor), ask),
        ("too fast", 1, with_key(paced), ask),
        ("streams", 2, EVERYTHING + with_key(poor), ask_at_once),
        ("resets", 2, SEARCHES + with_key(poor), reset),
        ("frames", 2, [], send_frames),
        ("endless head", 2, SEARCHES, continue_for_ever),
        ("all at once", 1, EVERYTHING + with_key(poor), ask),
    ]


class Connection:
    """One kept connection over HTTP/1. `ask` returns the status and the length of the body."""

    def __init__(self, address, source=None):
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS:
            context = ssl._create_unverified_context()
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.held = b""

    def ask(self, request):
        self.socket.sendall(request.http1())
        while b"\r\n\r\n" not in self.held:
            self.more()
        head, _, rest = self.held.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        length = int(length.group(1)) if length else 0
        self.held = rest
        while len(self.held) < length:
            self.more()
        body, self.held = self.held[:length], self.held[length:]
        return int(head.split(b" ", 2)[1]), len(body)

    def more(self):
        read = self.socket.recv(65536)
        if not read:
            raise ConnectionError("the server ended the connection")
        self.held += read


def connect(address, version, source):
    return Http2(address, source, TLS) if version == 2 else Connection(address, source)


def attack(address, sources, flood, until, results):
    """One attacking process: connections that ask by turns, each from a source of its own."""
    _, version, requests, act = flood
    # The server and its paying client have the first core, so that what is measured is the server's work and not Python's.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.nice(10)
    statuses, biggest, connections = {}, 0, []
    while time.monotonic() < until:
        at = 0
        try:
            if len(connections) < CONNECTIONS:
                connections.append(connect(address, version, random.choice(sources)))
            elif act is hold:
                # A new one takes the place of the oldest.
                connections.append(connect(address, version, random.choice(sources)))
                connections.pop(0).socket.close()
            at = len(connections) - 1 if act is hold else random.randrange(len(connections))
            for status, length in act(connections[at], requests):
                statuses[status] = statuses.get(status, 0) + 1
                if isinstance(status, int) and status >= 400 and status != 404:
                    biggest = max(biggest, length)
        except (OSError, ConnectionError):
            statuses["closed"] = statuses.get("closed", 0) + 1
            if at < len(connections):
                connections.pop(at).socket.close()
    results.put((statuses, biggest))


def measure(address, key, until):
    """The paying client: searches one after the other. Milliseconds of each, and how many failed."""
    taken, failed, connection = [], 0, Connection(address)
    while time.monotonic() < until:
        query = QUERIES[len(taken) % len(QUERIES)].replace(" ", "+")
        sent = Request("GET", f"/api/v1/search?q={query}", headers=(f"Authorization: Bearer {key}",))
        began = time.perf_counter()
        try:
            status, _ = connection.ask(sent)
        except (OSError, ConnectionError):
            status, connection = 0, Connection(address)
        taken.append((time.perf_counter() - began) * 1000)
        failed += status != 200
        time.sleep(0.002)
    return sorted(taken), failed


def p(taken, share):
    return taken[min(len(taken) - 1, int(len(taken) * share))]


class Server:
    def __init__(self, program, listen):
        self.folder = tempfile.mkdtemp(prefix="attack-")
        self.base = [program, "--json", "--data", f"{self.folder}/data"]
        # The paying client is never too fast, and a starter pack is used up by one call.
        never = [f"pack_{pack}.{per}=100000000" for pack in ("starter", "bulk") for per in ("per_minute", "per_day")]
        for setting in ("free.monthly_units=0", "pack_starter.credits=1", "pack_bulk.credits=1000000", *never):
            self.base += ["--set", setting]
        self.run("build", "corpus/sample/plan.toml")
        self.account, self.key = self.customer("Payer", "bulk")
        _, self.poor = self.customer("Poor", "starter")
        _, self.paced = self.customer("Paced", None)
        serve = [*self.base, "serve", "--listen", listen]
        if TLS:
            files = ["-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem"]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-days", "1", *files],
                           check=True, capture_output=True)
            serve += ["--tls-certificate", f"{self.folder}/cert.pem", "--tls-private-key", f"{self.folder}/key.pem"]
        self.process = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on"):
                self.port = int(line.strip().rsplit(":", 1)[1])
                break
        os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})

    def customer(self, name, pack):
        """An account and its key; without a pack it has free calls, of which few a minute are allowed."""
        account = json.loads(self.run("account", "create", name, "--approve"))["id"]
        if pack:
            purchase = json.loads(self.run("purchase", "request", account, pack))["id"]
            self.run("purchase", "approve", purchase, "--reference", f"cash of {name}")
        else:
            self.run("grant", account, "1000000", "--reason", "attack")
        return account, json.loads(self.run("key", "create", account, "--test"))["key"]

    def run(self, *words):
        done = subprocess.run([*self.base, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
        return done.stdout

    def anonymous_mb(self):
        status = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) / 1024

    def left(self):
        return json.loads(self.run("account", "show", self.account))["creditsRemaining"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        shutil.rmtree(self.folder)
        return code


def main():
    program, way = sys.argv[1:]
    networks = [f"fd00:0:{number}::1" for number in range(1, 51)] if way == "networks" else [f"127.0.0.{number}" for number in range(2, 52)]
    server = Server(program, "[::]:0" if way == "networks" else "127.0.0.1:0")
    address = ("::1" if way == "networks" else "127.0.0.1", server.port)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    faults, paid = [], 0
    measure(address, server.key, time.monotonic() + 1)
    rest, failed = measure(address, server.key, time.monotonic() + SECONDS)
    memory = server.anonymous_mb()
    before = server.left()
    print(f"{'flood':12} {'from':>5} {'requests':>9}  {'p50 ms':>7} {'p99 ms':>7} {'ratio':>6} {'MB':>6}  answered")
    print(f"{'none':12} {'':>5} {len(rest):>9}  {p(rest, .5):7.2f} {p(rest, .99):7.2f} {'':>6} {memory:6.1f}")
    biggest = 0
    for flood in floods(server.poor, server.paced):
        name = flood[0]
        if ONLY and name not in ONLY:
            continue
        for sources in (networks[:1], networks):
            until = time.monotonic() + SECONDS
            results = multiprocessing.Queue()
            attackers = [multiprocessing.Process(target=attack, args=(address, sources, flood, until, results)) for _ in range(ATTACKERS)]
            for attacker in attackers:
                attacker.start()
            time.sleep(0.3)
            taken, failed = measure(address, server.key, until)
            statuses = {}
            for _ in attackers:
                of_one, length = results.get(timeout=60)
                biggest = max(biggest, length)
                for status, count in of_one.items():
                    statuses[status] = statuses.get(status, 0) + count
            for attacker in attackers:
                attacker.join()
            paid += len(taken) - failed
            ratio = p(taken, .99) / p(rest, .99)
            used = server.anonymous_mb()
            shown = " ".join(f"{status}:{count}" for status, count in sorted(statuses.items(), key=str))
            print(f"{name:12} {len(sources):>5} {sum(statuses.values()):>9}  {p(taken, .5):7.2f} {p(taken, .99):7.2f} {ratio:6.1f} {used:6.1f}  {shown}", flush=True)
            label = f"{name} from {len(sources)}"
            if failed:
                faults.append(f"{label}: {failed} searches of the paying client failed")
            if ratio > FACTOR and p(taken, .99) > FLOOR_MS:
                faults.append(f"{label}: its p99 is {ratio:.1f} times that at rest")
            if used > memory + MEMORY_MB:
                faults.append(f"{label}: {used:.0f} MB of anonymous memory, {memory:.0f} at rest")
            if any(isinstance(status, int) and status >= 500 and status != 503 for status in statuses):
                faults.append(f"{label}: an error of the server, {shown}")
    if biggest > REFUSAL_BYTES_MAX:
        faults.append(f"a refusal has {biggest} bytes")
    status, _ = Connection(address).ask(Request("GET", "/readyz"))
    if status != 200:
        faults.append(f"afterwards it answers {status}")
    charged = before - server.left()
    if charged != paid:
        faults.append(f"{paid} searches were answered, {charged} charged")
    server.run("ledger", "verify")
    print(f"the biggest refusal has {biggest} bytes; {paid} searches answered, {charged} charged")
    if server.stop() != 0:
        faults.append("the server did not stop well")
    print("attack: passed" if not faults else "attack: failed\n" + "\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
