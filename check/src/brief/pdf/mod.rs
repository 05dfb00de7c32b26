//! Documents as pages, `.pdf`: the text that their pages show, in lines and paragraphs. Letters are never guessed: a sign
//! whose font does not say what it means becomes U+FFFD, and a document of which most signs cannot be read is refused.

mod cmap;
mod content;
mod encodings;
mod font;
mod layout;
mod objects;
mod tokens;

use hornbook_corpus::damage::catch_panic_as_damage;
use lopdf::{Dictionary, Document, Error, LoadOptions, Object, ObjectId};

use super::unreadable::UnreadableCause;
use super::{BlockWriter, BriefError};
use content::PageText;
use objects::{UNPACKED_BYTES_MAX, dictionary};

/// Maximum number of streams in a file.
const STREAMS_MAX: usize = 16_384;

/// Maximum number of pages.
const PAGES_MAX: usize = 4_096;

/// Maximum number of nodes from the root of the page tree to a page.
const PAGE_TREE_DEPTH_MAX: usize = 64;

/// The stack of the thread that reads. The reader of objects descends at most 100 levels.
const STACK_BYTES: usize = 32 << 20;

/// Reads on a thread of its own: a panic of the library, or one deep structure, must not end the program.
pub(super) fn read(bytes: &[u8], writer: &mut BlockWriter) -> Result<(), BriefError> {
    let failed = |why: String| BriefError::Pdf(why);
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .name("pdf".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || catch_panic_as_damage(|| read_pages(bytes, writer)))
            .map_err(|error| failed(error.to_string()))?;
        let read = reading.join().map_err(|_| failed("its structure is damaged".to_owned()))?;
        read.map_err(|_| failed("its structure is damaged".to_owned()))?
    })
}

fn read_pages(bytes: &[u8], writer: &mut BlockWriter) -> Result<(), BriefError> {
    let streams = memchr::memmem::find_iter(bytes, b"stream").count();
    if streams > 2 * STREAMS_MAX {
        return Err(BriefError::Pdf(format!("it contains more than {STREAMS_MAX} streams")));
    }
    // The library unpacks streams of objects when it opens a file: all of them together stay within the limit.
    let options =
        LoadOptions { max_decompressed_size: Some(2 * UNPACKED_BYTES_MAX / streams.max(2)), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| match error {
        Error::InvalidPassword | Error::Decryption(_) => BriefError::EncryptedPdf,
        error => BriefError::Pdf(error.to_string()),
    })?;
    if document.is_encrypted() {
        return Err(BriefError::EncryptedPdf);
    }
    let pages = pages(&document)?;
    let mut text = PageText::new(&document);
    let mut read = Vec::new();
    for (index, (page, resources)) in pages.into_iter().enumerate() {
        read.push(text.read(u32::try_from(index + 1).unwrap_or(u32::MAX), page, resources)?);
    }
    if read.iter().all(Vec::is_empty) {
        return Err(BriefError::PdfWithoutText);
    }
    let unreadable = text.into_unreadable();
    match unreadable.most() {
        Some((page, UnreadableCause::Font(font))) => return Err(BriefError::PdfFont { page, font: font.clone() }),
        Some((page, UnreadableCause::RightToLeft)) => return Err(BriefError::RightToLeft { page }),
        None => {}
    }
    writer.unreadable = unreadable.finish();
    layout::write(read, writer);
    Ok(())
}

/// The pages in order, each with its resources, which it may inherit.
fn pages(document: &Document) -> Result<Vec<(&Dictionary, Option<&Dictionary>)>, BriefError> {
    let broken = |why: &str| BriefError::Pdf(why.to_owned());
    let catalog = document.catalog().map_err(|_| broken("it has no catalog"))?;
    let root = catalog.get(b"Pages").and_then(Object::as_reference).map_err(|_| broken("it has no pages"))?;
    let mut pages = Vec::new();
    let mut seen = std::collections::HashSet::new();
    // The nodes still to be read, the next one last.
    let mut open: Vec<(ObjectId, usize, Option<&Dictionary>)> = vec![(root, 0, None)];
    while let Some((id, depth, inherited)) = open.pop() {
        if !seen.insert(id) {
            return Err(broken("a page is within itself, or there twice"));
        }
        if depth > PAGE_TREE_DEPTH_MAX {
            return Err(broken("its pages are nested too deeply"));
        }
        let Ok(node) = document.get_dictionary(id) else {
            return Err(broken("a page is missing"));
        };
        let resources = dictionary(document, node, b"Resources").or(inherited);
        let Ok(kids) = node.get_deref(b"Kids", document).and_then(Object::as_array) else {
            if pages.len() == PAGES_MAX {
                return Err(BriefError::Pdf(format!("it has more than {PAGES_MAX} pages")));
            }
            pages.push((node, resources));
            continue;
        };
        let kids = kids.iter().rev().filter_map(|kid| kid.as_reference().ok());
        open.extend(kids.map(|kid| (kid, depth + 1, resources)));
    }
    Ok(pages)
}

#[cfg(test)]
mod tests;
