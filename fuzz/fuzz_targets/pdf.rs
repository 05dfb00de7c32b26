//! Any bytes as a PDF file, as it is and as the content of a page: it is refused, or its paragraphs lie within its text.
#![no_main]

use hornbook_check::{Brief, BriefFormat};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    let mut page = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n\
        5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj\n"
        .to_vec();
    page.extend(format!("4 0 obj<</Length {}>>stream\n", bytes.len() + 12).bytes());
    page.extend(b"BT /F1 9 Tf\n");
    page.extend(bytes);
    page.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R/Size 6>>\n%%EOF\n");
    check(&page);
});

fn check(bytes: &[u8]) {
    let Ok(brief) = Brief::read(bytes, BriefFormat::Pdf) else { return };
    for (range, _) in brief.paragraphs() {
        assert!(brief.text().get(range).is_some_and(|text| !text.is_empty()));
    }
}
