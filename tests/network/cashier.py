"""The operator, who confirms the payment of each purchase: every notice of a payment arrives twice, at any two servers."""

import random
import subprocess
import threading
import time


class Cashier(threading.Thread):
    def __init__(self, load, seed):
        super().__init__(name="cashier", daemon=True)
        self.load, self.chance, self.over = load, random.Random(f"{seed} cashier"), threading.Event()

    def run(self):
        is_last = False
        while not is_last:
            is_last = self.over.wait(0.5)
            bought = self.at_any("purchase", "list")
            # The last round is one that saw every purchase.
            is_last &= bought is not None
            for purchase in [purchase["id"] for purchase in bought or [] if purchase["status"] == "requested"]:
                is_paid = [self.at_any("purchase", "approve", purchase, "--reference", f"pay-{purchase}") for _ in range(2)]
                is_last &= any(is_paid)

    def at_any(self, *command):
        """What a server says to a command; none if it cannot do it now. The next round tries again."""
        box = self.chance.choice(self.load.boxes)
        with box.lock:
            if box.process.poll() is not None:
                return None
            try:
                return box.command(*command, timeout=30)
            except (SystemExit, subprocess.TimeoutExpired):
                # A server that was killed, or whose database is away.
                self.load.count("commands of the operator that failed")
        time.sleep(0.2)
        return None
