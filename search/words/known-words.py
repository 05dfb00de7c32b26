"""Writes known-words.txt: English words and names that a search never takes for misspelt.

Usage: known-words.py FOLDER, where FOLDER holds the word lists of SCOWL as Debian packages them, unpacked:
wamerican-large, wbritish-large, wcanadian-large and wamerican-huge.
"""

import re
import sys
from pathlib import Path

# A word of the largest list is rare. If it is short, it is likelier a slip of a common word (fone, mony) than meant.
RARE_LETTERS_MIN = 8
LETTERS_MIN, LETTERS_MAX = 4, 24


def words(folder, name, letters_min):
    text = (Path(folder) / "usr/share/dict" / name).read_text(encoding="utf-8")
    # People leave out apostrophes: dont, womens.
    folded = (line.lower().replace("'", "") for line in text.split())
    return {word for word in folded if re.fullmatch("[a-z]{%d,%d}" % (letters_min, LETTERS_MAX), word)}


folder = sys.argv[1]
known = set()
for variant in ["american", "british", "canadian"]:
    known |= words(folder, f"{variant}-english-large", LETTERS_MIN)
known |= words(folder, "american-english-huge", RARE_LETTERS_MIN)
Path(__file__).with_name("known-words.txt").write_text("".join(f"{word}\n" for word in sorted(known)))
print(f"{len(known):,} words")
