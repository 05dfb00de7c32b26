"""What breaks, one thing after the other. After each, all servers must be ready again before the next.

The database has one rule more: a fault of its machines is over only when each change is on both again, so that no single
fault can lose an acknowledged change.
"""

import itertools
import os
import shutil
import time
from contextlib import contextmanager
from typing import Callable, NamedTuple

from database import wait_for

READY_WITHIN = 60
# Longer than state.lease_sec, so that a server outlives its leases.
OUTLASTS_A_LEASE = 75
DATABASES = ("db1", "db2")
ROOM = 50_000_000


class Fault(NamedTuple):
    kind: str
    name: str
    act: Callable


class Faults:
    def __init__(self, wires, database, boxes, front, load, chance, hours):
        self.wires, self.database, self.boxes, self.front = wires, database, boxes, front
        self.load, self.chance = load, chance
        self.done, self.slowest = {}, (0, "none")
        self.clocks = itertools.cycle([0, hours, -hours])

    def every(self):
        """Every fault of every machine and of every pair of machines that talk, in any order."""
        names = [box.name for box in self.boxes]
        pairs = [DATABASES, ("callers", "front"), *itertools.product(names, DATABASES), *itertools.product(["front", "callers"], names)]
        cuts = [self.cut(pair, lambda: self.chance.uniform(2, 9)) for pair in pairs]
        alone = [self.cut_off(box, lambda: self.chance.uniform(4, 12)) for box in self.boxes]
        long = Fault("a partition longer than a lease", "", self.outlast_a_lease)
        every = [*cuts, *alone, *(self.kill_box(box) for box in self.boxes), *self.of_database(), self.kill_front(), self.other_clock(), long]
        self.chance.shuffle(every)
        return every

    def one_of_each_kind(self):
        """For the short form, the same ones in the same order each time."""
        one, two, three = self.boxes
        cuts = [self.cut(pair, lambda: 2) for pair in (DATABASES, ("front", two.name), ("callers", "front"))]
        cuts.append(self.cut_off(one, lambda: 2))
        crash_standby, crash_primary, disk, failover, cut_off = self.of_database()
        return [*cuts, self.kill_box(three), crash_primary, self.kill_front(), failover, self.other_clock(), crash_standby, disk, cut_off]

    def of_database(self):
        return [
            Fault("standby killed", "", self.crash_standby),
            Fault("primary killed", "", self.crash_primary),
            Fault("disk of the primary full", "", self.fill_disk),
            Fault("failover, the primary killed", "", self.fail_over),
            Fault("failover, the primary cut off", "", self.fail_over_from_cut_off),
        ]

    def run(self, fault):
        fault.act()
        began = time.monotonic()
        self.wait_until_ready(f"{fault.kind} {fault.name}")
        self.slowest = max(self.slowest, (time.monotonic() - began, fault.kind))
        self.done[fault.kind] = self.done.get(fault.kind, 0) + 1

    def wait_until_ready(self, after):
        for box in self.boxes:
            if box.process.poll() is not None:
                self.load.fault(f"{box.name} ended by itself with {box.process.returncode} after: {after}")
                box.start()
            wait_for(f"{box.name} is ready after: {after}", box.is_ready, READY_WITHIN)

    @contextmanager
    def cut_wires(self, pairs):
        self.wires.cut(pairs)
        try:
            yield
        finally:
            self.wires.heal(pairs)

    def cut(self, pair, seconds):
        def act():
            with self.cut_wires([pair]):
                time.sleep(seconds())

        what = "-".join(name.rstrip("123") for name in pair)
        return Fault(f"partition {what}", " and ".join(pair), act)

    def cut_off(self, box, seconds):
        """A server that reaches neither database, so that its leases alone pay."""

        def act():
            with self.cut_wires([(box.name, name) for name in DATABASES]):
                time.sleep(seconds())

        return Fault("partition box-both databases", box.name, act)

    def outlast_a_lease(self):
        self.cut_off(self.chance.choice(self.boxes), lambda: OUTLASTS_A_LEASE).act()

    def kill_box(self, box):
        def act():
            box.kill()
            time.sleep(self.chance.uniform(0, 2))
            box.start()

        return Fault("server killed", box.name, act)

    def kill_front(self):
        def act():
            self.front.kill()
            time.sleep(self.chance.uniform(0, 1))
            self.front.start()

        return Fault("haproxy killed", "", act)

    def other_clock(self):
        """A server comes back with a clock that is right, ahead or behind."""

        def act():
            box = self.chance.choice(self.boxes)
            code = box.stop()
            if code != 0:
                self.load.fault(f"{box.name} stopped with {code}")
            box.set_clock(next(self.clocks))
            box.start()

        return Fault("clock set", "", act)

    def crash_standby(self):
        self.database.standby.kill()
        time.sleep(self.chance.uniform(0, 2))
        self.database.start_again()

    def crash_primary(self):
        self.database.primary.kill()
        time.sleep(self.chance.uniform(0, 2))
        self.database.start_again()

    def fail_over(self):
        self.database.primary.kill()
        self.database.promote_standby()
        # The new primary is alone for a while.
        time.sleep(self.chance.uniform(0, 2))
        self.database.build_standby()

    def fail_over_from_cut_off(self):
        """Nobody reaches the primary, and it does not know that it is none any more."""
        lost = self.database.primary
        with self.cut_wires([(lost.name, name) for name in (self.database.standby.name, *(box.name for box in self.boxes))]):
            time.sleep(self.chance.uniform(0, 2))
            self.database.promote_standby()
            time.sleep(self.chance.uniform(0, 2))
            lost.kill()
        self.database.build_standby()

    def fill_disk(self):
        """Until the primary says that its disk is full, and for some seconds more."""
        primary = self.database.primary
        filler, said = primary.folder / "filler", primary.log.stat().st_size
        try:
            with filler.open("wb", buffering=0) as file:
                until = time.monotonic() + 20
                full_since = None
                while time.monotonic() < min(until, (full_since or until) + 2):
                    fill(file)
                    # Uses up the files that the write-ahead log has in reserve.
                    primary.ask("SELECT pg_switch_wal()", seconds=1)
                    if full_since is None and b"No space left" in primary.log.read_bytes()[said:]:
                        full_since = time.monotonic()
                    time.sleep(0.05)
            if full_since is None:
                self.load.fault("the disk of the primary was full, but it did not notice")
        finally:
            filler.unlink()
        wait_for("the disk of the primary has room again", lambda: shutil.disk_usage(primary.folder).free > ROOM)
        # It may be starting again, or have given up.
        primary.settle()
        self.database.start_again()


def fill(file):
    block = bytes(1 << 20)
    while True:
        try:
            if os.write(file.fileno(), block) == 0:
                return
        except OSError:
            if len(block) == 1:
                return
            block = block[: len(block) // 16 or 1]
