"""Prints advisories.tsv anew from a clone of the RustSec advisory database (https://github.com/RustSec/advisory-db).

Usage: advisories.py CLONE DAY. DAY is the day of the clone's latest commit, such as 2026-08-21.
"""

import pathlib
import sys
import tomllib

clone, day = pathlib.Path(sys.argv[1]), sys.argv[2]
rows = []
for file in clone.glob("crates/*/*.md"):
    # The facts are a TOML block at the start of the file; the prose follows.
    facts = tomllib.loads(file.read_text(encoding="utf-8").split("```toml\n", 1)[1].split("\n```", 1)[0])
    advisory, versions = facts["advisory"], facts["versions"]
    # A notice says that a package is given up or dangerous to use; no version of it is at fault.
    if advisory.get("informational") in ("notice", "unmaintained") or "withdrawn" in advisory:
        continue
    ranges = [" | ".join(versions.get(kind, [])) or "-" for kind in ("patched", "unaffected")]
    rows.append((advisory["package"], advisory["id"], *ranges))
print("# Known faults of packages: package, id, versions that have it mended, versions that never had it (alternatives between bars).")
print(f"# Facts from the RustSec advisory database as it was on {day}, without notices and withdrawn entries.")
for row in sorted(rows):
    print("\t".join(row))
