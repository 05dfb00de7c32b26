"""A server of its own on the sample snapshot, with what attackers know of it: keys, links and a signed-in browser."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile

from floods import JSON, form
from http1 import Connection, Request

# The server and its paying client share one core, and the attackers have the other.
CORES = os.sched_getaffinity(0)
PASSWORD = "correct+horse"
ADDRESS = {"street": "77 Vexley Terrace", "city": "Dover", "state": "DE", "zip": "19901"}
INTAKE = {
    "state": "DE",
    "entityType": "llc",
    "names": ["Ondarza Tools LLC"],
    "purpose": "Tools.",
    "naics": "541511",
    "people": [{"name": "Q. Ondarza", "roles": ["organizer", "member"], "address": ADDRESS, "email": "q@mail.example"}],
    "registeredAgent": {"name": "Agents Inc.", "address": ADDRESS},
    "management": "members",
    "contact": {"name": "Q. Ondarza", "email": "q@mail.example"},
}


class Browser:
    """The cookie of a browser, and the form token that belongs to it."""

    def __init__(self, site):
        self.site, self.origin, self.cookie, self.token = site, site.origin, "", ""

    def ask(self, request):
        connection = self.site.connect()
        status, _ = connection.ask(request)
        for cookie in re.findall(rb"set-cookie: (\S+=\S+);", connection.head):
            self.cookie = cookie.decode()
        page = connection.body.decode()
        if found := re.search(r'name="token" value="(\w+)"', page):
            self.token = found[1]
        connection.socket.close()
        return status, page

    def get(self, path):
        return self.ask(Request("GET", path, headers=(f"Cookie: {self.cookie}",)))


class Server:
    def __init__(self, program, listen, tls):
        self.folder = tempfile.mkdtemp(prefix="attack-")
        self.tls, self.origin = tls, "https://localhost" if tls else "http://localhost"
        self.base = [program, "--json", "--data", f"{self.folder}/data"]
        # The paying client is never too fast, and a starter pack is used up by one call. Nobody answers for Stripe.
        never = [f"pack_bulk.{per}=100000000" for per in ("per_minute", "per_day")]
        stripe = ["payments.provider=stripe", "payments.stripe_api=http://127.0.0.1:1"]
        os.environ["HORNBOOK_PAYMENTS_STRIPE_SECRET_KEY"] = "sk_test_0123456789abcdef"
        os.environ["HORNBOOK_PAYMENTS_STRIPE_WEBHOOK_SECRET"] = "whsec_0123456789abcdef"
        settings = ["free.monthly_units=0", "pack_starter.credits=1", "pack_bulk.credits=1000000", "people.sign_up=approval",
                    f"server.base_url={self.origin}", f"snapshots.share={self.folder}/channel", *never, *stripe]
        for setting in settings:
            self.base += ["--set", setting]
        self.run("build", "corpus/sample/plan.toml")
        self.run("snapshot", "keygen", "--out", f"{self.folder}/channel.key")
        self.run("snapshot", "pack", "--channel", f"{self.folder}/channel", "--name", "law", "--key", f"{self.folder}/channel.key")
        self.pack = next(f"/channel/{name}" for name in os.listdir(f"{self.folder}/channel") if name.endswith(".pack"))
        self.account, self.key = self.customer("Payer", "bulk")
        _, self.poor = self.customer("Poor", "starter")
        _, self.paced = self.customer("Paced", None)
        self.start(listen)
        self.address = ("::1" if listen.startswith("[") else "127.0.0.1", self.port)
        self.learn()

    def start(self, listen):
        serve = [*self.base, "serve", "--listen", listen]
        if self.tls:
            files = ["-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem"]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-days", "1", *files],
                           check=True, capture_output=True)
            serve += ["--tls-certificate", f"{self.folder}/cert.pem", "--tls-private-key", f"{self.folder}/key.pem"]
        self.process = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("listening on"):
                self.port = int(line.strip().rsplit(":", 1)[1])
                break
        # Each thread by itself. Later ones are started by these, and have the same core.
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(thread), {min(CORES)})

    def learn(self):
        """What attackers use: the form token of a stranger, a signed-in person with a long ledger, links, and addresses of a map."""
        self.stranger, self.person = Browser(self), Browser(self)
        self.stranger.get("/settings/sign-in")
        link = json.loads(self.run("account", "link", self.account))["link"]
        self.person.get(link)
        assert self.person.ask(form(self.person, link, login="payer", password=PASSWORD))[0] == 303
        assert self.person.get("/settings")[0] == 200
        other = json.loads(self.run("account", "create", "Invited", "--approve"))["id"]
        self.link = json.loads(self.run("account", "link", other))["link"]
        handed_over = Request("POST", "/api/v1/formation/handoff", json.dumps(INTAKE).encode(), (*JSON, f"Authorization: Bearer {self.key}"))
        self.review = json.loads(Browser(self).ask(handed_over)[1])["reviewUrl"].removeprefix(self.origin)
        self.map_parts = re.search(r'data-parts="([^"]+)"', Browser(self).get("/zoning/XA-MILLBROOK")[1])[1]
        west, south, east, north = json.loads(Browser(self).get(f"{self.map_parts}/zones")[1])["bbox"]
        y = (1 - math.asinh(math.tan(math.radians((south + north) / 2))) / math.pi) / 2
        self.map_tile = 14, ((west + east) / 2 + 180) / 360 * 2**14, y * 2**14

    def connect(self):
        return Connection(self.address, tls=self.tls)

    def customer(self, name, pack):
        """An account and its key; without a pack it has credits, and may make few calls a minute."""
        account = json.loads(self.run("account", "create", name, "--approve"))["id"]
        if pack:
            purchase = json.loads(self.run("purchase", "request", account, pack))["id"]
            self.run("purchase", "approve", purchase, "--reference", f"cash of {name}")
        else:
            self.run("grant", account, "1000000", "--reason", "attack")
        return account, json.loads(self.run("key", "create", account, "--test"))["key"]

    def run(self, *words):
        done = subprocess.run([*self.base, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
        return done.stdout

    def anonymous_mb(self):
        status = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) / 1024

    def left(self):
        return json.loads(self.run("account", "show", self.account))["creditsRemaining"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        shutil.rmtree(self.folder)
        return code
