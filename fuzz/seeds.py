#!/usr/bin/env python3
"""Writes the first inputs of the fuzzer into fuzz/corpus, out of the small files of the importers' tests.

A target starts from these and from what it found before. The tests hold their files as raw strings or next to them.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent / "index-build/tests/it"
SAMPLE = HERE.parent / "corpus/sample"

# The formats in the order of the table of importers: the first byte of an input picks one, in 'documents' and in 'cfr'.
DOCUMENTS = ["uslm", "ecfr", "cfr-annual", "regml", "state-json", "page-json", "state-html", "municipal-html", "plain-text", "open-law"]
CFR = ["ecfr", "cfr-annual", "regml"]

# Which formats the strings of a test file are in.
STRINGS = {
    "cfr.rs": CFR,
    "open_law_small.rs": ["open-law"],
    "municipal_html.rs": ["municipal-html"],
    "state_html.rs": ["state-html"],
    "state_json.rs": ["state-json"],
    "page_json.rs": ["page-json"],
    "plain_text.rs": ["plain-text"],
    "table_spans.rs": ["uslm", "open-law", "ecfr", "cfr-annual", "municipal-html"],
}


def write(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(content)


def document(name, form, content):
    write("documents", f"{form}-{name}", bytes([DOCUMENTS.index(form)]) + content)
    if form in CFR:
        write("cfr", f"{form}-{name}", bytes([CFR.index(form)]) + content)
    if form == "open-law":
        write("open_law", name, content)
    if form == "uslm":
        write("uslm", name, content)


for file, forms in STRINGS.items():
    text = (TESTS / file).read_text()
    raw = [found[1] for found in re.findall(r'r(#+)"(.*?)"\1', text, re.S)]
    plain = [found.replace('\\"', '"').replace("\\n", "\n") for found in re.findall(r'"(<(?:[^"\\]|\\.)+)"', text, re.S)]
    for place, content in enumerate(one for one in raw + plain if len(one) >= 40):
        for form in forms:
            document(f"{file.removesuffix('.rs')}-{place}", form, content.encode())
for file in (TESTS / "uslm").glob("*.xml"):
    document(file.stem, "uslm", file.read_bytes())
for file in sorted(SAMPLE.rglob("*")):
    if file.suffix == ".jsonl":
        write("native", file.stem, b"".join(file.read_bytes().splitlines(keepends=True)[:12]))
    if file.suffix in (".geojson", ".json"):
        write("geojson", file.stem, file.read_bytes()[:8000])
labels = ["(a) One.\n(1) Two.\n(i) Three.\n(ii) Four.\n(2) Five.\n(b) Six.", "A. x\n1. x\na. x\n(1)(a) x\n\nBut\n(B) x"]
for place, text in enumerate(labels):
    write("labels", str(place), text.encode())
for place, text in enumerate(["17 U.S.C. § 107(a)(1)", "sections 5, 7 to 9 and 12 of title 42", "Va. Code §§ 13.1-601 – 13.1-603"]):
    write("citation", str(place), text.encode())
# A file of the snapshot, whether its header is made right again, and one change to it: kind, place and value.
for pick in range(48):
    for kind in range(8):
        for region in (0, 16, 32):
            change = bytes([kind + region]) + (2654435761 * (pick + 1) % 2**32).to_bytes(4, "little") + bytes([37 * pick % 256])
            write("snapshot", f"{pick}-{kind}-{region}", bytes([pick, 1]) + change)
# One change to a whole pack: its place and the new byte. Then texts of the kinds that the target 'signature' reads.
for place in range(64):
    write("pack", str(place), bytes([1]) + (2654435761 * (place + 1) % 2**32).to_bytes(4, "little") + bytes([37 * place % 256]))
# Operators of a page, which the target 'pdf' wraps in a file, and whole files with a font that states its characters.
OPERATORS = [
    b"1 0 0 1 72 700 Tm (17 U.S.C. \\247 107 allows it.) Tj 0 -12 Td (See 42 U.S.C. \\247 1983.) Tj ET",
    b"72 700 Td 14 TL [(fair) -250 (use) 120 <6f66>] TJ T* (a second line) ' 1 2 (a third) \" ET",
    b"/F1 12 Tf 2 Tr .5 Tc 3 Tw 90 Tz 4 Ts q 1 0 0 -1 0 800 cm (upside down) Tj Q ET",
    b"ET BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI BT /P <</MCID 0>> BDC (marked) Tj EMC ET",
]
CMAP = (b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        b"2 beginbfchar <41> <0061> <42> <00660069> endbfchar 1 beginbfrange <43> <50> <0063> endbfrange endcmap end")


def pdf(font, page):
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
               b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
               b"<</Length %d>>stream\n%s\nendstream" % (len(page), page), font,
               b"<</Length %d>>stream\n%s\nendstream" % (len(CMAP), CMAP)]
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 7\n0000000000 65535 f \n%strailer<</Root 1 0 R/Size 7>>\nstartxref\n%d\n%%%%EOF\n" % (table, len(out))


FONTS = [b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
         b"<</Type/Font/Subtype/TrueType/BaseFont/A/FirstChar 65/LastChar 67/Widths[500 600 700]/ToUnicode 6 0 R"
         b"/Encoding<</Differences[65/a/fi/section]>>>>",
         b"<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2"
         b"/BaseFont/A/DW 900/W[65[500 600] 67 70 700]>>]>>"]
for place, operators in enumerate(OPERATORS):
    write("pdf", f"page-{place}", operators)
    for number, font in enumerate(FONTS):
        write("pdf", f"file-{place}-{number}", pdf(font, b"BT /F1 9 Tf " + operators))
SIGNED = "untrusted comment: x\nRUSLCw7tBsJurrqCIF4ZfYr6KNDOkftWPnYKN7u7ig9KMSULOwbgGNC3TDmhYcL7wo082SMn3ZpFK3s0DUbkO8H1vnAXUCe5wQA=\ntrusted comment: x\n5yR6ouUiBuGNeUTkGI+uQi56+CYOZubCEzPzlq7X+UfDUu3ZXMPGWJZrPJM875hKQEvo9vS0yEZjxj60snlMDw==\n"
PUBLIC = "RWSLCw7tBsJursASY44FzCEL6/5qpBJXTSjN8VGQESr8vjtZ57vTyeJY"
SECRET = "untrusted comment: x\nRWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAiwsO7QbCbq7W1CBtyn6OgYCzTPlOIFxBFa/SiU6SuSQ0upRQ0+IO/cASY44FzCEL6/5qpBJXTSjN8VGQESr8vjtZ57vTyeJYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
CHANNEL = '{"format":1,"channel":"law","sequence":1,"snapshot":"' + "a" * 32 + '","name":"t","published":"","currentThrough":[],"packs":[{"file":"a.pack","since":null,"bytes":172,"indexAt":16,"indexBytes":100,"indexBlake3":"' + "0" * 64 + '"}]}'
for kind, text in enumerate([SIGNED, PUBLIC, SECRET, CHANNEL]):
    write("signature", str(kind), bytes([kind]) + text.encode())
