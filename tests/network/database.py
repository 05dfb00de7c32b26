"""Two PostgreSQL machines: one takes changes, the other repeats each before it is acknowledged (synchronous replication)."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

DISK = "400m"
# With files that only a power cut could lose, nothing waits for the disk; processes are killed here, machines keep their memory.
CONFIGURATION = """
listen_addresses = '*'
port = 5432
unix_socket_directories = '{folder}'
hba_file = '{folder}/hba.conf'
fsync = off
shared_buffers = 32MB
max_connections = 100
min_wal_size = 4MB
max_wal_size = 32MB
wal_keep_size = 64MB
wal_sender_timeout = 3s
wal_receiver_timeout = 3s
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 300ms
tcp_keepalives_idle = 3
tcp_keepalives_interval = 1
tcp_keepalives_count = 3
log_min_messages = warning
include 'upstream.conf'
include 'synchronous.conf'
"""
EVERYBODY = "local all all trust\nhost all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n"


class Machine:
    def __init__(self, wires, programs, folder, name):
        self.wires, self.programs, self.name = wires, Path(programs), name
        self.address, self.folder, self.process = wires.addresses[name], folder / name, None
        self.data, self.log = self.folder / "data", folder / f"{name}.log"
        self.folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", name, self.folder], check=True)
        shutil.chown(self.folder, "postgres", "postgres")
        self.write("postgresql.conf", CONFIGURATION.format(folder=self.folder))
        self.write("hba.conf", EVERYBODY)
        self.write("upstream.conf", "")
        self.write("synchronous.conf", "")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def tool(self, name, *arguments):
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return [*self.wires.inside(self.name), *as_postgres, str(self.programs / name), *map(str, arguments)]

    def run(self, name, *arguments):
        done = subprocess.run(self.tool(name, *arguments), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: {name}: {done.stderr}")

    def start(self):
        """Starts it, and waits until it answers."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        with self.log.open("a") as log:
            command = self.tool("postgres", "-D", self.data, "-c", f"config_file={self.folder}/postgresql.conf")
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.settle()
        if not self.is_running():
            raise SystemExit(f"{self.name} did not start: {self.log.read_text()[-1000:]}")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def settle(self):
        """Waits until it answers, or has ended."""
        wait_for(f"{self.name} answers or has ended", lambda: not self.is_running() or self.ask("SELECT 1") == "1")

    def kill(self):
        """Kills all its processes at once, as far as signals can."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for process in [self.process.pid, *map(int, children)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        wait_for(f"the processes of {self.name} are gone", lambda: not any(is_alive(child) for child in children))

    def ask(self, query, seconds=10):
        """The answer of this machine alone, over its socket; none if it does not answer."""
        command = [str(self.programs / "psql"), "-h", str(self.folder), "-U", "hornbook", "-d", "postgres", "-XAtqc", query]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def reload(self, name, text):
        """Changes a part of its settings while it runs."""
        self.write(name, text)
        self.process.send_signal(signal.SIGHUP)


class Database:
    """The two machines, and which of them takes changes."""

    def __init__(self, wires, programs, folder):
        self.primary, self.standby = (Machine(wires, programs, folder, name) for name in ("db1", "db2"))
        self.primary.run("initdb", "-D", self.primary.data, "-U", "hornbook", "-E", "UTF8", "--locale=C", "--auth=trust", "--wal-segsize=1", "--no-sync")
        self.primary.start()
        self.primary.ask("CREATE DATABASE hornbook")
        self.build_standby()

    def address(self):
        hosts = ",".join(f"{machine.address}:5432" for machine in sorted((self.primary, self.standby), key=lambda one: one.name))
        return f"postgres://hornbook@{hosts}/hornbook?sslmode=disable"

    def build_standby(self):
        """Copies the primary to the other machine, which replicates from then on."""
        primary, standby = self.primary, self.standby
        shutil.rmtree(standby.data, ignore_errors=True)
        standby.run("pg_basebackup", "-D", standby.data, "-h", primary.address, "-U", "hornbook", "-X", "stream", "-c", "fast", "--no-sync")
        (standby.data / "standby.signal").touch()
        upstream = f"host={primary.address} user=hornbook application_name={standby.name} connect_timeout=2 tcp_user_timeout=3000"
        standby.write("upstream.conf", f"primary_conninfo = '{upstream}'\n")
        standby.write("synchronous.conf", "")
        standby.start()
        primary.reload("synchronous.conf", f"synchronous_standby_names = '{standby.name}'\n")
        self.wait_until_synchronous()

    def is_synchronous(self):
        query = "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{}' AND state = 'streaming' AND sync_state = 'sync'"
        return self.primary.ask(query.format(self.standby.name)) == "1"

    def wait_until_synchronous(self):
        wait_for(f"{self.standby.name} replicates synchronously", self.is_synchronous)

    def promote_standby(self):
        """The standby takes changes from now on. The old primary can acknowledge none: nobody repeats its changes any more."""
        standby = self.standby
        if standby.ask("SELECT pg_promote(true, 20)", seconds=30) != "t":
            raise SystemExit(f"{standby.name} was not promoted")
        self.primary, self.standby = standby, self.primary

    def start_again(self):
        """Starts what crashed. Only then is the next fault allowed: each change is on both machines again."""
        for machine in (self.primary, self.standby):
            if not machine.is_running():
                machine.start()
        self.wait_until_synchronous()


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what, is_so, seconds=60):
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            raise SystemExit(f"not within {seconds} s: {what}")
        time.sleep(0.05)
