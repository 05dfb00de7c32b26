//! Any text as a citation and as a text with citations: what was parsed can be written and parsed again.
#![no_main]

use hornbook_corpus::citation::Grammar;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let grammar = Grammar::built_in();
    if let Ok(citation) = grammar.parse(text) {
        let written = grammar.format(&citation);
        assert_eq!(grammar.parse(&written).as_ref(), Ok(&citation), "{written}");
    }
    for (range, _) in grammar.find_in(text) {
        assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
    }
});
