"""Floods every way into a server while a paying client searches, and judges what that client feels.

Settings, all from the environment: ATTACK_SECONDS a flood (4), ATTACK_FACTOR by which the paying client's p99 may grow (3),
ATTACK_FLOOR_MS below which it is never judged (4), ATTACK_MEMORY_MB by which anonymous memory may grow (128), ATTACK_TLS=all
for all floods over TLS too, or none, ATTACK_ONLY=streams,frames for these floods alone.
"""

import multiprocessing
import os
import random
import resource
import sys
import time

from floods import floods, hold
from http1 import Connection, Request
from http2 import Http2
from server import CORES, Server

SECONDS = float(os.environ.get("ATTACK_SECONDS", 4))
FACTOR = float(os.environ.get("ATTACK_FACTOR", 3))
FLOOR_MS = float(os.environ.get("ATTACK_FLOOR_MS", 4))
MEMORY_MB = float(os.environ.get("ATTACK_MEMORY_MB", 128))
TLS = os.environ.get("ATTACK_TLS", "some")
ONLY = [name for name in os.environ.get("ATTACK_ONLY", "").split(",") if name]
# A refusal of the API is below 4 KB, a page that refuses has the frame of every page.
REFUSAL_BYTES_MAX = 8192
ATTACKERS = 6
# A flood is judged by the best of so many measurements, a minute apart, because other work on the machine makes them worse. By
# then limits per minute are full again.
ATTEMPTS = 3
QUERIES = ["security deposit", "notice to quit", "formation of a company", "late fees", "zoning of a port", "annual report"]
# A payment notice of the provider. Its signature is wrong, so it is answered with 400 if there is room for it.
NOTICE = Request("POST", "/api/v1/billing/webhook", b"x" * 4000, ("Content-Type: application/json", "Stripe-Signature: t=1,v1=00"))
SEARCHES_PER_NOTICE = 200


def attack(site, sources, flood, until, results):
    """One attacking process: connections that ask by turns, each from a source of its own."""
    # Not the core of the server, so that what is measured is its work and not Python's.
    os.sched_setaffinity(0, {max(CORES)})
    os.nice(10)
    connect = lambda: (Http2 if flood.version == 2 else Connection)(site.address, random.choice(sources), site.tls)
    statuses, biggest, connections = {}, 0, []
    while time.monotonic() < until:
        at = 0
        try:
            if len(connections) < flood.connections:
                connections.append(connect())
            elif flood.act is hold:
                # A new one takes the place of the oldest.
                connections.append(connect())
                connections.pop(0).socket.close()
            at = len(connections) - 1 if flood.act is hold else random.randrange(len(connections))
            for status, length in flood.act(connections[at], flood.requests):
                statuses[status] = statuses.get(status, 0) + 1
                if isinstance(status, int) and status >= 400 and status != 404:
                    biggest = max(biggest, length)
            if connections[at].socket.fileno() < 0:
                connections.pop(at)
        except (OSError, ConnectionError):
            statuses["closed"] = statuses.get("closed", 0) + 1
            if at < len(connections):
                connections.pop(at).socket.close()
    results.put((statuses, biggest))


def measure(site, until):
    """The paying client: searches one after the other. Milliseconds of each, how many failed, and how many payment notices were refused."""
    taken, failed, refused, connection = [], 0, 0, site.connect()
    while time.monotonic() < until:
        query = QUERIES[len(taken) % len(QUERIES)].replace(" ", "+")
        sent = Request("GET", f"/api/v1/search?q={query}", headers=(f"Authorization: Bearer {site.key}",))
        began = time.perf_counter()
        try:
            status, _ = connection.ask(sent)
        except (OSError, ConnectionError):
            status, connection = 0, site.connect()
        taken.append((time.perf_counter() - began) * 1000)
        failed += status != 200
        if len(taken) % SEARCHES_PER_NOTICE == 0:
            refused += connection.ask(NOTICE)[0] == 503
        time.sleep(0.002)
    return sorted(taken), failed, refused


def p(taken, share):
    return taken[min(len(taken) - 1, int(len(taken) * share))]


class Run:
    """All floods of one server, and what was wrong."""

    def __init__(self, program, way, tls):
        self.networks = [f"fd00:0:{number}::1" for number in range(1, 51)] if way == "networks" else [f"127.0.0.{number}" for number in range(2, 52)]
        self.site = Server(program, "[::]:0" if way == "networks" else "127.0.0.1:0", tls)
        self.faults, self.paid, self.biggest = [], 0, 0

    def whole(self, chosen):
        measure(self.site, time.monotonic() + 1)
        self.memory, before = self.site.anonymous_mb(), self.site.left()
        print(f"{'TLS' if self.site.tls else 'none':26} {'':>48} {self.memory:6.1f}")
        for flood in chosen:
            for sources in (self.networks[:1], self.networks):
                ratios = []
                while not ratios or ratios[-1] > FACTOR and len(ratios) < ATTEMPTS:
                    time.sleep(61 if ratios else 0)
                    ratios.append(self.flood(flood, sources))
                if ratios[-1] > FACTOR:
                    self.faults.append(f"{self.name(flood, sources)}: its p99 is {min(ratios):.1f} times that at rest")
        self.end(before)
        return self.faults

    def name(self, flood, sources):
        return f"{flood.name}{' TLS' if self.site.tls else ''} from {len(sources)}"

    def flood(self, flood, sources):
        """The paying client's p99 under a flood, as a multiple of that right before it. 0 if it is too small to be judged."""
        rest, failed, refused = measure(self.site, time.monotonic() + SECONDS / 2)
        self.paid += len(rest) - failed
        until = time.monotonic() + SECONDS
        results = multiprocessing.Queue()
        attackers = [multiprocessing.Process(target=attack, args=(self.site, sources, flood, until, results)) for _ in range(ATTACKERS)]
        for attacker in attackers:
            attacker.start()
        time.sleep(0.3)
        taken, of_flood, of_notices = measure(self.site, until)
        failed, refused = failed + of_flood, refused + of_notices
        statuses = {}
        for _ in attackers:
            of_one, length = results.get(timeout=60)
            self.biggest = max(self.biggest, length)
            for status, count in of_one.items():
                statuses[status] = statuses.get(status, 0) + count
        for attacker in attackers:
            attacker.join()
        self.paid += len(taken) - of_flood
        ratio, used = p(taken, .99) / p(rest, .99), self.site.anonymous_mb()
        shown = " ".join(f"{status}:{count}" for status, count in sorted(statuses.items(), key=str))
        label = self.name(flood, sources)
        print(
            f"{label:26} {sum(statuses.values()):>9} {p(rest, .5):7.2f} {p(rest, .99):7.2f} {p(taken, .5):7.2f} {p(taken, .99):7.2f}"
            f" {ratio:6.1f} {used:6.1f}  {shown}",
            flush=True,
        )
        if failed:
            self.faults.append(f"{label}: {failed} searches of the paying client failed")
        if refused:
            self.faults.append(f"{label}: {refused} payment notices were refused")
        if used > self.memory + MEMORY_MB:
            self.faults.append(f"{label}: {used:.0f} MB of anonymous memory, {self.memory:.0f} before")
            # Later floods are judged by what they add.
            self.memory = used
        if any(isinstance(status, int) and status >= 500 and status != 503 for status in statuses):
            self.faults.append(f"{label}: an error of the server, {shown}")
        return ratio if p(taken, .99) > FLOOR_MS else 0

    def end(self, before):
        if self.biggest > REFUSAL_BYTES_MAX:
            self.faults.append(f"a refusal has {self.biggest} bytes")
        status, _ = self.site.connect().ask(Request("GET", "/readyz"))
        if status != 200:
            self.faults.append(f"afterwards it answers {status}")
        charged = before - self.site.left()
        if charged != self.paid:
            self.faults.append(f"{self.paid} searches were answered, {charged} charged")
        self.site.run("ledger", "verify")
        print(f"the biggest refusal has {self.biggest} bytes; {self.paid} searches answered, {charged} charged")
        if self.site.stop() != 0:
            self.faults.append("the server did not stop well")


def main():
    program, way = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    faults = []
    print(f"{'':26} {'':>9} {'at rest, ms':>15} {'flooded, ms':>15}")
    print(f"{'flood':26} {'requests':>9} {'p50':>7} {'p99':>7} {'p50':>7} {'p99':>7} {'ratio':>6} {'MB':>6}  answered")
    for tls in (False, True):
        os.sched_setaffinity(0, CORES)
        run = Run(program, way, tls)
        os.sched_setaffinity(0, {min(CORES)})
        chosen = [flood for flood in floods(run.site) if flood.name in ONLY or not ONLY]
        if tls:
            chosen = [flood for flood in chosen if TLS in ("all", "1") or TLS == "some" and flood.tls]
        faults += run.whole(chosen)
    print("attack: passed" if not faults else "attack: failed\n" + "\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
