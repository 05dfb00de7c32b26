#!/usr/bin/env python3
"""Writes a container image with nothing but the program and the certificates of this machine's authorities, as an OCI
archive: 'podman load -i FILE'. The settings are those of deploy/Containerfile.
Usage: image.py PROGRAM ARCHITECTURE VERSION SECONDS OUT, where SECONDS is the time that all files have."""

import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import time

USER = 10001
AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
CONTAINERFILE = pathlib.Path(__file__).parent.parent / "Containerfile"


def main(program, architecture, version, seconds, out):
    seconds = int(seconds)
    layer = layer_of(pathlib.Path(program), seconds)
    packed = gzip.compress(layer, mtime=0)
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
        "config": {
            "User": str(USER),
            "WorkingDir": "/var/lib/hornbook",
            "Volumes": {"/var/lib/hornbook": {}},
            "Env": ["PATH=/usr/local/bin", *environment()],
            "ExposedPorts": {"8080/tcp": {}},
            "StopSignal": "SIGTERM",
            "Entrypoint": ["/usr/local/bin/hornbook"],
            "Cmd": ["serve"],
            "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "MIT OR Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    }
    blobs = {}
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": stored(blobs, "application/vnd.oci.image.config.v1+json", json.dumps(config).encode()),
        "layers": [stored(blobs, "application/vnd.oci.image.layer.v1.tar+gzip", packed)],
    }
    entry = stored(blobs, manifest["mediaType"], json.dumps(manifest).encode())
    entry["annotations"] = {"org.opencontainers.image.ref.name": f"hornbook:{version}"}
    files = {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
    }
    with tarfile.open(out, "w") as archive:
        for name, content in [*files.items(), *sorted(blobs.items())]:
            add(archive, name, seconds, content)


def environment():
    """The variables that the Containerfile sets."""
    line = next(line for line in CONTAINERFILE.read_text().splitlines() if line.startswith("ENV "))
    return line.split()[1:]


def layer_of(program, seconds):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as layer:
        for folder, mode, owner in [
            ("etc", 0o755, 0),
            ("etc/ssl", 0o755, 0),
            ("etc/ssl/certs", 0o755, 0),
            ("tmp", 0o1777, 0),
            ("usr", 0o755, 0),
            ("usr/local", 0o755, 0),
            ("usr/local/bin", 0o755, 0),
            ("var", 0o755, 0),
            ("var/lib", 0o755, 0),
            ("var/lib/hornbook", 0o700, USER),
        ]:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.mtime, entry.uid, entry.gid = tarfile.DIRTYPE, mode, seconds, owner, owner
            layer.addfile(entry)
        if AUTHORITIES.exists():
            add(layer, "etc/ssl/certs/ca-certificates.crt", seconds, AUTHORITIES.read_bytes())
        add(layer, "usr/local/bin/hornbook", seconds, program.read_bytes(), 0o755)
    return written.getvalue()


def add(archive, name, seconds, content, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(content), seconds, mode
    archive.addfile(entry, io.BytesIO(content))


def stored(blobs, media_type, content):
    digest = hashlib.sha256(content).hexdigest()
    blobs[f"blobs/sha256/{digest}"] = content
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


if __name__ == "__main__":
    main(*sys.argv[1:])
