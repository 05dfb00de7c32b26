"""Machines as network namespaces on one bridge, and the wires between them, which can be cut.

A cut is silent: what one machine sends to the other is lost, and nobody is told. Each of the two is given a false
hardware address of the other, so that the bridge delivers their packets nowhere.
"""

import ctypes
import os
import subprocess
from pathlib import Path

PLACES = Path("/run/netns")
NOWHERE = "02:00:00:00:00:ff"
NEW_NETWORK = 0x40000000


class Wires:
    def __init__(self, addresses):
        """`addresses` has the last number of each machine's address by its name."""
        self.addresses = {name: f"10.77.0.{number}" for name, number in addresses.items()}
        PLACES.mkdir(exist_ok=True)
        # Seen by this test alone, which has a mount namespace of its own.
        subprocess.run(["mount", "-t", "tmpfs", "places", PLACES], check=True)
        ip("link set lo up", "link add bridge type bridge", "address add 10.77.0.254/24 dev bridge", "link set bridge up")
        for name, address in self.addresses.items():
            ip(f"netns add {name}", f"link add to-{name} type veth peer name wire netns {name}", f"link set to-{name} master bridge up")
            ip(f"address add {address}/24 dev wire", "link set wire up", "link set lo up", machine=name)

    def inside(self, name):
        """Runs a command on a machine."""
        return ["nsenter", f"--net={PLACES / name}"]

    def cut(self, pairs):
        for one, other in pairs:
            for machine, peer in ((one, other), (other, one)):
                ip(f"neighbour replace {self.addresses[peer]} lladdr {NOWHERE} dev wire nud permanent", machine=machine)

    def heal(self, pairs):
        for one, other in pairs:
            for machine, peer in ((one, other), (other, one)):
                ip(f"neighbour delete {self.addresses[peer]} dev wire", machine=machine)


def ip(*lines, machine=None):
    command = ["ip", *(["-netns", machine] if machine else []), "-batch", "-"]
    subprocess.run(command, input="\n".join(lines), text=True, check=True)


def move_this_thread_to(name):
    """From now on the sockets that this thread opens are those of a machine."""
    place = os.open(PLACES / name, os.O_RDONLY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(place, NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network of {name}")
    finally:
        os.close(place)
