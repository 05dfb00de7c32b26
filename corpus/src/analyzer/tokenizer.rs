//! The text analysis as a tantivy tokenizer: a stream that returns one token at a time.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::scan::Scanner;

/// A tantivy tokenizer that produces the terms of the analysis.
#[derive(Clone, Debug, Default)]
pub struct LawTokenizer {
    scanner: Scanner,
    token: Token,
}

impl Tokenizer for LawTokenizer {
    type TokenStream<'a> = LawTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LawTokenStream<'a> {
        self.scanner.start();
        self.token.reset();
        LawTokenStream { scanner: &mut self.scanner, token: &mut self.token, text, next_in_group: 0 }
    }
}

#[derive(Debug)]
pub struct LawTokenStream<'a> {
    scanner: &'a mut Scanner,
    token: &'a mut Token,
    text: &'a str,
    next_in_group: usize,
}

impl TokenStream for LawTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let scanner = &mut *self.scanner;
        if self.next_in_group == scanner.group_len() {
            if !scanner.next_group(self.text) {
                return false;
            }
            self.next_in_group = 0;
        }
        let analyzed = scanner.token(self.next_in_group);
        self.next_in_group += 1;
        self.token.text.clear();
        self.token.text.push_str(analyzed.text);
        self.token.offset_from = analyzed.bytes.start;
        self.token.offset_to = analyzed.bytes.end;
        self.token.position = analyzed.position as usize;
        self.token.position_length = analyzed.position_count as usize;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
