"""Serves a snapshot in a control group with little memory, and measures what the server needs and how fast it answers.

Settings, all from the environment: SMALL_BOX_MB, the memory of each box ("256 512"); SMALL_BOX_DISK_MB, the megabytes that
its disk reads per second, 0 for the disk as it is ("0 20"); SMALL_BOX_SECONDS of each load (20); SMALL_BOX_ANONYMOUS_MB that
the server may need of its own (64); SMALL_BOX_SET, settings of the server beside those below ("search.threads=1 ...").
"""

import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BOXES_MB = [int(size) for size in os.environ.get("SMALL_BOX_MB", "256 512").split()]
DISKS_MB = [int(rate) for rate in os.environ.get("SMALL_BOX_DISK_MB", "0 20").split()]
SECONDS = float(os.environ.get("SMALL_BOX_SECONDS", 20))
ANONYMOUS_MB = float(os.environ.get("SMALL_BOX_ANONYMOUS_MB", 64))
SETTINGS = os.environ.get("SMALL_BOX_SET", "").split()
COLD_REQUESTS = 200
CLIENTS = 4
QUERIES = [json.loads(line)["query"] for line in pathlib.Path("tests/quality/everyday/us-code.jsonl").read_text().splitlines()]
MIB = 1 << 20


class ControlGroup:
    """The memory and the disk of a box, by the first or the second version of control groups."""

    ROOT = pathlib.Path("/sys/fs/cgroup")

    def __init__(self, memory_mb, disk_mb, device):
        name = f"hornbook-small-box-{os.getpid()}"
        self.is_second = "memory" in self.text(self.ROOT / "cgroup.controllers").split()
        self.memory = self.ROOT / name if self.is_second else self.ROOT / "memory" / name
        self.disk = self.memory if self.is_second else self.ROOT / "blkio" / name
        self.folders = [self.memory] if self.is_second or not disk_mb else [self.memory, self.disk]
        for folder in self.folders:
            folder.mkdir()
        limit = "memory.max" if self.is_second else "memory.limit_in_bytes"
        (self.memory / limit).write_text(str(memory_mb * MIB))
        if disk_mb and self.is_second:
            (self.disk / "io.max").write_text(f"{device} rbps={disk_mb * MIB}")
        elif disk_mb:
            (self.disk / "blkio.throttle.read_bps_device").write_text(f"{device} {disk_mb * MIB}")

    @staticmethod
    def text(path):
        return path.read_text() if path.exists() else ""

    def enter(self):
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def peak_mb(self):
        return int(self.text(self.memory / ("memory.peak" if self.is_second else "memory.max_usage_in_bytes")) or 0) / MIB

    def anonymous_mb(self):
        found = re.search(r"^(?:rss|anon) (\d+)$", self.text(self.memory / "memory.stat"), re.M)
        return int(found.group(1)) / MIB

    def kills(self):
        events = self.text(self.memory / ("memory.events" if self.is_second else "memory.oom_control"))
        return int(re.search(r"^oom_kill (\d+)$", events, re.M).group(1))

    def remove(self):
        for folder in self.folders:
            folder.rmdir()


def forget(folder):
    """Drops the files of a folder from the memory of the system, so that the box reads them from the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Box:
    """A server in a control group, and a key that calls it."""

    def __init__(self, program, snapshot, memory_mb, disk_mb):
        # Beside the snapshot, so that both are on the disk that is slowed down.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=".small-box-", dir=snapshot.parent))
        data = self.folder / "data"
        self.base = [program, "--json", "--data", data]
        for setting in ("free.monthly_units=0", "pack_bulk.credits=1000000", "pack_bulk.per_minute=100000000",
                        "pack_bulk.per_day=100000000", "web.reads_per_minute=1000000", "web.all_reads_per_minute=0",
                        "server.open_per_minute=1000000", *SETTINGS):
            self.base += ["--set", setting]
        identity = json.loads((snapshot / "manifest.json").read_text())["snapshot"]
        (data / "snapshots").mkdir(parents=True)
        shutil.copytree(snapshot, data / "snapshots" / identity, copy_function=os.link)
        self.run("snapshot", "activate", identity)
        account = json.loads(self.run("account", "create", "Small", "--approve"))["id"]
        purchase = json.loads(self.run("purchase", "request", account, "bulk"))["id"]
        self.run("purchase", "approve", purchase, "--reference", "cash")
        self.key = json.loads(self.run("key", "create", account, "--test"))["key"]
        device = os.stat(snapshot).st_dev
        self.group = ControlGroup(memory_mb, disk_mb, f"{os.major(device)}:{os.minor(device)}")
        forget(data)
        began = time.monotonic()
        self.process = subprocess.Popen([*self.base, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, preexec_fn=self.group.enter)
        for line in self.process.stdout:
            if line.startswith("listening on"):
                self.port = int(line.strip().rsplit(":", 1)[1])
                break
        self.start_seconds = time.monotonic() - began
        self.anonymous_peak = 0.0
        threading.Thread(target=self.watch, daemon=True).start()

    def run(self, *words):
        done = subprocess.run([*self.base, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
        return done.stdout

    def anonymous_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) / 1024

    def watch(self):
        while self.process.poll() is None:
            try:
                self.anonymous_peak = max(self.anonymous_peak, self.anonymous_mb())
            except (OSError, AttributeError):
                return
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.group.remove()
        shutil.rmtree(self.folder)


class Client:
    """Searches, reads what it found, and opens its pages. Milliseconds of each kind of request."""

    def __init__(self, box, seed):
        self.box = box
        self.random = random.Random(seed)
        self.connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=60)
        self.taken = {"search": [], "node": [], "page": []}
        self.found = []
        self.faults = []

    def ask(self, kind, path):
        began = time.perf_counter()
        self.connection.request("GET", path, headers={} if kind == "page" else {"Authorization": f"Bearer {self.box.key}"})
        response = self.connection.getresponse()
        body = response.read()
        self.taken[kind].append((time.perf_counter() - began) * 1000)
        if response.status != 200:
            self.faults.append(f"{path}: {response.status}")
        return body

    def step(self):
        kind = self.random.choice(["search", "search", "node", "page"]) if self.found else "search"
        if kind == "search":
            query = urllib.parse.quote(self.random.choice(QUERIES))
            body = self.ask(kind, f"/api/v1/search?q={query}")
            self.found = [hit["nodeId"] for hit in json.loads(body).get("results", [])] or self.found
            return
        node = self.random.choice(self.found)
        self.ask(kind, f"/api/v1/node/{node}" if kind == "node" else self.page_of(node))

    def page_of(self, node):
        """The address of the page of a node, to which the one with its id leads."""
        self.connection.request("GET", f"/law/{node}")
        response = self.connection.getresponse()
        response.read()
        return response.headers.get("Location", f"/law/{node}")

    def until(self, end):
        while time.monotonic() < end:
            self.step()


def shown(clients):
    cells = []
    for kind in ("search", "node", "page"):
        taken = sorted(time for client in clients for time in client.taken[kind])
        if not taken:
            cells.append(f"{'none':>28}")
            continue
        cells.append(f"{taken[len(taken) // 2]:8.2f} {taken[min(len(taken) - 1, int(len(taken) * .99))]:9.2f} {taken[-1]:9.2f}")
    return " |".join(cells)


def measured(program, snapshot, memory_mb, disk_mb):
    box = Box(program, snapshot, memory_mb, disk_mb)
    faults = []
    try:
        label = f"{memory_mb} MB, {f'{disk_mb} MB/s' if disk_mb else 'disk as it is'}"
        print(f"{label}: ready after {box.start_seconds:.1f} s, {box.anonymous_mb():.1f} MB anonymous", flush=True)
        # What the start read while it verified is not in memory any more.
        forget(box.folder / "data" / "snapshots")
        cold = Client(box, 0)
        for _ in range(COLD_REQUESTS):
            cold.step()
        print(f"  cold, 1 client     {shown([cold])}", flush=True)
        everyone = [cold]
        for count in (1, CLIENTS):
            clients = [Client(box, 1 + seed) for seed in range(count)]
            end = time.monotonic() + SECONDS
            threads = [threading.Thread(target=client.until, args=(end,)) for client in clients]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            everyone += clients
            done = sum(len(taken) for client in clients for taken in client.taken.values())
            print(f"  warm, {count} client{'s' if count > 1 else ' '}    {shown(clients)}   {done / SECONDS:.0f} per second", flush=True)
        kills = box.group.kills()
        print(f"  anonymous {box.anonymous_peak:.1f} MB at most, {box.group.anonymous_mb():.1f} in the group; all {box.group.peak_mb():.0f} MB at most; killed {kills}")
        if box.anonymous_peak > ANONYMOUS_MB:
            faults.append(f"{label}: {box.anonymous_peak:.0f} MB of anonymous memory")
        if kills or box.process.poll() is not None:
            faults.append(f"{label}: the server was killed")
        faults += [f"{label}: {fault}" for client in everyone for fault in client.faults[:3]]
    finally:
        box.stop()
    return faults


def main():
    program, snapshot = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if os.geteuid() != 0 or not os.access(ControlGroup.ROOT, os.W_OK):
        raise SystemExit("not measured: this needs root and control groups that can be written")
    print(f"{'milliseconds: median, p99, longest of':20} searches | nodes | pages")
    faults = [fault for memory in BOXES_MB for disk in DISKS_MB for fault in measured(program, snapshot, memory, disk)]
    if faults:
        raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    main()
