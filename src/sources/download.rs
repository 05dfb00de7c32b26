//! Downloads one file: requests it, resumes an earlier attempt, checks it, puts it in place, and writes
//! its receipt.
//!
//! Everything is checked: the announced length and range, the hash if the catalogue contains it, and the
//! file itself, which is read to its end. A file that fails is removed and requested once more.

use std::fs;
use std::path::{Path, PathBuf};

use hornbook_index_build::integrity_check;
use hornbook_index_build::progress::{ProgressDisplay, ProgressStage};
use hornbook_index_build::receipt::{RECEIPT_FORMAT, Receipt, sha256_of};
use hornbook_index_build::source_files::{Compression, Packing};

use super::address::DownloadUrl;
use super::error::{FetchError, Trouble, io_error};
use super::http_time::parse_http_date;
use super::part::{Beginning, PartialFile};
use super::retries::{Attempts, Retries};
use super::visitor::{FetchedResponse, SourceVisitor};

/// Maximum length of a file.
const FILE_BYTES_MAX: u64 = 16 << 30;

/// A file to download, with the data for its receipt.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) source: String,
    pub(crate) page: String,
    pub(crate) edition: Option<String>,
    pub(crate) address: DownloadUrl,
    pub(crate) target: PathBuf,
    /// In lower-case hexadecimal digits, if it is known beforehand.
    pub(crate) sha256: Option<String>,
}

/// The result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadOutcome {
    New,
    /// Its content differs from that of the file that was there.
    Changed,
    /// The publisher still offers what is there.
    Unchanged,
}

impl DownloadOutcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Downloads a file, or finds that it is still the same.
pub(crate) async fn download(
    visitor: &mut SourceVisitor<'_>,
    wanted: &Wanted,
    retries: Retries,
    progress: ProgressDisplay,
) -> Result<(DownloadOutcome, Receipt), FetchError> {
    let folder = wanted.target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(io_error(folder, "create it"))?;
    let present = present(wanted);
    let part = PartialFile::open(&wanted.target, &wanted.address.to_string())?;
    let mut download = Download { visitor, wanted, present, part, stage: None, progress };
    let mut attempts = Attempts::new(retries, download.visitor.clock.now().wall.0 as u64);
    let mut was_damaged = false;
    loop {
        let before = download.part.bytes();
        let (error, asked) = match download.attempt().await {
            Ok(Received::Same(receipt)) => {
                download.part.remove()?;
                return Ok((DownloadOutcome::Unchanged, receipt));
            }
            Ok(Received::Whole(found)) => return download.publish(found),
            Err(Trouble::Passing(error, asked)) => (error, asked),
            Err(Trouble::Final(error)) => {
                download.put_away()?;
                return Err(error);
            }
        };
        download.visitor.close();
        let is_damaged = matches!(error, FetchError::Damaged { .. } | FetchError::Hash { .. });
        if is_damaged && was_damaged {
            download.put_away()?;
            return Err(error);
        }
        was_damaged |= is_damaged;
        let bytes = download.part.bytes();
        // Bytes below the minimum rate are not progress: a hundred such attempts would take hours.
        let brought = bytes > before && !matches!(error, FetchError::Slow { .. });
        progress.say(format_args!("{error}; trying again"));
        match attempts.next_delay(error, asked, brought, bytes) {
            Ok(delay) => tokio::time::sleep(delay).await,
            Err(over) => {
                download.put_away()?;
                return Err(over);
            }
        }
    }
}

/// The receipt of the existing file, if it matches the file. It may name another address.
fn present(wanted: &Wanted) -> Option<Receipt> {
    // A new download repairs any fault of the receipt or the file.
    let receipt = Receipt::read(&wanted.target).ok().flatten();
    receipt.filter(|receipt| receipt.check(&wanted.target).is_ok())
}

struct Download<'v, 'c, 'w> {
    visitor: &'v mut SourceVisitor<'c>,
    wanted: &'w Wanted,
    present: Option<Receipt>,
    part: PartialFile,
    stage: Option<ProgressStage>,
    progress: ProgressDisplay,
}

/// The result of a successful attempt.
enum Received {
    Same(Receipt),
    /// The partial file is complete and checked.
    Whole(Whole),
}

/// Data of the response for the receipt.
struct Whole {
    final_url: String,
    etag: Option<String>,
    last_modified: Option<String>,
    sha256: String,
}

impl Download<'_, '_, '_> {
    async fn attempt(&mut self) -> Result<Received, Trouble> {
        let headers = self.conditions();
        let mut found = self.visitor.get(&self.wanted.address, &headers).await?;
        let end = match (found.pieces.status, &self.present) {
            (304, Some(receipt)) if self.part.beginning().is_none() => {
                let checked = self.visitor.clock.now().wall.day().to_string();
                let receipt = Receipt { checked, edition: self.edition(&found), ..receipt.clone() };
                receipt.write(&self.wanted.target)?;
                return Ok(Received::Same(receipt));
            }
            (206, _) => self.go_on(&found)?,
            (200, _) => {
                self.begin(&found)?;
                None
            }
            (status, _) => {
                // The partial file is longer than the file now is, or the response does not match the request.
                self.part.discard()?;
                let error = FetchError::Status { address: found.address.clone(), status, retry_after: None };
                return Err(Trouble::Passing(error, None));
            }
        };
        self.receive(&mut found, end).await?;
        Ok(Received::Whole(self.check(&found)?))
    }

    /// Requests the rest of a partial file, or asks whether a complete file has changed.
    fn conditions(&self) -> Vec<(&'static str, String)> {
        if let Some(validator) = self.part.beginning().and_then(|beginning| beginning.validator.clone()) {
            return vec![("range", format!("bytes={}-", self.part.bytes())), ("if-range", validator)];
        }
        let same_address = |receipt: &&Receipt| receipt.url == self.wanted.address.to_string();
        let Some(receipt) = self.present.as_ref().filter(same_address) else { return Vec::new() };
        match (&receipt.etag, &receipt.last_modified) {
            (Some(etag), _) => vec![("if-none-match", etag.clone())],
            (None, Some(date)) => vec![("if-modified-since", date.clone())],
            (None, None) => Vec::new(),
        }
    }

    /// A complete file follows, so the bytes of an earlier one are dropped.
    fn begin(&mut self, found: &FetchedResponse) -> Result<(), Trouble> {
        let head = |what: String| Trouble::Final(FetchError::Head { address: found.address.clone(), what });
        if let Some(encoding) = found.pieces.header("content-encoding").filter(|encoding| *encoding != "identity") {
            let name = self.wanted.target.to_string_lossy();
            let names_itself =
                encoding.ends_with("gzip") && Packing::of(&name).1.compression == Some(Compression::Gzip);
            if !names_itself {
                return Err(head(format!(
                    "the server sends the file in the encoding '{encoding}', which was not asked for"
                )));
            }
        }
        let total = found.pieces.header("content-length").and_then(|length| length.parse().ok());
        if total.is_some_and(|total: u64| total > FILE_BYTES_MAX) {
            let address = found.address.clone();
            return Err(Trouble::Final(FetchError::TooLong { address, bytes_max: FILE_BYTES_MAX }));
        }
        let beginning = Beginning::of(self.wanted.address.to_string(), validator(found), total);
        Ok(self.part.begin(beginning)?)
    }

    /// Checks that a partial response continues exactly where the partial file ends, in the same file, and
    /// states the total length: the end of a range alone does not show whether the file ends there.
    /// Returns the end of the response in the file.
    fn go_on(&mut self, found: &FetchedResponse) -> Result<Option<u64>, Trouble> {
        let range = found.pieces.header("content-range").and_then(parse_content_range);
        let fitting = range.filter(|range| {
            self.part.beginning().is_some_and(|beginning| {
                let is_same_length = match (beginning.total, range.total) {
                    (None, total) => total.is_some(),
                    (Some(known), reported) => range.end <= known && reported.is_none_or(|reported| reported == known),
                };
                range.start == self.part.bytes()
                    && is_same_length
                    && validator(found).is_none_or(|validator| beginning.validator.as_ref() == Some(&validator))
            })
        });
        if let Some(range) = fitting {
            if let Some(total) = range.total {
                self.part.learn_total(total);
            }
            return Ok(Some(range.end));
        }
        self.part.discard()?;
        let what = "the server goes on with another file or at another place than it was asked to, or does not say \
                    where the file ends";
        let what = what.to_owned();
        Err(Trouble::Passing(FetchError::Head { address: found.address.clone(), what }, None))
    }

    /// Appends a body. The body of a range ends at `end` in the file.
    async fn receive(&mut self, found: &mut FetchedResponse, end: Option<u64>) -> Result<(), Trouble> {
        let total = self.part.total();
        let stage = self.stage.get_or_insert_with(|| self.progress.stage("fetching", "bytes", total));
        stage.set(self.part.bytes());
        loop {
            let piece = match self.visitor.next_piece(found).await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(trouble) => {
                    self.part.keep()?;
                    return Err(trouble);
                }
            };
            if self.part.bytes() + piece.len() as u64 > FILE_BYTES_MAX {
                self.part.discard()?;
                let address = found.address.clone();
                return Err(Trouble::Final(FetchError::TooLong { address, bytes_max: FILE_BYTES_MAX }));
            }
            self.part.append(&piece)?;
            stage.set(self.part.bytes());
        }
        let received = self.part.bytes();
        let expected = match (end, total) {
            (Some(end), _) if received > end => end,
            // A range that ends before the file does is too short as well.
            (_, Some(total)) if received != total => total,
            _ => return Ok(()),
        };
        if received > expected {
            self.part.discard()?;
        } else {
            self.part.keep()?;
        }
        let address = found.address.clone();
        Err(Trouble::Passing(FetchError::Length { address, expected, received }, None))
    }

    /// Checks the received file: reads it to its end and compares its hash. A file that fails is discarded.
    fn check(&mut self, found: &FetchedResponse) -> Result<Whole, Trouble> {
        let name = self.wanted.target.to_string_lossy().into_owned();
        let address = || found.address.clone();
        let damage = match integrity_check::read_to_end(self.part.path(), &name) {
            Err(source) => Some(FetchError::Damaged { address: address(), source: Box::new(source) }),
            Ok(_) => None,
        };
        let path = self.part.path().to_owned();
        let sha256 = sha256_of(&path).map_err(io_error(&path, "read it"))?;
        let other_hash = self.wanted.sha256.as_ref().filter(|expected| **expected != sha256).map(|expected| {
            FetchError::Hash { address: address(), expected: expected.clone().into(), received: sha256.clone().into() }
        });
        if let Some(error) = damage.or(other_hash) {
            self.part.discard()?;
            return Err(Trouble::Passing(error, None));
        }
        let header = |name| found.pieces.header(name).map(str::to_owned);
        Ok(Whole {
            final_url: found.address.to_string(),
            etag: header("etag"),
            last_modified: header("last-modified"),
            sha256,
        })
    }

    /// The known edition, or else the day of the last change.
    fn edition(&self, found: &FetchedResponse) -> Option<String> {
        let of_header = || edition_of(found.pieces.header("last-modified"));
        self.wanted.edition.clone().or_else(of_header).or_else(|| self.present.as_ref()?.edition.clone())
    }

    /// Puts the file in its place and writes its receipt.
    fn publish(self, whole: Whole) -> Result<(DownloadOutcome, Receipt), FetchError> {
        let today = self.visitor.clock.now().wall.day().to_string();
        let same = self.present.as_ref().filter(|receipt| receipt.sha256 == whole.sha256);
        let receipt = Receipt {
            format: RECEIPT_FORMAT,
            source: self.wanted.source.clone(),
            edition: self.wanted.edition.clone().or_else(|| edition_of(whole.last_modified.as_deref())),
            page: self.wanted.page.clone(),
            url: self.wanted.address.to_string(),
            final_url: whole.final_url,
            // The same content keeps its date, so that it causes no new build.
            retrieved: same.map_or(today.clone(), |receipt| receipt.retrieved.clone()),
            checked: today,
            bytes: self.part.bytes(),
            sha256: whole.sha256,
            etag: whole.etag,
            last_modified: whole.last_modified,
        };
        let outcome = match (same.is_some(), self.wanted.target.exists()) {
            (true, _) => DownloadOutcome::Unchanged,
            (false, true) => DownloadOutcome::Changed,
            (false, false) => DownloadOutcome::New,
        };
        // Between these two steps the receipt matches no file: a build refuses that, and the next fetch repairs it.
        self.part.publish()?;
        receipt.write(&self.wanted.target)?;
        if let Some(stage) = self.stage {
            stage.finish();
        }
        Ok((outcome, receipt))
    }

    /// After the last attempt: keeps the bytes that a later run can resume, and removes the rest.
    fn put_away(mut self) -> Result<(), FetchError> {
        if self.part.beginning().is_some() { self.part.keep() } else { self.part.remove() }
    }
}

/// The value for `If-Range`: a strong ETag, or else the time of the last change.
fn validator(found: &FetchedResponse) -> Option<String> {
    let etag = found.pieces.header("etag").filter(|etag| etag.starts_with('"'));
    etag.or_else(|| found.pieces.header("last-modified")).map(str::to_owned)
}

fn edition_of(last_modified: Option<&str>) -> Option<String> {
    Some(format!("as of {}", parse_http_date(last_modified?)?.day()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    start: u64,
    /// The first byte after the range.
    end: u64,
    /// The total length of the file, if it is known.
    total: Option<u64>,
}

/// `bytes 5-9/10` or `bytes 5-9/*`.
fn parse_content_range(text: &str) -> Option<ContentRange> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, last) = range.split_once('-')?;
    let (start, last): (u64, u64) = (start.parse().ok()?, last.parse().ok()?);
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    let is_sound = start <= last && total.is_none_or(|total| last < total);
    is_sound.then_some(ContentRange { start, end: last.checked_add(1)?, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_those_that_contradict_themselves_are_not() {
        let range = |total| Some(ContentRange { start: 5, end: 10, total });
        assert_eq!(parse_content_range("bytes 5-9/10"), range(Some(10)));
        assert_eq!(parse_content_range("bytes 5-9/*"), range(None));
        for bad in [
            "bytes 9-5/10",
            "bytes 5-10/10",
            "bytes */10",
            "items 5-9/10",
            "bytes 5-/10",
            "bytes 5-18446744073709551615/*",
            "",
        ] {
            assert_eq!(parse_content_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_day_of_the_last_change_is_an_edition() {
        assert_eq!(edition_of(Some("Sun, 06 Nov 1994 08:49:37 GMT")).as_deref(), Some("as of 1994-11-06"));
        assert_eq!(edition_of(Some("yesterday")), None);
        assert_eq!(edition_of(None), None);
    }
}
