//! Documents as several programs write them, and hostile ones.

use std::fmt::Write as _;

use lopdf::{Document, Object, Stream, dictionary};

use crate::brief::{Brief, BriefBlockKind, BriefError, BriefFormat};

const WIN_ANSI: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

/// A file of objects; the first is the catalog.
fn file(objects: &[String]) -> Vec<u8> {
    let mut out = "%PDF-1.7\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(out.len());
        write!(out, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    let start = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    places.iter().for_each(|place| writeln!(out, "{place:010} 00000 n ").unwrap());
    write!(out, "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).unwrap();
    out.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<<{dictionary}/Length {}>>\nstream\n{content}\nendstream", content.len())
}

/// A document of pages with one font, object 3; `more` are the objects from 4 on.
fn pages(font: &str, contents: &[&str], more: &[String]) -> Vec<u8> {
    let first = 4 + more.len();
    let kids: Vec<String> = (0..contents.len()).map(|page| format!("{} 0 R", first + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!(
            "<</Type/Pages/Kids[{}]/Count {}/Resources<</Font<</F1 3 0 R>>/XObject<</X1 4 0 R>>>>>>",
            kids.join(" "),
            contents.len()
        ),
        font.to_owned(),
    ];
    objects.extend_from_slice(more);
    for (page, content) in contents.iter().enumerate() {
        objects
            .push(format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {} 0 R>>", first + 2 * page + 1));
        objects.push(stream("", content));
    }
    file(&objects)
}

/// A page of lines from the top.
fn page_of(lines: &[(u32, &str)]) -> String {
    let mut out = "BT /F1 12 Tf\n".to_owned();
    for (y, line) in lines {
        writeln!(out, "1 0 0 1 72 {y} Tm ({line}) Tj").unwrap();
    }
    out + "ET"
}

fn read(bytes: &[u8]) -> Result<Vec<String>, BriefError> {
    let brief = Brief::read(bytes, BriefFormat::Pdf)?;
    Ok(brief.paragraphs().map(|(range, _)| brief.text()[range].to_owned()).collect())
}

fn text(font: &str, content: &str) -> Vec<String> {
    read(&pages(font, &[content], &[])).unwrap()
}

#[test]
fn kerned_words_escapes_and_curly_quotes_are_read() {
    let content = r"BT /F1 12 Tf 72 700 Td [(F)40(air)-250(use,)-20( 17 U.S.C. \247 107, is \223n)10(ot an\224)] TJ 0 -14 Td (in\055fringe\
ment.) Tj ET";
    assert_eq!(text(WIN_ANSI, content), ["Fair use, 17 U.S.C. § 107, is “not an” in-fringement."]);
}

#[test]
fn differences_name_signs_and_ligatures() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+Own/FontDescriptor<</Flags 4>>/Encoding<</Differences[1/section/quotedblleft/quotedblright/fi/f_x/uni2014 65/A/B.alt]>>>>";
    assert_eq!(text(font, r"BT /F1 12 Tf 72 700 Td (\001A\002\004\003\006B) Tj ET"), ["§A“fi”—B"]);
    let unknown = read(&pages(font, &[r"BT /F1 12 Tf 72 700 Td (A\005\007) Tj ET"], &[]));
    assert_eq!(unknown, Err(BriefError::PdfFont { page: 1, font: "ABCDEF+Own".to_owned() }));
}

#[test]
fn a_sign_without_meaning_is_shown_and_reported() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+Own/Encoding<</Differences[1/g17]>>>>";
    let contents = ["(Fair use) Tj", r"(as it is\001or d, and the\001) Tj"]
        .map(|text| format!("BT /F1 12 Tf 72 700 Td {text} ET"));
    let bytes = pages(font, &[&contents[0], &contents[1], &contents[1]], &[]);
    let brief = Brief::read(&bytes, BriefFormat::Pdf).unwrap();
    assert!(brief.text().contains("as it is\u{fffd}or d"), "{}", brief.text());
    let [signs] = brief.unreadable() else { panic!("{:?}", brief.unreadable()) };
    assert_eq!((&*signs.pages, signs.font.as_deref(), signs.signs), (&[2, 3][..], Some("ABCDEF+Own"), 4));
    assert!(signs.message.starts_with("pages 2 and 3: the font ABCDEF+Own does not say"), "{}", signs.message);
}

#[test]
fn soft_hyphens_divide_words_only_at_the_end_of_a_line() {
    let map = stream(
        "",
        "1 beginbfrange <0041> <005A> <0041> endbfrange 1 beginbfrange <0061> <007A> <0061> endbfrange \
         1 beginbfrange <0020> <003F> <0020> endbfrange 1 beginbfchar <00AD> <00AD> endbfchar",
    );
    let code = |text: &str| text.chars().map(|letter| format!("{:04x}", letter as u32)).collect::<String>();
    let content = format!(
        "BT /F1 12 Tf 72 700 Td <{}> Tj 0 -14 Td <{}> Tj ET",
        code("non\u{ad}profit, 300aa\u{ad}1, 55.1\u{ad}1200, in\u{ad}"),
        code("Fringe")
    );
    assert_eq!(read(&pages(COMPOSITE, &[&content], &[map])).unwrap(), ["nonprofit, 300aa-1, 55.1-1200, inFringe"]);
    // In this encoding the code is that of a hyphen.
    assert_eq!(text(WIN_ANSI, r"BT /F1 12 Tf 72 700 Td (well\255known) Tj ET"), ["well-known"]);
}

#[test]
fn letters_from_right_to_left_are_said_to_be_unreadable() {
    let map = stream(
        "",
        "1 beginbfrange <0041> <005A> <0041> endbfrange 1 beginbfrange <0061> <007A> <0061> endbfrange \
         1 beginbfchar <0020> <0020> endbfchar 1 beginbfrange <05D0> <05DA> <05D0> endbfrange",
    );
    let code = |text: &str| text.chars().map(|letter| format!("{:04x}", letter as u32)).collect::<String>();
    let font = COMPOSITE.replace("/W[3[250] 5 6 500]", "");
    // In the order in which they are read: each further to the left.
    let drawn = |at: u32, text: &str| format!("1 0 0 1 {at} 700 Tm <{}> Tj ", code(text));
    let content = format!(
        "BT /F1 12 Tf {}{}{}{}ET",
        drawn(72, "the word "),
        drawn(138, "\u{5d0}"),
        drawn(132, "\u{5d1}"),
        drawn(150, "means this")
    );
    let brief = Brief::read(&pages(&font, &[&content], std::slice::from_ref(&map)), BriefFormat::Pdf).unwrap();
    assert_eq!(brief.text(), "the word \u{fffd}\u{fffd} means this\n");
    assert_eq!((brief.unreadable()[0].font.as_deref(), brief.unreadable()[0].signs), (None, 2));
    let most = format!("BT /F1 12 Tf 72 700 Td <{}> Tj ET", code("a\u{5d0}\u{5d1}"));
    assert_eq!(read(&pages(&font, &[&most], &[map])), Err(BriefError::RightToLeft { page: 1 }));
}

const COMPOSITE: &str = "<</Type/Font/Subtype/Type0/BaseFont/Serif/Encoding/Identity-H/ToUnicode 4 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/DW 500/W[3[250] 5 6 500]>>]>>";

#[test]
fn composite_fonts_are_read_by_their_map() {
    let map = stream(
        "",
        "1 beginbfchar <0003> <0020> endbfchar 2 beginbfrange <0005> <0006> <0061> <0010> <0011> [<00A7> <FB01>] endbfrange",
    );
    let content = "BT /F1 12 Tf 72 700 Td <00050006> Tj 18 0 Td <0010000300110005> Tj ET";
    assert_eq!(read(&pages(COMPOSITE, &[content], &[map])).unwrap(), ["ab § fia"]);
    let without = COMPOSITE.replace("/ToUnicode 4 0 R", "");
    let error = read(&pages(&without, &[content], &[])).unwrap_err();
    assert_eq!(error, BriefError::PdfFont { page: 1, font: "Serif".to_owned() });
    assert!(error.to_string().contains("(OCR)"), "{error}");
}

#[test]
fn a_quotation_runs_over_a_page_without_header_footer_and_number() {
    let first = page_of(&[
        (760, "Motion of Smith"),
        (700, "The law says \\223no per-"),
        (686, "son shall be denied a well-"),
        (30, "Page 1 of 2"),
    ]);
    let second = page_of(&[
        (760, "Motion of Smith"),
        (700, "known right of the"),
        (686, "people\\224 in all cases."),
        (640, "Next."),
        (30, "Page 2 of 2"),
    ]);
    let bytes = pages(WIN_ANSI, &[&first, &second], &[]);
    let expected = "The law says “no person shall be denied a wellknown right of the people” in all cases.";
    assert_eq!(read(&bytes).unwrap(), [expected, "Motion of Smith", "Page 1 of 2", "Next."]);
    let brief = Brief::read(&bytes, BriefFormat::Pdf).unwrap();
    let place = brief.place(brief.text().find("people”").unwrap());
    assert_eq!((place.page, place.line, place.to_string().as_str()), (Some(2), Some(3), "page 2, line 3"));
}

#[test]
fn indented_text_is_a_quotation_and_small_text_below_a_note() {
    let content = "BT /F1 12 Tf 72 700 Td (A line of the text that goes to the margin.) Tj 0 -14 Td (And the next line, as wide as the first.) Tj \
        36 -28 Td (Quoted words of law) Tj 0 -14 Td (in two lines.) Tj -36 -28 Td (After it, one more line of the text, wide.) Tj \
        /F1 8 Tf 0 -300 Td (1 See 5 U.S.C. 552.) Tj 0 -10 Td (2 Id.) Tj ET";
    let brief = Brief::read(&pages(WIN_ANSI, &[content], &[]), BriefFormat::Pdf).unwrap();
    let kinds: Vec<BriefBlockKind> = brief.blocks().iter().map(|block| block.kind).collect();
    use BriefBlockKind::{Note, Paragraph, Quote};
    assert_eq!(kinds, [Paragraph, Quote, Paragraph, Note, Note], "{}", brief.text());
}

#[test]
fn forms_are_read_and_one_within_itself_is_refused() {
    let form = stream("/Type/XObject/Subtype/Form/Matrix[1 0 0 1 72 700]", "BT /F1 12 Tf (in a form) Tj ET");
    assert_eq!(read(&pages(WIN_ANSI, &["q /X1 Do Q"], &[form])).unwrap(), ["in a form"]);
    let within = stream("/Type/XObject/Subtype/Form", "/X1 Do /X1 Do");
    assert!(matches!(read(&pages(WIN_ANSI, &["/X1 Do"], &[within])), Err(BriefError::Pdf(_))));
}

#[test]
fn object_streams_are_read_like_objects() {
    let mut document = Document::load_mem(&pages(WIN_ANSI, &[&page_of(&[(700, "17 U.S.C. \\247 107")])], &[])).unwrap();
    let mut bytes = Vec::new();
    document.compress();
    document.save_modern(&mut bytes).unwrap();
    assert!(memchr::memmem::find(&bytes, b"/ObjStm").is_some());
    assert_eq!(read(&bytes).unwrap(), ["17 U.S.C. § 107"]);
}

#[test]
fn scans_and_other_files_are_refused() {
    assert_eq!(read(&pages(WIN_ANSI, &["0 0 10 10 re f"], &[])), Err(BriefError::PdfWithoutText));
    for bytes in [&b""[..], b"PK", b"%PDF-1.7\n", b"%PDF-1.7\nstartxref\n0\n%%EOF"] {
        assert!(matches!(read(bytes), Err(BriefError::Pdf(_))), "{bytes:?}");
    }
}

#[test]
fn encrypted_files_are_read_only_without_a_password() {
    for (password, expected) in [("", Ok(vec!["a".to_owned()])), ("secret", Err(BriefError::EncryptedPdf))] {
        let mut document = Document::load_mem(&pages(WIN_ANSI, &["BT /F1 12 Tf (a) Tj ET"], &[])).unwrap();
        let id = Object::string_literal("0123456789abcdef");
        document.trailer.set("ID", vec![id.clone(), id]);
        let version = lopdf::EncryptionVersion::V2 {
            document: &document,
            owner_password: "owner",
            user_password: password,
            key_length: 128,
            permissions: lopdf::Permissions::all(),
        };
        let state = lopdf::EncryptionState::try_from(version).unwrap();
        document.encrypt(&state).unwrap();
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        assert_eq!(read(&bytes), expected);
    }
}

#[test]
fn cycles_deep_nesting_and_false_counts_are_bounded() {
    let catalog = "<</Type/Catalog/Pages 2 0 R>>".to_owned();
    let cycle = file(&[catalog.clone(), "<</Type/Pages/Count 1/Kids[2 0 R 2 0 R]>>".to_owned()]);
    assert!(read(&cycle).unwrap_err().to_string().contains("a page is within itself"));
    let deep = file(&[catalog.clone(), format!("<</Type/Pages/Kids{}{}>>", "[".repeat(200_000), "]".repeat(200_000))]);
    assert!(read(&deep).is_err());
    let deep = file(&[catalog, format!("<</Type/Pages/Kids {}{}>>", "<</A".repeat(100_000), ">>".repeat(100_000))]);
    assert!(read(&deep).is_err());
    let counted = pages(WIN_ANSI, &["BT /F1 12 Tf (a) Tj ET"], &[]);
    let counted = String::from_utf8(counted).unwrap().replace("/Count 1", "/Count 9999999999");
    assert_eq!(read(counted.as_bytes()).unwrap(), ["a"]);
    let nested = format!("{}BT /F1 12 Tf (a) Tj ET", "[<<(".repeat(50_000));
    assert_eq!(read(&pages(WIN_ANSI, &[&nested], &[])), Err(BriefError::PdfWithoutText));
}

/// A page whose content unpacks to so many blanks.
fn bomb(length: usize) -> Vec<u8> {
    let mut document = Document::load_mem(&pages(WIN_ANSI, &[" "], &[])).unwrap();
    let mut content = Stream::new(dictionary! {}, vec![b' '; length]);
    content.compress().unwrap();
    document.objects.insert((5, 0), Object::Stream(content));
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn bombs_are_refused() {
    assert_eq!(read(&bomb(70 << 20)), Err(BriefError::TooMuchText));
    assert_eq!(read(&bomb(1 << 20)), Err(BriefError::PdfWithoutText));
}

#[test]
fn damaged_files_are_refused_or_read() {
    let map = stream("", "1 beginbfrange <0005> <0006> <0061> endbfrange");
    for bytes in [
        pages(COMPOSITE, &["BT /F1 12 Tf 72 700 Td <00050006> Tj ET"], &[map]),
        pages(WIN_ANSI, &[&page_of(&[(700, "some text"), (686, "more")])], &[]),
    ] {
        for end in 0..bytes.len() {
            let _ = read(&bytes[..end]);
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            let _ = read(&flipped);
        }
    }
}

#[test]
fn the_length_of_the_text_is_proportional_to_the_file() {
    let lengths = [1_000, 4_000].map(|lines| {
        let line = "(5 U.S.C. \\247 552 is a section of law.) Tj 0 -14 Td\n";
        let content = format!("BT /F1 12 Tf 72 700 Td {} ET", line.repeat(lines));
        read(&pages(WIN_ANSI, &[&content], &[])).unwrap().concat().matches("552").count()
    });
    assert_eq!(lengths, [1_000, 4_000]);
}
