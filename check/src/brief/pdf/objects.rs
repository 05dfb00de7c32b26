//! What all parts of the reader ask of the objects of a file.

use lopdf::{Dictionary, Document, Object};

use crate::brief::TEXT_BYTES_MAX;

/// Maximum length of all streams together, unpacked.
pub(super) const UNPACKED_BYTES_MAX: usize = 8 * TEXT_BYTES_MAX;

/// A dictionary in a dictionary, or that of a stream.
pub(super) fn dictionary<'a>(document: &'a Document, within: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
    match within.get_deref(key, document).ok()? {
        Object::Dictionary(dictionary) => Some(dictionary),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

pub(super) fn is_subtype(document: &Document, dictionary: &Dictionary, name: &[u8]) -> bool {
    dictionary.get_deref(b"Subtype", document).and_then(Object::as_name).is_ok_and(|subtype| subtype == name)
}
