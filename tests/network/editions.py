"""Two editions of the law, callers who walk over pages, and servers that switch from one edition to the other and back.

A walker pins the edition of its first page, and asks for each page with another key, so that haproxy sends it to different
servers. What it gets must be that edition, whole: the same entries in the same order as when nothing was broken.
"""

import json
import random
import shutil
import threading
from pathlib import Path

from callers import Caller, is_answered

SAMPLE = Path("corpus/sample")
# What the newer edition lacks of the older one.
REPEALED = ("arden/ars.jsonl", 12)
QUERY = "/api/v1/search?q=deposit+notice+landlord+permit&limit=5&page={}"
PAGES = 8
COST = 1


def build_both(box, folder):
    """Builds two editions with a box. Returns their ids; the older one is in use."""
    newer = folder / "newer"
    shutil.copytree(SAMPLE, newer)
    file, repealed = REPEALED
    lines = (newer / file).read_text().splitlines(keepends=True)
    # Sections at the end of the file, which nothing lies under.
    (newer / file).write_text("".join(lines[:-repealed]))
    box.command("build", str(newer / "plan.toml"), backend="embedded")
    second = (box.data / "current").resolve().name
    box.command("build", str(SAMPLE / "plan.toml"), backend="embedded")
    return (box.data / "current").resolve().name, second


def entries_of(answer):
    return [found["nodeId"] for found in json.loads(answer)["results"]]


def walk_in_quiet(box, key):
    """The walk over the edition that a server has, page by page."""
    pages = []
    for page in range(1, PAGES + 1):
        status, _, body = box.call(QUERY.format(page), key)
        if status != 200:
            raise SystemExit(f"page {page} in quiet: {status} {body[:300]}")
        pages.append(entries_of(body))
    return pages


class Walker(Caller):
    """`walks` has the pages of each edition, as they were in quiet."""

    def __init__(self, load, name, seed, keys, walks):
        super().__init__(load, name, seed, keys, None)
        self.walks = walks

    def act(self):
        edition = None
        for page in range(1, PAGES + 1):
            key = self.keys[page % len(self.keys)]
            more = {"more": {"X-Corpus-Snapshot": edition}} if edition else {}
            answer, is_uncertain = self.repeat(QUERY.format(page), key, ends_page, **more)
            if answer.is_told("snapshot_not_served"):
                self.load.count("walks begun again because a server lacked the edition")
                if is_uncertain:
                    self.note(key, "search", COST, False)
                return
            self.note(key, "search", COST, True)
            if answer.status != 200:
                return
            told = answer.headers["x-corpus-snapshot"]
            if told != (edition or told):
                self.load.fault(f"{self.name}: page {page} of {edition} came from {told}")
            edition = told
            if entries_of(answer.body) != self.walks[edition][page - 1]:
                self.load.fault(f"{self.name}: page {page} says that it is of {edition}, but has other entries")
        self.load.count("walks")


def ends_page(answer):
    return is_answered(answer) or answer.is_told("snapshot_not_served")


class Rollouts(threading.Thread):
    """Takes one edition to all servers, one after the other, then the other edition."""

    def __init__(self, load, seed, editions):
        super().__init__(name="rollouts", daemon=True)
        self.load, self.chance, self.editions = load, random.Random(f"{seed} rollouts"), editions

    def run(self):
        older, newer = self.editions
        while not self.load.over.is_set():
            for edition in (newer, older):
                for box in self.load.boxes:
                    if self.load.over.wait(self.chance.uniform(0.3, 1.5)):
                        return
                    try:
                        box.activate(edition)
                    except SystemExit as error:
                        self.load.fault(f"{box.name} does not switch to {edition}: {error}")
                self.load.count("rollouts")
                self.load.over.wait(self.chance.uniform(1, 4))
