"""A model of the ledger as one list: every entry of every account, in order, replayed with plain sums.

Then what the callers know is compared with it. Each answered call must be in the list once, and nothing may be there that
nobody asked for. For callers who repeat until they are answered, the order must be theirs, too.
"""

from collections import Counter, defaultdict

# The counter book of an entry, and its sign.
BOOKS = {"usage": "spent", "refund": "spent", "purchase": "sold", "grant": "granted", "adjustment": "adjusted"}
ALL = 10**9


def read_list(box):
    """Every entry of every account, in the order of the ledger."""
    entries = []
    for account in box.command("account", "list"):
        for entry in box.command("ledger", "show", account["id"], "--count", str(ALL)):
            entries.append({**entry, "account": account["id"]})
    return sorted(entries, key=lambda entry: entry["id"])


def replay(entries, proof, monthly_units):
    """What is wrong with the list alone, with the sums that the program itself proved."""
    wrong = []
    if [entry["id"] for entry in entries] != list(range(1, len(entries) + 1)):
        wrong.append("the numbers of the entries have gaps or repeat")
    if len(entries) != proof["entries"]:
        wrong.append(f"{len(entries)} entries were read, but the ledger proved {proof['entries']}")
    wallets, units, books, open_calls = Counter(), Counter(), Counter(), Counter()
    for entry in entries:
        account, kind, credits, from_units = entry["account"], entry["kind"], entry["credits"], entry["fromAllotment"]
        wallets[account] += credits + from_units
        units[account, entry["at"][:7]] += from_units
        books["wallets"] += credits + from_units
        books["allotted"] -= from_units
        books[BOOKS[kind]] -= credits
        if wallets[account] != entry["balanceAfter"]:
            wrong.append(f"entry {entry['id']}: the balance is {entry['balanceAfter']}, but the sum is {wallets[account]}")
        if wallets[account] < 0:
            wrong.append(f"entry {entry['id']}: {account} is overdrawn by {-wallets[account]}")
        if not 0 <= units[account, entry["at"][:7]] <= monthly_units:
            wrong.append(f"entry {entry['id']}: {account} used {units[account, entry['at'][:7]]} of {monthly_units} units")
        call = (entry["keyPrefix"], entry["operation"], abs(credits))
        if kind == "usage":
            open_calls[call] += 1
        elif kind == "refund":
            if open_calls[call] == 0:
                wrong.append(f"entry {entry['id']}: a refund without a debit before it")
            open_calls[call] -= 1
    for book, balance in proof["books"].items():
        if books[book] != balance:
            wrong.append(f"the book {book} is {balance}, but the list adds up to {books[book]}")
    return wrong


def compare(entries, acts_by_key, in_order):
    """What differs between the list and what callers know. `in_order` are the keys of those who repeat until answered."""
    wrong, by_key = [], defaultdict(list)
    for entry in entries:
        if entry["kind"] in ("usage", "refund"):
            by_key[entry["keyPrefix"]].append(entry)
    for stranger in by_key.keys() - acts_by_key.keys():
        wrong.append(f"{len(by_key[stranger])} calls are charged to the key {stranger}, with which nobody called")
    for key, acts in acts_by_key.items():
        charged, surely, perhaps = Counter(), Counter(), Counter()
        for entry in by_key[key]:
            charged[entry["operation"], abs(entry["credits"])] += 1 if entry["kind"] == "usage" else -1
        for act in acts:
            (surely if act.is_sure else perhaps)[act.operation, act.cost] += 1
        for call in charged.keys() | surely.keys():
            if not surely[call] <= charged[call] <= surely[call] + perhaps[call]:
                told = f"{surely[call]} were answered and {perhaps[call]} more may be charged"
                wrong.append(f"{key}: {call[0]} for {call[1]} credits is charged {charged[call]} times, but {told}")
        if key in in_order and not is_in_order(by_key[key], acts):
            wrong.append(f"{key}: the calls are not in the ledger in the order in which they were made")
    return wrong


def is_in_order(entries, acts):
    """Whether the entries are those of the acts in their order, without the debits that were given back later."""
    refunds = Counter(entry["operation"] for entry in entries if entry["kind"] == "refund")
    usage = [entry["operation"] for entry in entries if entry["kind"] == "usage"]
    # Each way to read the list so far: how many acts it contains, and how many debits of each operation are given back.
    ways = {(0, ())}
    for operation in usage:
        after = set()
        for at, given_back in ways:
            for reached in reachable(acts, at):
                if reached < len(acts) and acts[reached].operation == operation:
                    after.add((reached + 1, given_back))
            if dict(given_back).get(operation, 0) < refunds[operation]:
                more = Counter(dict(given_back))
                more[operation] += 1
                after.add((at, tuple(sorted(more.items()))))
        ways = after
    return any(len(acts) in reachable(acts, at) and dict(given_back) == dict(refunds) for at, given_back in ways)


def reachable(acts, at):
    """This act, and those after it that can be reached over calls that may not be charged."""
    yield at
    while at < len(acts) and not acts[at].is_sure:
        at += 1
        yield at
