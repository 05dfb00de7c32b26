"""Three servers behind haproxy on two PostgreSQL machines, each a machine of its own, while everything breaks.

Wires are cut, programs are killed, the primary fails over and fills its disk, and the servers' clocks differ by hours. Twelve
callers pay meanwhile. Afterwards, what was answered is what the ledger has: no overdraft, no free call, no page of two
editions, no purchase twice. See callers.py for what callers know, one_list.py for the model, faults.py for what breaks.

Usage: many_boxes.py PROGRAM SECONDS POSTGRESQL_PROGRAMS HAPROXY CLOCK, as `run` in this folder calls it.
HORNBOOK_TEST_SEED repeats the choices of a run; HORNBOOK_TEST_HOURS is by how much clocks are wrong (1), 0 to look for other
causes. Logs are left in target/many-boxes if it fails.
"""

import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from boxes import Box, Front
from callers import Act, Buyer, Hasty, Load, Persistent
from cashier import Cashier
from database import Database
from editions import Rollouts, Walker, build_both, walk_in_quiet
from faults import Faults
from one_list import compare, read_list, replay
from wires import Wires

MACHINES = {"db1": 1, "db2": 2, "box1": 11, "box2": 12, "box3": 13, "front": 20, "callers": 30}
LOGS = Path("target/many-boxes")
SHORT = 120
HOURS = int(os.environ.get("HORNBOOK_TEST_HOURS", 1))
CALLS = [("search", f"/api/v1/search?q={words}&limit=3", 1) for words in ("deposit", "landlord", "notice+of+termination")]
CALLS += [("code-bodies", "/api/v1/code-bodies", 1), ("coverage", "/api/v1/coverage", 1), ("gis", "/api/v1/gis/XA-MILLBROOK", 5)]
# What Box.settings say.
UNITS, PACK = 100, 150
SMALL_WALLET = 200
LOG_BYTES = 5_000_000


class Test:
    def __init__(self, program, place, postgres, haproxy, clock):
        self.seed = int(os.environ.get("HORNBOOK_TEST_SEED", time.time_ns()))
        print(f"seed {self.seed}", flush=True)
        self.place, self.wires = place, Wires(MACHINES)
        self.database = Database(self.wires, postgres, place)
        address = self.database.address()
        self.boxes = [Box(program, place, number, address, self.wires, clock) for number in (1, 2, 3)]
        self.front = Front(haproxy, place, self.wires)
        self.load = Load(self.front, self.boxes)
        self.faults = Faults(self.wires, self.database, self.boxes, self.front, self.load, random.Random(self.seed), HOURS)
        self.editions, self.walks, self.prefixes, self.acts, self.callers = (), {}, {}, {}, []

    def set_up(self):
        first = self.boxes[0]
        self.editions = build_both(first, self.place)
        for box in self.boxes[1:]:
            shutil.copytree(first.data / "snapshots", box.data / "snapshots")
            (box.data / "current").symlink_to(os.readlink(first.data / "current"))
        rich, small = (first.command("account", "create", name, "--approve")["id"] for name in ("rich", "small"))
        first.command("grant", rich, "100000000", "--reason", "for the test")
        first.command("grant", small, str(SMALL_WALLET), "--reason", "for the test")
        for box, hours in zip(self.boxes, (HOURS, 0, -HOURS), strict=True):
            box.set_clock(hours)
            box.start()
            if box.clock_is_wrong_by() != hours:
                raise SystemExit(f"the clock of {box.name} is wrong by {box.clock_is_wrong_by()} hours instead of {hours}")
            if box.answers_are_wrong_by() != 0:
                raise SystemExit(f"answers of {box.name} are dated wrong by {box.answers_are_wrong_by()} hours")
        self.front.start()
        self.faults.wait_until_ready("the start")
        quiet = self.new_key(rich, "quiet")
        self.walk_in_quiet(quiet)
        self.repeat_in_quiet(quiet)
        self.use_new_keys(rich)
        self.callers = [self.caller(Persistent, f"persistent {number}", rich, CALLS) for number in range(4)]
        self.callers += [self.caller(Persistent, f"persistent and poor {number}", small, CALLS) for number in range(2)]
        self.callers += [self.caller(Hasty, f"hasty {number}", rich, CALLS) for number in range(2)]
        self.callers += [self.caller(Hasty, "hasty and poor", small, CALLS), self.caller(Buyer, "buyer", small, None)]
        self.callers += [self.caller(Walker, f"walker {number}", rich, self.walks, keys=3) for number in range(2)]

    def caller(self, kind, name, account, calls, keys=1):
        return kind(self.load, name, self.seed, [self.new_key(account, f"{name} {number}") for number in range(keys)], calls)

    def walk_in_quiet(self, key):
        """Notes how the pages of both editions are, and leaves the older one in use."""
        first = self.boxes[0]
        for edition in reversed(self.editions):
            first.activate(edition)
            first.command("reload")
            self.walks[edition] = walk_in_quiet(first, key)
        if self.walks[self.editions[0]] == self.walks[self.editions[1]]:
            raise SystemExit("the walks over both editions are the same, so that mixed pages would not be seen")
        pages = sum(len(walk) for walk in self.walks.values())
        self.acts = {self.prefixes[key]: [Act("search", 1, True)] * pages}

    def repeat_in_quiet(self, key):
        """Each server answers once more, for nothing, what another charged, whatever their clocks."""
        pairs = list(itertools.permutations(self.boxes, 2))
        for expected in ("1", "0"):
            for one, other in pairs:
                box = one if expected == "1" else other
                status, headers, body = box.call("/api/v1/coverage", key, f"{one.name} then {other.name}")
                if status != 200 or headers["x-credits-cost"] != expected:
                    told = f"{headers.get('x-credits-cost')} instead of {expected} credits" if status == 200 else f"{status} {body[:200]}"
                    self.load.fault(f"in quiet, {box.name} ({box.hours:+d} h) answers a call of {one.name} ({one.hours:+d} h) for {told}")
            # What one server charged, the others know soon.
            time.sleep(1)
        self.acts[self.prefixes[key]] += [Act("coverage", 1, True)] * len(pairs)

    def use_new_keys(self, account):
        """A key that was made at the first server works at the others at once."""
        for number in range(6):
            key = self.new_key(account, f"new {number}")
            box = self.boxes[1 + number % 2]
            status, _, body = box.call("/api/v1/coverage", key)
            if status != 200:
                self.load.fault(f"{box.name} answers a new key with {status} {body[:200]}")
            self.acts[self.prefixes[key]] = [Act("coverage", 1, True)] * (status == 200)

    def new_key(self, account, name):
        made = self.boxes[0].command("key", "create", account, "--name", name)
        if made["prefix"] in self.prefixes.values():
            raise SystemExit("two keys have the same prefix; repeat the test")
        self.prefixes[made["key"]] = made["prefix"]
        return made["key"]

    def break_things(self, seconds):
        """Breaks one thing after the other under load. Returns how long it took."""
        cashier, rollouts = Cashier(self.load, self.seed), Rollouts(self.load, self.seed, self.editions)
        for thread in (*self.callers, cashier, rollouts):
            thread.start()
        time.sleep(1)
        began = time.monotonic()
        if seconds < SHORT:
            for fault in self.faults.one_of_each_kind():
                self.faults.run(fault)
        else:
            self.break_until(began, began + seconds)
        self.load.over.set()
        for caller in self.callers:
            caller.join()
        rollouts.join()
        # What was bought last is still to be paid for.
        cashier.over.set()
        cashier.join()
        return time.monotonic() - began

    def break_until(self, began, until):
        next_line, faults = began + 60, []
        while time.monotonic() < until:
            faults = faults or self.faults.every()
            self.faults.run(faults.pop())
            self.load.over.wait(self.faults.chance.uniform(0.5, 3))
            if time.monotonic() > next_line:
                next_line += 60
                self.tell(time.monotonic() - began)

    def tell(self, seconds):
        counts, broken = self.load.counts, sum(self.faults.done.values())
        answered = counts["answered at once"] + counts["answered after retries"]
        print(
            f"{seconds:.0f} s: {broken} faults, {answered} calls answered, {counts['charged']} credits charged and "
            f"{counts['uncertain']} uncertain, {counts['walks']} walks, {counts['purchases']} purchases",
            flush=True,
        )

    def judge(self):
        """Stops all servers, and compares what the callers know with the ledger. Returns what is wrong."""
        wrong = self.load.faults
        for box in self.boxes:
            code = box.stop()
            if code != 0:
                wrong.append(f"{box.name} stopped with {code}")
        proofs = [box.command("ledger", "verify") for box in self.boxes]
        if any(proof["books"] != proofs[0]["books"] or proof["lastHash"] != proofs[0]["lastHash"] for proof in proofs):
            wrong.append(f"the servers see different ledgers: {proofs}")
        entries, in_order = read_list(self.boxes[0]), set()
        for caller in self.callers:
            for key, acts in caller.acts.items():
                self.acts[self.prefixes[key]] = acts
                if isinstance(caller, (Persistent, Walker)):
                    in_order.add(self.prefixes[key])
        wrong += replay(entries, proofs[0], UNITS)
        wrong += compare(entries, self.acts, in_order)
        wrong += self.judge_purchases(entries)
        self.tell_result(entries, proofs[0])
        return wrong

    def judge_purchases(self, entries):
        """Each purchase that a buyer was told of exists once, is paid, and was credited once."""
        wrong = []
        bought = Counter(purchase for caller in self.callers if isinstance(caller, Buyer) for purchase in caller.bought)
        known = self.boxes[0].command("purchase", "list")
        ids = Counter(purchase["id"] for purchase in known)
        if bought != ids or any(count > 1 for count in ids.values()):
            wrong.append(f"bought and not known: {bought - ids}; known and not bought, or twice: {ids - bought}")
        credited = Counter({entry["id"]: entry["credits"] for entry in entries if entry["kind"] == "purchase"})
        if credited != Counter({purchase["entry"]: PACK for purchase in known}):
            wrong.append(f"the purchases {known} are not those that the ledger credits: {credited}")
        return wrong

    def tell_result(self, entries, proof):
        counts, kinds = self.load.counts, Counter(entry["kind"] for entry in entries)
        for what, count in sorted(self.faults.done.items()):
            print(f"  {count} x {what}")
        for what, count in sorted(counts.items()):
            print(f"  {count} {what}")
        print(f"  entries: {dict(kinds)}; books: {proof['books']}")
        borne = Counter(entry["note"] for entry in entries if entry["kind"] == "adjustment")
        for reason, count in borne.items():
            print(f"  {count} credits borne: {reason}")
        seconds, kind = self.faults.slowest
        print(f"  the longest way back to ready took {seconds:.1f} s, after: {kind}; servers were started {sum(box.starts for box in self.boxes)} times")


def main():
    program, seconds, postgres, haproxy, clock = sys.argv[1:]
    began, place = time.monotonic(), Path(tempfile.mkdtemp())
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "boxes", place], check=True)
    test, wrong = Test(program, place, postgres, haproxy, clock), ["the test did not end"]
    try:
        test.set_up()
        print(f"{time.monotonic() - began:.0f} s to set up", flush=True)
        took = test.break_things(float(seconds))
        test.tell(took)
        wrong = test.judge()
    except SystemExit as error:
        wrong = [*test.load.faults, str(error)]
    finally:
        if wrong:
            keep_logs(place)
    if wrong:
        print(f"{len(wrong)} things are wrong, with seed {test.seed}; logs are in {LOGS}:", *wrong[:30], sep="\n  ")
        sys.exit(1)
    print(f"nothing is wrong after {time.monotonic() - began:.0f} s in all")


def keep_logs(place):
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    for log in [*place.glob("*.log"), *place.glob("*.cfg")]:
        (LOGS / log.name).write_bytes(log.read_bytes()[-LOG_BYTES:])


main()
