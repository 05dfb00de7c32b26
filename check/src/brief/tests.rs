use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn blocks(source: &[u8], format: BriefFormat) -> Vec<(String, BriefBlockKind)> {
    let brief = Brief::read(source, format).unwrap();
    brief.blocks().iter().map(|block| (brief.text()[block.range.clone()].to_owned(), block.kind)).collect()
}

fn block(text: &str, kind: BriefBlockKind) -> (String, BriefBlockKind) {
    (text.to_owned(), kind)
}

use BriefBlockKind::{Note, Paragraph, Quote};

#[test]
fn plain_text_has_paragraphs_and_indented_or_marked_quotations() {
    let source = "\u{feff}One line\r\nand  another.\r\n\r\n    Indented\n    on both lines.\n\n> marked\n> twice\nNext.\n\n\n  Two spaces.";
    assert_eq!(
        blocks(source.as_bytes(), BriefFormat::Text),
        [
            block("One line and another.", Paragraph),
            block("Indented on both lines.", Quote),
            block("marked twice", Quote),
            block("Next.", Paragraph),
            block("Two spaces.", Paragraph),
        ]
    );
}

#[test]
fn paragraphs_whose_first_lines_are_indented_are_no_quotations() {
    let source = "\tOne.\n\n\tTwo.\n\n\t\tQuoted.\n\n\tThree.";
    let kinds: Vec<BriefBlockKind> =
        blocks(source.as_bytes(), BriefFormat::Text).into_iter().map(|block| block.1).collect();
    assert_eq!(kinds, [Paragraph, Paragraph, Quote, Paragraph]);
}

#[test]
fn every_character_keeps_its_place_in_the_file() {
    let source = "# Heading\n\nÄ *first* &amp; second\nline, see **17 U.S.C. § 107**.\n\n> quoted [link](x)[^1]\n\n[^1]: A note.\n";
    for format in [BriefFormat::Text, BriefFormat::Markdown] {
        let brief = Brief::read(source.as_bytes(), format).unwrap();
        for word in ["Heading", "second", "line,", "17", "107", "quoted", "note"] {
            let at = brief.text().find(word).unwrap();
            let (line, column) = (brief.place(at).line.unwrap() as usize, brief.place(at).column.unwrap() as usize);
            let found: String = source.lines().nth(line - 1).unwrap().chars().skip(column - 1).collect();
            assert!(found.starts_with(word), "{format:?}: {word} at {line}:{column} is {found}");
        }
        // In any order.
        let (late, early) = (brief.text().find("107").unwrap(), brief.text().find("line,").unwrap());
        let first = brief.place(late);
        brief.place(early);
        assert_eq!(brief.place(late), first);
    }
}

#[test]
fn every_character_of_html_keeps_its_place_behind_entities_and_tags() {
    let source = "<!doctype html><title>a &amp; b</title>\r\n<p title=\"under &sect; 1 > 2\">See&nbsp;&sect;&#160;107 &amp; \
        under&nbsp;§ 108; <!-- & it's under --> <a href='?x&lt;1&amp;y'>linked</a>&mdash;x < y &am\r\n<b>bold</b>&ltend &notit; &&\n\
        <script>if (a && b < c) { '§' }</script>&#xa7;&#xa7;last</p>";
    let brief = Brief::read(source.as_bytes(), BriefFormat::Html).unwrap();
    assert_eq!(brief.text(), "a & b\nSee § 107 & under § 108; linked—x < y &am bold<end ¬it; && §§last\n",);
    for (word, written) in [
        ("b\n", "b</title>"),
        ("See", "See"),
        ("§ 107", "&sect;&#160;107"),
        ("107", "107"),
        ("& under", "&amp; under"),
        ("under", "under&nbsp;§"),
        ("§ 108", "§ 108"),
        ("linked", "linked"),
        ("—x", "&mdash;x"),
        ("x <", "x < y"),
        ("< y", "< y"),
        ("&am", "&am\r"),
        ("bold", "bold"),
        ("<end", "&ltend"),
        ("end", "end &notit"),
        ("¬it", "&notit;"),
        ("&& ", "&&\n"),
        ("§§last", "&#xa7;&#xa7;"),
        ("§last", "&#xa7;last"),
        ("last", "last"),
    ] {
        let place = brief.place(brief.text().find(word).unwrap());
        let (line, column) = (place.line.unwrap() as usize, place.column.unwrap() as usize);
        let found: String = source.split('\n').nth(line - 1).unwrap().chars().skip(column - 1).collect();
        assert!(format!("{found}\n").starts_with(written), "{word} at {line}:{column} is {found}");
    }
}

#[test]
fn markdown_knows_its_notes() {
    let brief = Brief::read("A.[^1]\n\n> B.\n\n- C\n\n[^1]: D.\n".as_bytes(), BriefFormat::Markdown).unwrap();
    let kinds: Vec<BriefBlockKind> = brief.blocks().iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [Paragraph, Quote, Paragraph, Note]);
    assert_eq!(brief.notes(), [NoteReference { at: 2, block: 3 }]);
}

#[test]
fn html_is_read_as_browsers_show_it() {
    let source = "<!doctype html><title>T</title><script>if (a < b) '§ 1'</script><p>One <b>t</b>wo&nbsp;&sect;&#160;3<br>x\n\
                  <blockquote><p>Q</p></blockquote><p>After <q>said</q> <!-- no --><style>p{}</style>end";
    assert_eq!(
        blocks(source.as_bytes(), BriefFormat::Html),
        [
            block("T", Paragraph),
            block("One two § 3 x", Paragraph),
            block("Q", Quote),
            block("After “said” end", Paragraph),
        ]
    );
    let deep = "<div>".repeat(100_000) + "x";
    assert_eq!(blocks(deep.as_bytes(), BriefFormat::Html).len(), 1);
}

/// A document of a word processor with these files.
fn docx(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const START: &str = r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>"#;
const END: &str = "</w:body></w:document>";

#[test]
fn docx_has_paragraphs_quotations_and_notes_without_what_was_deleted() {
    let document = format!(
        r#"{START}<w:p><w:r><w:t>Fair use, 17 U.S.C. §</w:t></w:r><w:r><w:t xml:space="preserve"> 107</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>
        <w:p><w:pPr><w:pStyle w:val="IntenseQuote"/></w:pPr><w:r><w:t>styled &amp; &#8220;quoted&#8221;</w:t></w:r></w:p>
        <w:p><w:pPr><w:ind w:left="720" w:right="720"/></w:pPr><w:r><w:t>indented</w:t></w:r></w:p>
        <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:tab/><w:t>kept</w:t></w:r></w:p><w:p/>{END}"#
    );
    let notes = r#"<w:footnotes xmlns:w="x"><w:footnote w:id="0"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>Id.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let file = docx(&[("word/document.xml", document.as_bytes()), ("word/footnotes.xml", notes.as_bytes())]);
    let brief = Brief::read(&file, BriefFormat::Docx).unwrap();
    assert_eq!(
        blocks(&file, BriefFormat::Docx),
        [
            block("Fair use, 17 U.S.C. § 107", Paragraph),
            block("styled & “quoted”", Quote),
            block("indented", Quote),
            block("new kept", Paragraph),
            block("Id.", Note),
        ]
    );
    assert_eq!(brief.notes(), [NoteReference { at: brief.blocks()[0].range.end, block: 4 }]);
    let place = brief.place(brief.text().find("indented").unwrap());
    assert_eq!((place.paragraph, place.line, place.to_string().as_str()), (3, None, "paragraph 3"));
}

#[test]
fn hostile_documents_are_refused() {
    let refused = |bytes: &[u8], format| Brief::read(bytes, format).unwrap_err();
    assert_eq!(refused(&vec![b'a'; BRIEF_BYTES_MAX + 1], BriefFormat::Text), BriefError::TooLong);
    let long = format!("<a {}>", "b ".repeat(9_000));
    assert_eq!(refused(long.as_bytes(), BriefFormat::Html), BriefError::LongTag);
    assert_eq!(refused(b"ab\xff", BriefFormat::Markdown), BriefError::NotUtf8 { at: 2 });
    // A zip bomb: 70 MB of blanks, and much text in little space.
    let blanks = docx(&[("word/document.xml", &vec![b' '; 70 << 20])]);
    assert_eq!(refused(&blanks, BriefFormat::Docx), BriefError::TooMuchText);
    let text = format!("{START}<w:p><w:t>{}</w:t></w:p>{END}", "a b ".repeat(2 << 20));
    assert_eq!(refused(&docx(&[("word/document.xml", text.as_bytes())]), BriefFormat::Docx), BriefError::TooMuchText);
    let entities = format!("<!DOCTYPE d [<!ENTITY a \"aaaa\">]>{START}<w:p><w:t>&a;</w:t></w:p>{END}");
    for file in [
        b"PK\x03\x04".to_vec(),
        Vec::new(),
        docx(&[("other.xml", b"")]),
        docx(&[("word/document.xml", entities.as_bytes())]),
        docx(&[("word/document.xml", b"<a><b></a>")]),
        docx(&[("word/document.xml", format!("{START}<w:p><w:t>&b;</w:t></w:p>{END}").as_bytes())]),
    ] {
        assert!(matches!(refused(&file, BriefFormat::Docx), BriefError::Docx(_)), "{} bytes", file.len());
    }
}
