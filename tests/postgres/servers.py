"""Runs several servers of one program on one database, and breaks them while callers pay.

Half of the callers repeat each call with its Idempotency-Key, at any server, until it is answered. Then
each must have been charged exactly once. The others call once, so that leases pay: what was answered is
charged, what was refused is not, and only calls whose connection broke may be either. Meanwhile servers
are killed, stopped like machines that hang, and the database crashes.

Usage: servers.py PROGRAM DATABASE_ADDRESS CRASH_COMMAND SECONDS
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from server import Server, ask

SERVERS = 3
CALLERS = 12
SEARCHES = ["deposit", "return of the security deposit", "landlord", "notice of termination", "repairs"]
SEARCH_COST = 1
GIVE_UP_AFTER = 90


class Callers:
    def __init__(self, servers, keys):
        self.servers, self.keys = servers, keys
        self.lock = threading.Lock()
        self.answered, self.charged, self.retried, self.faults = 0, 0, 0, []
        # Credits of calls without a retry that got no answer.
        self.uncertain = 0
        self.over = threading.Event()

    def run(self, seed):
        chance = random.Random(seed)
        while not self.over.is_set():
            try:
                if seed % 2:
                    self.call(chance)
                else:
                    self.call_once(chance)
            except Exception as error:  # noqa: BLE001 - any fault of the test itself must be seen
                with self.lock:
                    self.faults.append(repr(error))
                return

    def call(self, chance):
        retry, path = str(uuid.uuid4()), "/api/v1/search?q=" + chance.choice(SEARCHES).replace(" ", "+")
        key, until = chance.choice(self.keys), time.monotonic() + GIVE_UP_AFTER
        tries = 0
        while time.monotonic() < until:
            server = chance.choice(self.servers)
            status, headers, _ = ask("127.0.0.1", server.port, path, key, retry)
            if status == 200:
                with self.lock:
                    self.answered += 1
                    # A retry that is answered from the first charge costs nothing more.
                    self.charged += int(headers["x-credits-cost"]) or SEARCH_COST
                    self.retried += tries > 0
                return
            if status not in (0, 503):
                raise RuntimeError(f"{status} for {path} at server {server.number}")
            tries += 1
            time.sleep(chance.uniform(0.01, 0.2))
        raise RuntimeError(f"no answer to {path} within {GIVE_UP_AFTER} s")

    def call_once(self, chance):
        path = "/api/v1/search?q=" + chance.choice(SEARCHES).replace(" ", "+")
        server = chance.choice(self.servers)
        status, headers, _ = ask("127.0.0.1", server.port, path, chance.choice(self.keys))
        with self.lock:
            if status == 200:
                self.answered += 1
                self.charged += int(headers["x-credits-cost"])
            elif status == 0:
                self.uncertain += SEARCH_COST
            elif status != 503:
                raise RuntimeError(f"{status} for {path} at server {server.number}")
        time.sleep(0.05 if status != 200 else 0.005)


def break_things(servers, crash, until, chance):
    """Breaks something every few seconds. Returns what was broken."""
    broken = []
    while time.monotonic() < until:
        time.sleep(chance.uniform(1, 3))
        what = chance.choice(["kill", "kill", "hang", "database"])
        server = chance.choice(servers)
        if what == "kill":
            server.kill()
            time.sleep(chance.uniform(0, 1))
            server.start()
        elif what == "hang":
            # It may hold the lock; the database ends its session after five seconds.
            server.process.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(1, 7))
            server.process.send_signal(signal.SIGCONT)
        else:
            subprocess.run(crash, shell=True, check=True)
        broken.append(what)
    return broken


def main():
    program, backend, crash, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    seed = int(os.environ.get("HORNBOOK_TEST_SEED", time.time_ns()))
    print(f"seed {seed}")
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp())
    servers = [Server(program, folder, number, backend) for number in range(SERVERS)]
    try:
        first = servers[0]
        first.command("build", "corpus/sample/plan.toml")
        for server in servers[1:]:
            shutil.copytree(first.data / "snapshots", server.data / "snapshots")
            (server.data / "current").symlink_to(os.readlink(first.data / "current"))
        # One server alone, until there are several.
        account = first.command("account", "create", "three servers", backend="embedded")["id"]
        first.command("account", "approve", account, backend="embedded")
        first.command("state", "migrate", "--to", "-", backend="embedded", input=backend)
        first.command("grant", account, "100000000", "--reason", "for the test")
        keys = [first.command("key", "create", account, "--name", f"key {number}")["key"] for number in range(4)]
        for server in servers:
            server.start()
        callers = Callers(servers, keys)
        threads = [threading.Thread(target=callers.run, args=(seed + number,)) for number in range(CALLERS)]
        for thread in threads:
            thread.start()
        broken = break_things(servers, crash, time.monotonic() + seconds, chance)
        callers.over.set()
        for thread in threads:
            thread.join()
        for server in servers:
            server.stop()
        proofs = [server.command("ledger", "verify") for server in servers]
        books = [proof["books"] for proof in proofs]
        told = {what: broken.count(what) for what in sorted(set(broken))}
        print(f"{callers.answered} calls were answered, {callers.retried} of them after retries; broken: {told}")
        if callers.faults:
            raise SystemExit("\n".join(callers.faults))
        if any(book != books[0] for book in books):
            raise SystemExit(f"the servers see different books: {books}")
        spent = books[0]["spent"]
        if not callers.charged <= spent <= callers.charged + callers.uncertain:
            uncertain = f"and at most {callers.uncertain} more"
            raise SystemExit(f"{callers.charged} credits were answered {uncertain}, but {spent} were charged")
        if books[0]["adjusted"] != 0:
            raise SystemExit(f"a lease did not cover its calls: {books[0]}")
        # And back to one.
        os.remove(first.data / "state.redb")
        back = first.command("state", "migrate", "--to", "embedded")["proof"]
        alone = first.command("ledger", "verify", backend="embedded")
        if not proofs[0]["lastHash"] == back["lastHash"] == alone["lastHash"]:
            raise SystemExit(f"the chain of hashes does not go on: {proofs[0]}, {back}, {alone}")
        unanswered = f"{spent - callers.charged} of {callers.uncertain} whose connection broke"
        print(f"{callers.charged} credits were answered and charged, and {unanswered}, by {SERVERS} servers on one database")
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
