#!/usr/bin/env python3
"""Writes what a program is made of as a CycloneDX document: every package that is compiled into it, with its version,
licence, source and hash, and which package needs which. Usage: sbom.py TARGET OUT, in the folder of the project."""

import json
import pathlib
import subprocess
import sys
import tomllib
import uuid

ROOT = "hornbook"


def main(target, out):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: normal_needs(node) for node in metadata["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == ROOT)
    compiled, waiting = set(), [root]
    while waiting:
        id = waiting.pop()
        if id not in compiled:
            compiled.add(id)
            waiting.extend(needs[id])
    hashes = hashes_of_lock_file()
    components = [component(packages[id], hashes) for id in compiled if id != root]
    program = component(packages[root], hashes) | {"type": "application"}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same packages give the same document.
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, target + json.dumps(sorted(compiled)))),
        "version": 1,
        "metadata": {"component": program, "properties": [{"name": "cargo:target", "value": target}]},
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": sorted(
            (
                {"ref": reference(packages[id]), "dependsOn": sorted(reference(packages[need]) for need in needs[id])}
                for id in compiled
            ),
            key=lambda entry: entry["ref"],
        ),
    }
    pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")
    print(f"{out}: {len(components)} packages")


def normal_needs(node):
    """The packages that are linked; those that only build scripts and tests use are in no program."""
    return [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]


def hashes_of_lock_file():
    locked = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in locked}


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, hashes):
    found = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package["license"]:
        # Cargo once wrote a choice of licences with a slash.
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package["description"]:
        found["description"] = " ".join(package["description"].split())
    checksum = hashes.get((package["name"], package["version"]))
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
