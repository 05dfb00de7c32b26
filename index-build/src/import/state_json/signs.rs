//! Private-use characters, which have a meaning only in one font of the publisher. A plan defines
//! their meaning.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

/// The meaning of the characters: `{ F045 = "°" }`. An empty value means that another character
/// already represents the whole sign.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>")]
pub(super) struct PrivateCharacters(BTreeMap<char, String>);

impl TryFrom<BTreeMap<String, String>> for PrivateCharacters {
    type Error = String;

    fn try_from(options: BTreeMap<String, String>) -> Result<Self, String> {
        let read = |(code, sign): (String, String)| {
            let character = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).filter(|c| is_private(*c));
            let what = format!("'{code}' is not a private-use character; give its code point, from E000 to F8FF");
            Ok((character.ok_or(what)?, sign))
        };
        options.into_iter().map(read).collect::<Result<_, String>>().map(Self)
    }
}

impl PrivateCharacters {
    /// Replaces the private-use characters in a text. Unknown ones are left out and counted.
    pub(super) fn read<'t>(&self, text: &'t str, unknown: &mut BTreeMap<char, usize>) -> Cow<'t, str> {
        // In UTF-8 every private-use character begins with one of these bytes, and hardly any other does.
        if memchr::memchr2(0xee, 0xef, text.as_bytes()).is_none() {
            return Cow::Borrowed(text);
        }
        let mut read = String::with_capacity(text.len());
        for c in text.chars() {
            match self.0.get(&c) {
                Some(sign) => read.push_str(sign),
                None if is_private(c) => {
                    *unknown.entry(c).or_default() += 1;
                    read.push(' ');
                }
                None => read.push(c),
            }
        }
        Cow::Owned(read)
    }
}

fn is_private(c: char) -> bool {
    ('\u{e000}'..='\u{f8ff}').contains(&c)
}
