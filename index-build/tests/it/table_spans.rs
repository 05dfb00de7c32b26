//! Tests columns and rows that table cells span, in every format that has them, on small files.

use std::ops::Range;

use hornbook_corpus::layout::{LineKind, build_table, layout_lines};
use hornbook_index_build::content::Content;

use crate::imported::{Imported, Source, import_one};

/// A section with a table, as each format writes it.
const USLM: &str = r#"<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0" identifier="/us/usc/t90"><main><title identifier="/us/usc/t90"><num value="90">Title 90—</num><heading>SHIPS</heading>
<section identifier="/us/usc/t90/s1"><num value="1">§ 1.</num><heading> Fees.</heading><content>{}</content></section></title></main></uscDoc>"#;
const OPEN_LAW: &str = r#"<document xmlns="https://open.law/schemas/library"><heading>Code</heading><container><prefix>Title</prefix><num>1</num><heading>Roads.</heading><section><num>1-1</num><heading>Fees.</heading><text>{}</text></section></container></document>"#;
const ECFR: &str = r#"<DLPSTEXTCLASS><HEADER/><TEXT><BODY><ECFRBRWS><DIV1 N="9" NODE="9:1" TYPE="TITLE"><HEAD>Title 9—Arden</HEAD><DIV5 N="7" NODE="9:1.1" TYPE="PART"><HEAD>PART 7—PONDS</HEAD>
<DIV8 N="§ 7.1" NODE="9:7.1" TYPE="SECTION"><HEAD>§ 7.1   Ponds.</HEAD>{}</DIV8></DIV5></DIV1></ECFRBRWS></BODY></TEXT></DLPSTEXTCLASS>"#;
const ANNUAL: &str = r#"<CFRDOC><FMTR><TITLEPG><TITLENUM>Title 9</TITLENUM></TITLEPG></FMTR><TITLE><CFRTITLE><TITLEHD><HD>Title 9—Arden</HD></TITLEHD></CFRTITLE>
<PART><HD>PART 8—RIVERS</HD><SECTION><SECTNO>§ 8.1</SECTNO><SUBJECT>Rivers.</SUBJECT>{}</SECTION></PART></TITLE></CFRDOC>"#;
const MUNICIPAL: &str = "<h1>Title 5 - Shops</h1><section><h3>5.04.010 Fees</h3>{}</section>";

/// The only provision of a document that contains this table.
fn content(format: &str, table: &str) -> Content {
    let (name, document) = match format {
        "uslm" => ("t.xml", USLM),
        "open-law" => ("a.zip!c/index.xml", OPEN_LAW),
        "ecfr" => ("t.xml", ECFR),
        "cfr-annual" => ("t.xml", ANNUAL),
        _ => ("a.html", MUNICIPAL),
    };
    let source = Source {
        format,
        key: "xa/code",
        code_body: "Code",
        citation: Some("Code § {number}"),
        options: toml::Table::new(),
    };
    let imported: Imported = import_one(name, &document.replace("{}", table), &source);
    assert!(imported.mistakes.is_empty(), "{:?}", imported.mistakes);
    let (_, content, _) = imported.provisions().next().unwrap();
    assert_eq!(content.layout.check_against_text(content.text.as_deref().unwrap()), None);
    content.clone()
}

/// The rows of a table. Each cell is its first column, its words, and its columns and rows.
fn cells(content: &Content) -> Vec<String> {
    let text = content.text.as_deref().unwrap();
    let lines = layout_lines(text, Some(content.layout.as_ref()));
    let rows = lines.into_iter().filter(|line| matches!(line.kind, LineKind::TableHead | LineKind::TableRow));
    let rows: Vec<(Range<usize>, LineKind)> = rows.map(|line| (line.range, line.kind)).collect();
    let table = build_table(text, &rows, &content.layout.marks);
    let set = table.rows.iter().map(|row| {
        let cells = row.iter().map(|cell| {
            let spans = if (cell.columns, cell.rows) == (1, 1) {
                String::new()
            } else {
                format!(" {}x{}", cell.columns, cell.rows)
            };
            format!("{}:{}{spans}", cell.column, &text[cell.bytes.clone()])
        });
        cells.collect::<Vec<_>>().join(", ")
    });
    set.collect()
}

const HTML_FORMATS: [&str; 4] = ["uslm", "open-law", "ecfr", "municipal-html"];

#[test]
fn columns_rows_and_both_keep_every_cell_in_its_column() {
    let table = r#"<table><tr><th rowspan="2">Road</th><th colspan="2">Width</th></tr><tr><th>Min</th><th>Max</th></tr>
        <tr><td>Lane</td><td>1</td><td>2</td></tr><tr><td rowspan="2" colspan="2">None</td><td>3</td></tr><tr><td>4</td></tr></table>"#;
    for format in HTML_FORMATS {
        let head = ["0:Road 1x2, 1:Width 2x1", "1:Min, 2:Max"];
        let body = ["0:Lane, 1:1, 2:2", "0:None 2x2, 2:3", "2:4"];
        assert_eq!(cells(&content(format, table)), [head.as_slice(), &body].concat(), "{format}");
    }
}

#[test]
fn spans_beyond_the_table_end_with_it() {
    let table = r#"<table><tr><td>a</td><td colspan="9">b</td></tr><tr><td>c</td><td>d</td><td rowspan="9">e</td></tr><tr><td>f</td></tr></table>"#;
    for format in HTML_FORMATS {
        // In the last row, the missing cell is an empty one.
        assert_eq!(cells(&content(format, table)), ["0:a, 1:b 2x1", "0:c, 1:d, 2:e 1x2", "0:f, 1:"], "{format}");
    }
}

#[test]
fn rows_without_words_are_dropped_and_count_in_no_span() {
    let table = r#"<table><tr><td rowspan="3">a</td><td>b</td></tr><tr><td> </td></tr><tr><td>c</td></tr><tr><td>d</td><td>e</td></tr></table>"#;
    for format in HTML_FORMATS {
        assert_eq!(cells(&content(format, table)), ["0:a 1x2, 1:b", "1:c", "0:d, 1:e"], "{format}");
    }
}

#[test]
fn absurd_spans_are_bounded_and_every_cell_keeps_its_words() {
    let absurd = r#"<table><tr><td colspan="100000" rowspan="99999999999999999999">a</td><td colspan="18446744073709551615" rowspan="4000000000">b</td><td colspan="-1" rowspan="0">c</td></tr>
        <tr><td>d</td></tr></table>"#;
    for format in HTML_FORMATS {
        let content = content(format, absurd);
        let words: Vec<&str> = content.text.as_deref().unwrap().split_whitespace().collect();
        assert_eq!(words, ["a", "b", "c", "d"], "{format}");
        assert!(content.text.unwrap().len() < 2_000 && content.layout.marks.len() < 20, "{format}");
    }
    let wide = format!("<table><tr>{}</tr></table>", "<td colspan='60'>x</td>".repeat(1_000));
    for format in HTML_FORMATS {
        let content = content(format, &wide);
        assert_eq!(content.text.as_deref().unwrap().matches('x').count(), 1_000, "{format}");
        assert!(content.text.unwrap().len() < 3_000, "{format}");
    }
}

#[test]
fn spans_between_named_columns_are_bounded_too() {
    let wide = r#"<table><tgroup cols="400"><colspec colname="a"/><colspec colname="z" colnum="400"/>
        <tbody><row><entry namest="a" nameend="z">x</entry></row></tbody></tgroup></table>"#;
    for format in ["uslm", "open-law", "ecfr"] {
        assert_eq!(content(format, wide).text.as_deref().map(|text| text.matches('\t').count()), Some(99), "{format}");
    }
}

#[test]
fn no_cell_reaches_from_one_part_of_a_table_into_the_next() {
    let table = r#"<table><thead><tr><th rowspan="3">A</th><th>B</th></tr></thead><tbody><tr><td>c</td><td>d</td></tr></tbody></table>"#;
    for format in HTML_FORMATS {
        assert_eq!(cells(&content(format, table)), ["0:A, 1:B", "0:c, 1:d"], "{format}");
    }
}

#[test]
fn cals_tables_span_by_names_of_columns_and_by_numbers_of_rows() {
    let table = r#"<table><tgroup cols="4"><colspec colname="a"/><colspec colname="b"/><colspec colname="c" colnum="3"/><colspec colname="d"/>
        <spanspec spanname="last" namest="c" nameend="d"/>
        <thead><row><entry morerows="1">Road</entry><entry namest="b" nameend="d">Width</entry></row><row><entry colname="b">Min</entry><entry spanname="last">Max</entry></row></thead>
        <tbody><row><entry>Lane</entry><entry colname="d">9</entry></row><row><entry namest="x" nameend="d" spanname="none">1</entry><entry namest="d" nameend="b">2</entry></row></tbody></tgroup></table>"#;
    let expected = ["0:Road 1x2, 1:Width 3x1", "1:Min, 2:Max 2x1", "0:Lane, 1:, 2:, 3:9", "0:1, 1:, 2:, 3:2"];
    for format in ["uslm", "open-law", "ecfr"] {
        assert_eq!(cells(&content(format, table)), expected, "{format}");
    }
}

#[test]
fn heads_of_printed_tables_span_the_heads_below_them() {
    let heads = |levels: &[(usize, &str)]| {
        let heads =
            levels.iter().map(|(level, head)| format!(r#"<CHED H="{level}">{head}</CHED>"#)).collect::<String>();
        let row = (0..levels.len()).map(|place| format!("<ENT>{place}</ENT>")).collect::<String>();
        let table = format!("<GPOTABLE><BOXHD>{heads}</BOXHD><ROW>{row}</ROW></GPOTABLE>");
        let mut rows = cells(&content("cfr-annual", &table));
        rows.pop();
        rows
    };
    let three = [(1, "River"), (1, "Length"), (2, "up"), (3, "day"), (3, "night"), (2, "down"), (1, "Width")];
    assert_eq!(heads(&three), ["0:River 1x3, 1:Length 3x1, 4:Width 1x3", "1:up 2x1, 3:down 1x2", "1:day, 2:night"]);
    // A level is skipped, and the first one is deeper than the next.
    assert_eq!(heads(&[(1, "A"), (3, "b"), (3, "c")]), ["0:A 2x1", "0:b, 1:c"]);
    assert_eq!(heads(&[(2, "a"), (1, "B")]), ["0:, 1:B 1x2", "0:a"]);
    assert_eq!(heads(&[(9999, "a"), (0, "B")]).last().unwrap(), "0:a");
}

#[test]
fn entries_of_printed_tables_take_further_columns() {
    let row = |row: &str| {
        let table = format!("<GPOTABLE><BOXHD><CHED>A</CHED><CHED>B</CHED><CHED>C</CHED></BOXHD>{row}</GPOTABLE>");
        cells(&content("cfr-annual", &table)).remove(1)
    };
    assert_eq!(row("<ROW><ENT A='01'>both</ENT><ENT>3</ENT></ROW>"), "0:both 2x1, 2:3");
    assert_eq!(row("<ROW><ENT>x</ENT><ENT A='L01'>both</ENT></ROW>"), "0:x, 1:both 2x1");
    assert_eq!(row("<ROW EXPSTB='02'><ENT I='21'>Heading</ENT></ROW>"), "0:Heading 3x1");
    assert_eq!(row("<ROW EXPSTB='00'><ENT>1</ENT><ENT>2</ENT></ROW>"), "0:1, 1:2");
    assert_eq!(row("<ROW><ENT A='99999999999'>all</ENT></ROW>"), "0:all 3x1");
}
