"""One server of the program, for tests that run several on one database: start, command, stop and kill it."""

import http.client
import json
import os
import signal
import subprocess


class Server:
    """A server with a data directory of its own. `inside` is a command that runs another one where this server is."""

    settings = ("free.per_minute=1000000", "free.per_day=100000000", "free.monthly_units=0")

    def __init__(self, program, folder, number, backend, listen="127.0.0.1:0", inside=()):
        self.program, self.number, self.inside = program, number, list(inside)
        self.data = folder / f"server-{number}"
        # Names of tests are no settings of the program.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HORNBOOK_")}
        self.environment = {**inherited, "HORNBOOK_STATE_BACKEND": backend, "HORNBOOK_SERVER_LISTEN": listen}
        self.process, self.port, self.log = None, None, folder / f"server-{number}.log"

    def program_with(self, *arguments):
        set_each = [word for setting in self.settings for word in ("--set", setting)]
        return [*self.inside, self.program, "--data", str(self.data), *set_each, *arguments]

    def command(self, *arguments, backend=None, **more):
        """What a command of the operator says."""
        environment = {**self.environment, "HORNBOOK_STATE_BACKEND": backend or self.environment["HORNBOOK_STATE_BACKEND"]}
        command = self.program_with("--json", *arguments)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **more)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip()[:1] in ("{", "[") else done.stdout

    def start(self):
        with self.log.open("a") as log:
            command = self.program_with("serve")
            self.process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.port = int(line.rsplit(":", 1)[1].split("/")[0])
                return
        self.process.wait()
        raise SystemExit(f"server {self.number} did not start:\n{self.log.read_text()[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


def ask(host, port, path, key, retry=None, seconds=20, body=None, more=None):
    """Sends one request. Returns status, headers and body; the status is 0 if no answer came."""
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        headers = {"Authorization": f"Bearer {key}"} | ({"Idempotency-Key": retry} if retry else {}) | (more or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request("GET" if body is None else "POST", path, body=body, headers=headers)
        answer = connection.getresponse()
        read = answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, read
    except (OSError, http.client.HTTPException):
        return 0, {}, b""
    finally:
        connection.close()
