"""Floods every way into a server while a client that pays goes on searching, and judges what that client feels.

Settings, all from the environment: ATTACK_SECONDS a flood (6), ATTACK_FACTOR by which the paying client's p99 may grow (3),
ATTACK_FLOOR_MS below which it is never judged (5), ATTACK_MEMORY_MB by which anonymous memory may grow (96), ATTACK_TLS=1
for a server with TLS.
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

SECONDS = float(os.environ.get("ATTACK_SECONDS", 6))
FACTOR = float(os.environ.get("ATTACK_FACTOR", 3))
FLOOR_MS = float(os.environ.get("ATTACK_FLOOR_MS", 5))
MEMORY_MB = float(os.environ.get("ATTACK_MEMORY_MB", 96))
TLS = os.environ.get("ATTACK_TLS") == "1"
# A refusal of the API is below 4 KB, a page that refuses has the frame of every page.
REFUSAL_BYTES_MAX = 8192
ATTACKERS = 6
CONNECTIONS = 8
QUERIES = ["security deposit", "notice to quit", "formation of a company", "late fees", "zoning of a port", "annual report"]


def request(method, path, body=b"", headers=()):
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if body or method == "POST":
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def call(number, method="tools/call"):
    params = {"name": "law.search", "arguments": {"q": "deposit"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


JSON = ("Content-Type: application/json",)
FORM = ("Content-Type: application/x-www-form-urlencoded", "Origin: http://localhost")
SEARCH = request("GET", "/api/v1/search?q=deposit")
SEARCHES = [SEARCH, request("GET", "/api/v1/search?q=notice", headers=("Authorization: Bearer hb_live_invented",))]
AGENTS = [
    request("POST", "/api/mcp", call(1), JSON),
    request("POST", "/api/mcp", call(1, "tools/list"), JSON),
    request("POST", "/api/mcp", b"[" + b",".join([call(1)] * 8) + b"]", JSON),
    request("POST", "/api/mcp", b'{"jsonrpc":"2.0","method":"notifications/x"}', JSON),
    request("POST", "/api/mcp", b"[" * 5000, JSON),
]
PAGES = [request("GET", path) for path in ("/?q=deposit", "/browse", "/zoning", "/zoning/XA-PORT-ARDEN", "/docs", "/nowhere")]
SIGN_INS = [request("POST", "/settings/sign-in", b"login=jane&password=a+guess&token=x", FORM), request("GET", "/settings/sign-in")]
NOTICES = [request("POST", "/api/v1/billing/webhook", b'{"id":"evt_1"}', (*JSON, "Stripe-Signature: t=1,v1=00"))]
HALF_A_BODY = request("POST", "/api/mcp", b"x" * 60000, JSON)[:-30000]

# Name, requests of each connection by turns, and whether a connection sends half of one and waits.
FLOODS = [
    ("searches", SEARCHES, False),
    ("agents", AGENTS, False),
    ("pages", PAGES, False),
    ("sign-ins", SIGN_INS, False),
    ("notices", NOTICES, False),
    ("half a body", [HALF_A_BODY], True),
    ("all at once", SEARCHES + AGENTS + PAGES + SIGN_INS + NOTICES, False),
]


class Connection:
    """One kept connection. `ask` returns the status and the length of the body."""

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

    def ask(self, sent):
        self.socket.sendall(sent)
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


def attack(address, sources, requests, holds, until, results):
    """One attacking process: connections that ask by turns, each from a source of its own."""
    # The server and its paying client have the first core, so that what is measured is the server's work and not Python's.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.nice(10)
    statuses, biggest, connections = {}, 0, []
    while time.monotonic() < until:
        try:
            if len(connections) < CONNECTIONS:
                connections.append(Connection(address, random.choice(sources)))
            at = random.randrange(len(connections))
            if holds:
                # Stays open, and half of what it promised never comes.
                if len(connections) == CONNECTIONS:
                    time.sleep(0.05)
                    connections.pop(0).socket.close()
                connections[-1].socket.sendall(random.choice(requests))
                statuses["held"] = statuses.get("held", 0) + 1
                continue
            status, length = connections[at].ask(random.choice(requests))
            statuses[status] = statuses.get(status, 0) + 1
            if status >= 400 and status != 404:
                biggest = max(biggest, length)
        except (OSError, ConnectionError):
            statuses["closed"] = statuses.get("closed", 0) + 1
            for connection in connections:
                connection.socket.close()
            connections = []
    results.put((statuses, biggest))


def measure(address, key, until):
    """The paying client: searches one after the other. Milliseconds of each, and how many failed."""
    taken, failed, connection = [], 0, Connection(address)
    while time.monotonic() < until:
        query = QUERIES[len(taken) % len(QUERIES)].replace(" ", "+")
        sent = request("GET", f"/api/v1/search?q={query}", headers=(f"Authorization: Bearer {key}",))
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
        for setting in ("free.per_minute=1000000", "free.per_day=100000000", "free.monthly_units=0"):
            self.base += ["--set", setting]
        self.run("build", "corpus/sample/plan.toml")
        account = json.loads(self.run("account", "create", "Payer", "--approve"))["id"]
        self.run("grant", account, "1000000", "--reason", "attack")
        self.account = account
        self.key = json.loads(self.run("key", "create", account, "--test"))["key"]
        serve = [*self.base, "serve", "--listen", listen]
        if TLS:
            files = ["-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem"]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1", *files],
                           check=True, capture_output=True)
            serve += ["--tls-certificate", f"{self.folder}/cert.pem", "--tls-private-key", f"{self.folder}/key.pem"]
        self.process = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on"):
                self.port = int(line.strip().rsplit(":", 1)[1])
                break
        os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})

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
    for name, requests, holds in FLOODS:
        for sources in (networks[:1], networks):
            until = time.monotonic() + SECONDS
            results = multiprocessing.Queue()
            attackers = [
                multiprocessing.Process(target=attack, args=(address, sources, requests, holds, until, results)) for _ in range(ATTACKERS)
            ]
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
    status, _ = Connection(address).ask(request("GET", "/readyz"))
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
