"""Times whole searches over HTTP, one caller after another: charged to the state file, to leases, and to the database.

The servers are asked in turns, so that what else the machine does falls on all of them.

Usage: searches.py PROGRAM DATABASE_ADDRESS
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from server import Server

ROUNDS = 7


def median_of(server, key):
    """Microseconds of a search."""
    command = [server.program, "--json", "bench", f"http://127.0.0.1:{server.port}", "--key", key]
    command += ["--concurrency", "1", "--rounds", "1", "--duration", "3"]
    done = subprocess.run(command, env=server.environment, capture_output=True, text=True, check=True)
    return dict(map(tuple, json.loads(done.stdout)["rounds"][0]["latency"]["percentiles"]))[50.0]


def main():
    program, database = sys.argv[1:]
    folder = Path(tempfile.mkdtemp())
    names = ("the state file", "leases", "the database")
    servers = [Server(program, folder, number, backend) for number, backend in enumerate(["embedded", database, database])]
    servers[2].settings += ("state.lease_sec=0",)
    try:
        servers[0].command("build", "corpus/sample/plan.toml")
        keys = []
        for server in servers:
            if server is not servers[0]:
                shutil.copytree(servers[0].data / "snapshots", server.data / "snapshots")
                (server.data / "current").symlink_to(os.readlink(servers[0].data / "current"))
            account = server.command("account", "create", f"server {server.number}", "--approve")["id"]
            server.command("grant", account, "100000000", "--reason", "for the bench")
            keys.append(server.command("key", "create", account, "--name", "bench")["key"])
        for server in servers:
            server.start()
        rounds = [[median_of(server, key) for server, key in zip(servers, keys, strict=True)] for _ in range(ROUNDS)]
        for number, name in enumerate(names):
            times = [times[number] for times in rounds]
            shares = [times[number] / times[0] for times in rounds]
            print(
                f"a search charged to {name}: {statistics.median(times):,.0f} us ({min(times):,.0f} - {max(times):,.0f}), "
                f"{statistics.median(shares):.2f} ({min(shares):.2f} - {max(shares):.2f}) of the state file"
            )
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()
