"""The servers, each on its machine with its clock, and haproxy in front of them with the settings that we deploy."""

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "postgres"))
from server import Server, ask  # noqa: E402

PORT = 8080
DEPLOYED = Path("deploy/servers/haproxy.cfg")
# Long enough to go on when a start meets a database that is still starting, as systemd would.
START_WITHIN = 60


class Box(Server):
    """A server that is started again whenever it ends, until it is there."""

    # Small packs, so that they are bought often; no limit of a tier is in the way.
    settings = (
        "free.per_minute=1000000", "free.per_day=100000000", "free.monthly_units=100", "log.requests=errors",
        "server.proxies=10.77.0.20", "pack_starter.credits=150", "pack_starter.per_minute=1000000", "pack_starter.per_day=100000000",
    )  # fmt: skip

    def __init__(self, program, folder, number, backend, wires, clock):
        self.name, self.host = f"box{number}", wires.addresses[f"box{number}"]
        super().__init__(program, folder, number, backend, f"{self.host}:{PORT}", wires.inside(self.name))
        self.clock, self.hours = clock, 0
        # Held while it starts, and by commands of the operator, which would open its data if it is not there.
        self.lock = threading.Lock()
        self.starts = 0

    def set_clock(self, hours):
        """Its calendar is wrong by some hours from its next start on; its steady clock is not."""
        self.hours = hours
        self.environment |= {"LD_PRELOAD": self.clock, "HOURS_AHEAD": str(hours)}

    def start(self):
        until = time.monotonic() + START_WITHIN
        with self.lock:
            while True:
                try:
                    self.starts += 1
                    return super().start()
                except SystemExit:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.5)

    def is_ready(self):
        return ask(self.host, PORT, "/readyz", "", seconds=2)[0] == 200

    def call(self, path, key, retry=None):
        """The answer to a call in quiet. While another server charges, or has leased the credits, it is refused, free and to be made again."""
        for _ in range(20):
            answer = ask(self.host, PORT, path, key, retry)
            if answer[0] != 503:
                break
            time.sleep(0.2)
        return answer

    def clock_is_wrong_by(self):
        """Hours by which a program with the clock of this server is ahead."""
        told = subprocess.run(["date", "+%s"], env=self.environment, capture_output=True, text=True, check=True).stdout
        return round((int(told) - time.time()) / 3600)

    def answers_are_wrong_by(self):
        """Hours by which its answers are dated ahead: it goes by the clock of the database."""
        _, headers, _ = ask(self.host, PORT, "/healthz", "", seconds=5)
        told = time.mktime(time.strptime(headers["date"], "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
        return round((told - time.time()) / 3600)

    def activate(self, snapshot):
        """Switches to another edition, as 'systemctl reload' does after 'hornbook snapshot activate'."""
        self.command("snapshot", "activate", snapshot)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)


class Front:
    """haproxy."""

    def __init__(self, program, folder, wires):
        self.program, self.host, self.process = program, wires.addresses["front"], None
        self.inside, self.log, self.settings = wires.inside("front"), folder / "haproxy.log", folder / "haproxy.cfg"
        deployed = DEPLOYED.read_text()
        placed, count = re.subn(r"hornbook-(\d):8080$", lambda box: f"{wires.addresses['box' + box[1]]}:{PORT}", deployed, flags=re.MULTILINE)
        if count != 3:
            raise SystemExit(f"{DEPLOYED} names {count} servers where 3 were expected")
        # Machines that run tests may not allow as many files.
        self.settings.write_text(placed.replace("maxconn 20000", "maxconn 1000"))

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen([*self.inside, self.program, "-db", "-f", str(self.settings)], stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()
