#!/usr/bin/env python3
"""Makes codes.tsv from the workbook of the US Census Bureau, "2-6 digit_2022_Codes.xlsx": `make naics`.

One line per code, in the order of the workbook: the code, a tab, the official title. A workbook is a zip of XML, so that
nothing but Python is needed.
"""

import re
import sys
import zipfile
from xml.etree import ElementTree

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
CODES = 2125


def main(workbook):
    with zipfile.ZipFile(workbook) as files:
        strings = ElementTree.fromstring(files.read("xl/sharedStrings.xml"))
        shared = ["".join(part.text or "" for part in string.iter(SHEET + "t")) for string in strings]
        sheet = ElementTree.fromstring(files.read("xl/worksheets/sheet1.xml"))
    lines = []
    for row in sheet.iter(SHEET + "row"):
        cells = {re.match("[A-Z]+", cell.get("r")).group(): text_of(cell, shared) for cell in row.iter(SHEET + "c")}
        code, title = cells.get("B", ""), cells.get("C", "")
        if re.fullmatch(r"\d{2,6}|\d\d-\d\d", code):
            lines.append(f"{code}\t{title}")
    if len(lines) != CODES:
        sys.exit(f"{workbook} has {len(lines)} codes; the edition of 2022 has {CODES}")
    print("\n".join(lines))


def text_of(cell, shared):
    value = cell.find(SHEET + "v")
    if value is None:
        return ""
    text = shared[int(value.text)] if cell.get("t") == "s" else value.text
    return " ".join(text.split())


if __name__ == "__main__":
    main(sys.argv[1])
