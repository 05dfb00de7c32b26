//! Downloads the files of sources into a folder, one after another, each with its receipt.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use hornbook_base::clock::Clock;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_index_build::receipt::Receipt;

use super::address::DownloadUrl;
use super::catalogue::{Edition, FilePlace, PublishedSource};
use super::download::{Wanted, download};
use super::error::{FetchError, Trouble, io_error};
use super::retries::{Attempts, Retries};
use super::visitor::{Manners, SourceVisitor};

pub use super::download::DownloadOutcome;

/// Maximum length of a page that names the latest edition.
const PAGE_BYTES_MAX: usize = 8 << 20;
/// Maximum length of an edition's name between the marks of a page.
const EDITION_CHARS_MAX: usize = 40;
const LOCK_FILE: &str = ".fetch.lock";

#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folder of all sources; each has a folder of its own in it.
    pub folder: PathBuf,
    /// A mirror, with the files of each host in a folder of the host's name.
    pub mirror: Option<DownloadUrl>,
    /// Instead of the latest edition.
    pub edition: Option<String>,
    /// Only the files of these numbers; all if empty.
    pub numbers: Vec<u32>,
    pub manners: Manners,
    pub retries: Retries,
    pub progress: ProgressDisplay,
}

/// A file that exists now.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub path: PathBuf,
    pub outcome: DownloadOutcome,
    pub receipt: Receipt,
}

/// A file that a fetch would bring.
#[derive(Clone, Debug)]
pub struct Fetchable {
    pub path: PathBuf,
    pub address: DownloadUrl,
    /// If the server states it.
    pub bytes: Option<u64>,
    /// The file is already here; a fetch asks whether it has changed.
    pub is_here: bool,
}

/// Fetches the files of one source. Stops at the first failure; earlier files stay.
pub fn fetch(source: &PublishedSource, options: &FetchOptions, clock: &dyn Clock) -> Result<Vec<Fetched>, FetchError> {
    check_fetchable(source)?;
    let _lock = lock(&options.folder)?;
    runtime(options)?.block_on(async {
        let mut visitor = SourceVisitor::new(options.manners.clone(), clock);
        let edition = edition(source, options, &mut visitor).await?;
        let mut fetched = Vec::new();
        for place in wanted(source, edition.as_deref(), options)? {
            let address = at(&place.address, options);
            let target = options.folder.join(&place.path);
            options.progress.say(format_args!("{address} -> {}", target.display()));
            let wanted = Wanted {
                source: source.name.clone(),
                page: source.page.clone(),
                edition: edition.clone(),
                address,
                target: target.clone(),
                sha256: place.sha256.clone(),
            };
            let (outcome, receipt) = download(&mut visitor, &wanted, options.retries, options.progress).await?;
            fetched.push(Fetched { path: target, outcome, receipt });
        }
        Ok(fetched)
    })
}

/// The files of one source and their lengths, as their servers state them. Nothing is downloaded.
pub fn survey(
    source: &PublishedSource,
    options: &FetchOptions,
    clock: &dyn Clock,
) -> Result<Vec<Fetchable>, FetchError> {
    check_fetchable(source)?;
    runtime(options)?.block_on(async {
        let mut visitor = SourceVisitor::new(options.manners.clone(), clock);
        let edition = edition(source, options, &mut visitor).await?;
        let mut found = Vec::new();
        for place in wanted(source, edition.as_deref(), options)? {
            let address = at(&place.address, options);
            let path = options.folder.join(&place.path);
            let mut attempts = Attempts::new(options.retries, visitor.clock.now().wall.0 as u64);
            let bytes = loop {
                match visitor.length(&address).await {
                    Ok(bytes) => break bytes,
                    Err(Trouble::Final(error)) => return Err(error),
                    Err(Trouble::Passing(error, asked)) => {
                        visitor.close();
                        tokio::time::sleep(attempts.next_delay(error, asked, false, 0)?).await;
                    }
                }
            };
            found.push(Fetchable { is_here: path.is_file(), path, address, bytes });
        }
        Ok(found)
    })
}

fn check_fetchable(source: &PublishedSource) -> Result<(), FetchError> {
    if source.is_fetchable() {
        return Ok(());
    }
    Err(FetchError::NotFetchable {
        source: source.name.clone(),
        page: source.page.clone(),
        obstacle: source.obstacle.clone().unwrap_or_default(),
    })
}

fn runtime(options: &FetchOptions) -> Result<tokio::runtime::Runtime, FetchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(io_error(&options.folder, "start the download"))
}

/// The edition to fetch, where addresses contain it.
async fn edition(
    source: &PublishedSource,
    options: &FetchOptions,
    visitor: &mut SourceVisitor<'_>,
) -> Result<Option<String>, FetchError> {
    Ok(match (&options.edition, &source.edition) {
        (Some(edition), _) => Some(edition.clone()),
        (None, Some(edition)) => Some(latest(visitor, edition, options).await?),
        (None, None) => None,
    })
}

/// The files of a source that the options choose.
fn wanted(
    source: &PublishedSource,
    edition: Option<&str>,
    options: &FetchOptions,
) -> Result<Vec<FilePlace>, FetchError> {
    let is_wanted = |number: u32| options.numbers.is_empty() || options.numbers.contains(&number);
    let mut places = source.places(edition)?;
    places.retain(|place| place.number.is_none_or(is_wanted));
    Ok(places)
}

/// One fetch at a time writes to a folder. The lock ends with the process at the latest.
#[derive(Debug)]
struct FolderLock(File);

impl Drop for FolderLock {
    /// Unlocks all copies of the descriptor: a child process that another thread is starting holds one until it runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn lock(folder: &Path) -> Result<FolderLock, FetchError> {
    fs::create_dir_all(folder).map_err(io_error(folder, "create it"))?;
    let path = folder.join(LOCK_FILE);
    let file = File::options().create(true).append(true).open(&path).map_err(io_error(&path, "create it"))?;
    match file.try_lock() {
        Ok(()) => Ok(FolderLock(file)),
        Err(TryLockError::WouldBlock) => Err(FetchError::Locked { folder: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(io_error(&path, "lock it")(error)),
    }
}

fn at(address: &DownloadUrl, options: &FetchOptions) -> DownloadUrl {
    options.mirror.as_ref().map_or_else(|| address.clone(), |mirror| address.at_mirror(mirror))
}

/// The edition that the publisher's page names first, or the known one if there is no such page.
async fn latest(
    visitor: &mut SourceVisitor<'_>,
    edition: &Edition,
    options: &FetchOptions,
) -> Result<String, FetchError> {
    let Some(page) = &edition.page else { return Ok(edition.known.clone()) };
    let page = at(&DownloadUrl::parse(page)?, options);
    let mut attempts = Attempts::new(options.retries, visitor.clock.now().wall.0 as u64);
    loop {
        match visitor.page(&page, PAGE_BYTES_MAX).await {
            Ok(text) => {
                let found = between(&text, &edition.before, &edition.after);
                return found.map(str::to_owned).ok_or(FetchError::Edition { page });
            }
            Err(Trouble::Final(error)) => return Err(error),
            Err(Trouble::Passing(error, asked)) => {
                visitor.close();
                tokio::time::sleep(attempts.next_delay(error, asked, false, 0)?).await;
            }
        }
    }
}

/// The first text between two marks that may be the name of an edition.
fn between<'t>(page: &'t str, before: &str, after: &str) -> Option<&'t str> {
    page.match_indices(before).find_map(|(at, _)| {
        let rest = &page[at + before.len()..];
        let found = &rest[..rest.find(after)?];
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        (!found.is_empty() && found.len() <= EDITION_CHARS_MAX && found.bytes().all(plain)).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn the_first_edition_between_the_marks_is_taken() {
        let page = r#"<a href="xml_uscAll@.zip">x</a> <a href="xml_uscAll@../x.zip">x</a>
            <a href="releasepoints/us/pl/119/73not60/xml_uscAll@119-73not60.zip">XML</a>
            <a href="xml_uscAll@119-60.zip">earlier</a>"#;
        assert_eq!(between(page, "xml_uscAll@", ".zip"), Some("119-73not60"));
        assert_eq!(between("nothing", "xml_uscAll@", ".zip"), None);
        assert_eq!(between("xml_uscAll@119", "xml_uscAll@", ".zip"), None);
    }

    #[test]
    fn a_folder_is_written_by_one_fetch_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sources");
        let first = lock(&folder).unwrap();
        assert!(matches!(lock(&folder), Err(FetchError::Locked { .. })));
        drop(first);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!(std::process::Command::new("true").status().unwrap().success());
                }
            });
            let refused = (0..2_000).filter(|_| lock(&folder).is_err()).count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(refused, 0, "so many times nobody wrote to it");
        });
    }
}
