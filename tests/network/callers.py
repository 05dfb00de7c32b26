"""Callers who pay, and what each knows afterwards: which calls were charged, and which may be.

Every caller has a key of its own and makes one call at a time. What it knows of a call is an `Act`: its operation, what it
costs, and whether it was charged for sure. A call whose answer never came, or came from haproxy and not from a server, may
have been charged.
"""

import json
import random
import threading
import time
import uuid
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from boxes import PORT, ask
from wires import move_this_thread_to

GIVE_UP_AFTER = 120
PATIENCE = 10
AGAIN = 0.1
# Half of ledger.retry_horizon_sec, for which a charge is known.
ASKED_AGAIN_WITHIN = 300


class Act(NamedTuple):
    operation: str
    cost: int
    is_sure: bool


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def is_of_a_server(self):
        return "x-request-id" in self.headers

    def is_told(self, code):
        return self.is_of_a_server() and json.loads(self.body or b"{}").get("error") == code

    def is_free(self):
        """A refusal of a server that says that nothing was charged."""
        return self.is_of_a_server() and self.status != 200 and b"not known yet" not in self.body


@dataclass
class Load:
    """What all callers share."""

    front: object
    boxes: list
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    faults: list = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)

    def count(self, what, more=1):
        with self.lock:
            self.counts[what] += more

    def fault(self, what):
        with self.lock:
            self.faults.append(what)
        if len(self.faults) < 10:
            print(f"WRONG: {what}", flush=True)


class Caller(threading.Thread):
    """One caller with one key. `calls` are the operations it chooses from, each with its path."""

    def __init__(self, load, name, seed, keys, calls):
        super().__init__(name=name, daemon=True)
        self.load, self.keys, self.calls, self.chance = load, keys, calls, random.Random(f"{seed} {name}")
        self.acts = {key: [] for key in keys}
        # The newest answers, and when they came.
        self.answered = deque(maxlen=100)

    def run(self):
        move_this_thread_to("callers")
        while not self.load.over.is_set():
            try:
                self.act()
                time.sleep(self.chance.uniform(0, 0.08))
            except Exception as error:  # noqa: BLE001 - any fault of the test itself must be seen
                self.load.fault(f"{self.name}: {error!r}")
                return

    def act(self):
        raise NotImplementedError

    def send(self, path, key, retry=None, box=None, **more):
        host = box.host if box else self.load.front.host
        answer = Answer(*ask(host, PORT, path, key, retry, PATIENCE, **more))
        left = answer.headers.get("x-credits-remaining")
        if left is not None and int(left) < 0:
            self.load.fault(f"{self.name}: {left} credits are left")
        if answer.status == 500:
            self.load.fault(f"{self.name}: 500 for {path}: {answer.body[:300]}")
        return answer

    def repeat(self, path, key, is_final, may_wait=lambda answer: False, **more):
        """Repeats one call at any server until `is_final`. Returns the answer, and whether an earlier try may have been charged."""
        retry, until, tries, is_uncertain = str(uuid.uuid4()), time.monotonic() + GIVE_UP_AFTER, 0, False
        box = None
        while time.monotonic() < until:
            answer = self.send(path, key, retry, box, **more)
            if is_final(answer):
                self.load.count("answered after retries" if tries else "answered at once")
                if answer.status == 200:
                    self.answered.append((time.monotonic(), (path, key, retry, answer.body, more)))
                if self.answered and self.chance.random() < 0.1:
                    at, earlier = self.chance.choice(self.answered)
                    if time.monotonic() < at + ASKED_AGAIN_WITHIN:
                        self.once_more(*earlier)
                return answer, is_uncertain
            is_uncertain |= not answer.is_free()
            if answer.is_of_a_server() and answer.status != 503 and not may_wait(answer):
                raise RuntimeError(f"{answer.status} for {path}: {answer.body[:300]}")
            tries += 1
            # A caller with a list of servers: it does not always come back through haproxy.
            box = self.chance.choice([None, *self.load.boxes])
            time.sleep(self.chance.uniform(AGAIN / 4, AGAIN * 4))
        raise RuntimeError(f"no answer to {path} within {GIVE_UP_AFTER} s, the last was {answer.status} {answer.body[:200]}")

    def once_more(self, path, key, retry, first, more):
        """A call that was answered before is sent once more, to any server: it is never charged again."""
        box = self.chance.choice(self.load.boxes)
        answer = self.send(path, key, retry, box, **more)
        if answer.status != 200:
            return
        self.load.count("answers repeated")
        what = f"{self.name}: {path.partition('?')[0]} with the same Idempotency-Key"
        if int(answer.headers.get("x-credits-cost", 0)) != 0:
            self.load.fault(f"{what} was charged again by {box.name}, whose clock is {box.hours:+d} h")
        if json.loads(answer.body).get("purchase") != json.loads(first).get("purchase"):
            self.load.fault(f"{what} is answered {answer.body[:100]}, before it was {first[:100]}")

    def note(self, key, operation, cost, is_sure):
        self.acts[key].append(Act(operation, cost, is_sure))
        self.load.count("charged" if is_sure else "uncertain", cost)


def is_answered(answer):
    """Answered, or as often as a call is answered again: its answers were lost."""
    return answer.status == 200 or answer.status == 422 and b"repeated answers" in answer.body


def is_answered_or_too_poor(answer):
    return is_answered(answer) or answer.is_told("insufficient_credits")


class Persistent(Caller):
    """Repeats each call with its Idempotency-Key until it is answered, so it is charged once, or refused for lack of credits."""

    def act(self):
        (key,) = self.keys
        operation, path, cost = self.chance.choice(self.calls)
        answer, is_uncertain = self.repeat(path, key, is_answered_or_too_poor)
        if is_answered(answer):
            self.note(key, operation, cost, True)
        else:
            self.load.count("refused for lack of credits")
            if is_uncertain:
                self.note(key, operation, cost, False)


class Hasty(Caller):
    """Calls once, without an Idempotency-Key, so that leases pay."""

    def act(self):
        (key,) = self.keys
        operation, path, cost = self.chance.choice(self.calls)
        answer = self.send(path, key)
        if answer.status == 200:
            self.load.count("answered at once")
            if int(answer.headers["x-credits-cost"]) != cost:
                self.load.fault(f"{self.name}: {operation} cost {answer.headers['x-credits-cost']} instead of {cost}")
            self.note(key, operation, cost, True)
        elif not answer.is_free():
            self.note(key, operation, cost, False)
        elif answer.is_told("insufficient_credits"):
            self.load.count("refused for lack of credits")
        elif answer.status != 503:
            raise RuntimeError(f"{answer.status} for {path}: {answer.body[:300]}")
        if answer.status != 200:
            time.sleep(AGAIN)


def waits_to_be_paid(answer):
    """Ten purchases may be unpaid at once."""
    return answer.status == 422 and b"unpaid purchases" in answer.body


class Buyer(Caller):
    """Buys packs. Each request is repeated until it is answered, and is one purchase."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.bought = []

    def act(self):
        (key,) = self.keys
        body = json.dumps({"pack": "starter"})
        answer, _ = self.repeat("/api/v1/billing/checkout", key, lambda answer: answer.status == 200, waits_to_be_paid, body=body)
        self.bought.append(json.loads(answer.body)["purchase"])
        self.load.count("purchases")
        time.sleep(self.chance.uniform(0.2, 1))
