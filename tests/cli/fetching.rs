//! Fetching from a publisher on loopback: complete and interrupted downloads, servers that lie,
//! redirect, throttle or change files, and the files on disk after each.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hornbook::sources::catalogue::PublishedSource;
use hornbook::sources::error::FetchError;
use hornbook::sources::fetch::{DownloadOutcome, FetchOptions, Fetched, fetch};
use hornbook::sources::{DownloadUrl, LeastRate, Manners, Retries};
use hornbook_base::clock::{ManualClock, UnixDay};
use hornbook_base::random::SplitMix64;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_index_build::receipt::{Receipt, sha256_of};

use crate::publisher::{Publisher, ResponseFault};
use crate::{hornbook, stderr, stdout};

/// The path of the file at the mirror.
const FILE: &str = "/law.example/code.tar.gz";

/// A source with one archive.
fn source() -> PublishedSource {
    toml::from_str(
        r#"
name = "xa-code"
jurisdiction = "XA"
title = "Arden Code"
kind = "official"
publisher = "p"
page = "https://law.example/"
format = "f"
license = "l"
[[file]]
url = "https://law.example/code.tar.gz"
path = "xa-code/code.tar.gz"
"#,
    )
    .unwrap()
}

/// An archive with one file of random bytes, which do not compress well.
fn archive(seed: u64, length: usize) -> Vec<u8> {
    let mut random = SplitMix64(seed);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.draw() as u8).take(length).collect();
    tar_gz_of("law.txt", &noise)
}

/// A `.tar.gz` with one file.
pub(crate) fn tar_gz_of(name: &str, content: &[u8]) -> Vec<u8> {
    let mut head = [0; 512];
    head[..name.len()].copy_from_slice(name.as_bytes());
    head[100..107].copy_from_slice(b"0000644");
    head[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    head[156] = b'0';
    head[257..263].copy_from_slice(b"ustar\0");
    head[148..156].copy_from_slice(b"        ");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut tar = [&head, content].concat();
    tar.resize(512 + content.len().next_multiple_of(512) + 1024, 0);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&tar).unwrap();
    gz.finish().unwrap()
}

struct FetchFixture {
    dir: tempfile::TempDir,
    publisher: Publisher,
    clock: ManualClock,
}

impl FetchFixture {
    fn new() -> Self {
        let clock = ManualClock::at(UnixDay::from_civil(2026, 11, 20).start());
        Self { dir: tempfile::tempdir().unwrap(), publisher: Publisher::start(), clock }
    }

    fn options(&self) -> FetchOptions {
        FetchOptions {
            folder: self.dir.path().join("sources"),
            mirror: Some(DownloadUrl::parse(&self.publisher.base).unwrap()),
            edition: None,
            numbers: Vec::new(),
            manners: Manners {
                pause: Duration::ZERO,
                patience: Duration::from_millis(500),
                least_rate: LeastRate { bytes: 20, window: Duration::from_millis(400) },
                ..Manners::default()
            },
            retries: Retries {
                first_delay: Duration::from_millis(2),
                wait_max: Duration::from_secs(2),
                ..Retries::default()
            },
            progress: ProgressDisplay::Silent,
        }
    }

    fn fetch(&self) -> Result<Fetched, FetchError> {
        fetch(&source(), &self.options(), &self.clock).map(|mut fetched| fetched.remove(0))
    }

    fn refusal(&self) -> String {
        self.fetch().unwrap_err().to_string()
    }

    /// Fetches a plain text file, where a truncated file cannot be recognised by its content.
    fn fetch_text(&self) -> String {
        let mut source = source();
        source.files[0].url = "https://law.example/code.txt".to_owned();
        source.files[0].path = "xa-code/code.txt".to_owned();
        let fetched = fetch(&source, &self.options(), &self.clock).unwrap();
        fs::read_to_string(&fetched[0].path).unwrap()
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("sources/xa-code/code.tar.gz")
    }

    /// The names of all files in the source's folder.
    fn files_on_disk(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.target().parent().unwrap())
            .map(|entries| entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }

    /// The `Range` headers of the requests for the file.
    fn requested_ranges(&self) -> Vec<Option<String>> {
        let asked = self.publisher.take_requests().into_iter().filter(|asked| asked.path != "/robots.txt");
        asked.map(|asked| asked.header("range").map(str::to_owned)).collect()
    }
}

const FILE_AND_RECEIPT: [&str; 2] = ["code.tar.gz", "code.tar.gz.receipt.json"];

#[test]
fn a_file_arrives_whole_with_its_receipt_and_is_not_downloaded_twice() {
    let scene = FetchFixture::new();
    let bytes = archive(1, 60_000);
    scene.publisher.offer(FILE, &bytes);
    let fetched = scene.fetch().unwrap();
    assert_eq!(fetched.outcome, DownloadOutcome::New);
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);
    let receipt = Receipt::read(&scene.target()).unwrap().unwrap();
    assert_eq!(receipt, fetched.receipt);
    assert_eq!((receipt.source.as_str(), receipt.retrieved.as_str()), ("xa-code", "2026-11-20"));
    assert_eq!(receipt.url, format!("{}{FILE}", scene.publisher.base));
    assert_eq!((receipt.bytes, receipt.sha256.clone()), (bytes.len() as u64, sha256_of(&scene.target()).unwrap()));
    assert_eq!(receipt.edition.as_deref(), Some("as of 2026-11-18"), "the day of the last change");
    assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
    let asked = scene.publisher.take_requests();
    assert_eq!(asked.iter().map(|asked| asked.path.as_str()).collect::<Vec<_>>(), ["/robots.txt", FILE]);
    assert!(asked[1].header("user-agent").unwrap().starts_with("Hornbook/"), "{}", asked[1].head);

    scene.clock.advance_millis(3 * 86_400_000);
    let again = scene.fetch().unwrap();
    assert_eq!(again.outcome, DownloadOutcome::Unchanged);
    assert_eq!((again.receipt.retrieved.as_str(), again.receipt.checked.as_str()), ("2026-11-20", "2026-11-23"));
    assert!(scene.publisher.take_requests()[1].header("if-none-match").is_some(), "the second request has a validator");

    let changed = archive(2, 61_000);
    scene.publisher.offer(FILE, &changed);
    let third = scene.fetch().unwrap();
    assert_eq!((third.outcome, third.receipt.retrieved.as_str()), (DownloadOutcome::Changed, "2026-11-23"));
    assert_eq!(fs::read(scene.target()).unwrap(), changed);
    assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
}

#[test]
fn unchanged_bytes_without_validators_keep_their_date() {
    let scene = FetchFixture::new();
    scene.publisher.offer_with(FILE, &archive(1, 9_000), None, None);
    assert_eq!(scene.fetch().unwrap().receipt.edition, None, "no edition was stated");
    scene.clock.advance_millis(86_400_000);
    let again = scene.fetch().unwrap();
    assert_eq!((again.outcome, again.receipt.retrieved.as_str()), (DownloadOutcome::Unchanged, "2026-11-20"));
    assert_eq!(scene.requested_ranges(), [None, None]);
}

#[test]
fn broken_downloads_are_resumed() {
    let scene = FetchFixture::new();
    let bytes = archive(3, 90_000);
    scene.publisher.offer(FILE, &bytes);
    scene.publisher.add_faults(
        FILE,
        [
            ResponseFault::CloseAfter(30_000),
            ResponseFault::CloseAfter(20_000),
            ResponseFault::Stall(Duration::from_millis(900)),
        ],
    );
    scene.fetch().unwrap();
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);
    let ranges = scene.requested_ranges();
    assert_eq!(ranges[..2], [None, Some("bytes=30000-".to_owned())]);
    assert_eq!(ranges.last().unwrap().as_deref(), Some("bytes=50000-"));
    assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
}

#[test]
fn a_short_range_does_not_end_the_download() {
    let text: String = (0..9_000).map(|number| format!("line {number:04}\n")).collect();
    let range = |from: usize| Some(format!("bytes={from}-"));
    for (fault, expected) in [
        (ResponseFault::ShortRange(20_000), [None, range(30_000), range(50_000)]),
        (ResponseFault::TruncatedRange(10_000), [None, range(30_000), range(40_000)]),
        // Only a response from the start of the file shows its length.
        (ResponseFault::ShortRangeWithoutTotal(20_000), [None, range(30_000), None]),
    ] {
        let scene = FetchFixture::new();
        scene.publisher.offer("/law.example/code.txt", text.as_bytes());
        scene.publisher.add_faults("/law.example/code.txt", [ResponseFault::CloseAfterChunk(30_000), fault.clone()]);
        assert!(scene.fetch_text() == text, "{fault:?}: the file is cut");
        assert_eq!(scene.requested_ranges(), expected, "{fault:?}");
    }
}

#[test]
fn too_slow_servers_are_abandoned() {
    let scene = FetchFixture::new();
    let text = "the law\n".repeat(12);
    scene.publisher.offer("/law.example/code.txt", text.as_bytes());
    let drip = ResponseFault::SlowBytes(Duration::from_millis(60));
    scene.publisher.add_faults("/law.example/code.txt", [drip.clone()]);
    assert_eq!(scene.fetch_text(), text);
    let ranges = scene.requested_ranges();
    assert_eq!(ranges.len(), 2, "the second request brings what the first only dripped");
    assert!(ranges[1].is_some(), "and goes on after it");

    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &archive(5, 400));
    scene.publisher.add_faults(FILE, std::iter::repeat_n(drip, 6));
    let gave_up = scene.refusal();
    assert!(gave_up.contains("fewer than 20 bytes in"), "{gave_up}");
    assert!(gave_up.contains("given up after 6 attempts; the same command goes on after"), "{gave_up}");
}

#[test]
fn a_later_run_resumes_the_download() {
    let scene = FetchFixture::new();
    let bytes = archive(4, 90_000);
    scene.publisher.offer(FILE, &bytes);
    scene.publisher.add_faults(FILE, [ResponseFault::CloseAfter(40_000)]);
    scene.publisher.add_faults(FILE, std::iter::repeat_n(ResponseFault::Status(503, ""), 6));
    let gave_up = scene.refusal();
    assert!(gave_up.contains("answered 503") && gave_up.contains("goes on after the 40000 bytes"), "{gave_up}");
    assert_eq!(scene.files_on_disk(), ["code.tar.gz.part", "code.tar.gz.part.json"], "only partial files are left");
    scene.requested_ranges();
    scene.fetch().unwrap();
    assert_eq!(scene.requested_ranges(), [Some("bytes=40000-".to_owned())]);
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);
    assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
}

#[test]
fn a_changed_file_restarts_the_download() {
    for fault in [None, Some(ResponseFault::IgnoreRange), Some(ResponseFault::WrongRangeStart)] {
        let scene = FetchFixture::new();
        scene.publisher.offer(FILE, &archive(5, 90_000));
        scene.publisher.add_faults(FILE, [ResponseFault::CloseAfter(40_000)]);
        scene.publisher.add_faults(FILE, std::iter::repeat_n(ResponseFault::Status(500, ""), 6));
        scene.refusal();
        let changed = archive(6, 95_000);
        // A new file at the same address. For a wrong range, the file stays the same.
        let bytes = if matches!(fault, Some(ResponseFault::WrongRangeStart)) { archive(5, 90_000) } else { changed };
        scene.publisher.offer(FILE, &bytes);
        scene.publisher.add_faults(FILE, fault);
        scene.fetch().unwrap();
        assert_eq!(fs::read(scene.target()).unwrap(), bytes);
        assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
    }
}

#[test]
fn a_partial_file_longer_than_the_new_file_is_discarded() {
    let scene = FetchFixture::new();
    scene.publisher.offer_with(FILE, &archive(5, 90_000), Some("\"same\""), None);
    scene.publisher.add_faults(FILE, [ResponseFault::CloseAfter(80_000)]);
    scene.publisher.add_faults(FILE, std::iter::repeat_n(ResponseFault::Status(500, ""), 6));
    scene.refusal();
    let shorter = archive(7, 20_000);
    scene.publisher.offer_with(FILE, &shorter, Some("\"same\""), None);
    scene.fetch().unwrap();
    assert_eq!(fs::read(scene.target()).unwrap(), shorter);
}

#[test]
fn wrong_content_lengths_are_detected() {
    let bytes = archive(8, 50_000);
    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &bytes);
    // If more is announced than sent, the connection ends too early. If less is announced, the
    // archive is truncated.
    scene.publisher.add_faults(
        FILE,
        [ResponseFault::WrongContentLength(bytes.len() + 9), ResponseFault::WrongContentLength(bytes.len() - 9)],
    );
    scene.fetch().unwrap();
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);

    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &bytes);
    scene.publisher.add_faults(
        FILE,
        [ResponseFault::WrongContentLength(bytes.len() - 9), ResponseFault::WrongContentLength(bytes.len() - 9)],
    );
    let refused = scene.refusal();
    assert!(
        refused.contains("the file is incomplete or damaged") && refused.contains("nothing of it is kept"),
        "{refused}"
    );
    assert!(scene.files_on_disk().is_empty(), "{:?}", scene.files_on_disk());

    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &bytes);
    scene.publisher.add_faults(FILE, [ResponseFault::NoLength]);
    scene.fetch().unwrap();
    assert_eq!(fs::read(scene.target()).unwrap(), bytes, "a missing length is accepted");
}

#[test]
fn a_damaged_archive_is_requested_once_more_and_never_kept() {
    let scene = FetchFixture::new();
    let bytes = archive(9, 50_000);
    scene.publisher.offer(FILE, &bytes);
    scene.publisher.add_faults(FILE, [ResponseFault::Corrupt]);
    scene.fetch().unwrap();
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);

    // An existing complete file survives damaged downloads.
    scene.publisher.offer(FILE, &archive(10, 50_000));
    scene.publisher.add_faults(FILE, [ResponseFault::Corrupt, ResponseFault::Corrupt]);
    assert!(scene.refusal().contains("the file is incomplete or damaged"));
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);
    assert_eq!(scene.files_on_disk(), FILE_AND_RECEIPT);
    Receipt::read(&scene.target()).unwrap().unwrap().check(&scene.target()).unwrap();

    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, b"<html>We are down for maintenance</html>");
    assert!(scene.refusal().contains("the file is incomplete or damaged"));
    assert!(scene.files_on_disk().is_empty());
}

#[test]
fn a_known_hash_must_match() {
    let scene = FetchFixture::new();
    let bytes = archive(11, 9_000);
    scene.publisher.offer(FILE, &bytes);
    let mut source = source();
    source.files[0].sha256 = Some("0".repeat(64));
    let refused = fetch(&source, &scene.options(), &scene.clock).unwrap_err().to_string();
    assert!(refused.contains("which the catalogue knows"), "{refused}");
    assert!(scene.files_on_disk().is_empty());
    fs::write(scene.dir.path().join("known"), &bytes).unwrap();
    source.files[0].sha256 = Some(sha256_of(&scene.dir.path().join("known")).unwrap());
    fetch(&source, &scene.options(), &scene.clock).unwrap();
}

#[test]
fn a_file_that_was_changed_by_hand_is_fetched_anew() {
    let scene = FetchFixture::new();
    let bytes = archive(12, 9_000);
    scene.publisher.offer(FILE, &bytes);
    scene.fetch().unwrap();
    fs::write(scene.target(), "changed by hand").unwrap();
    assert_eq!(scene.fetch().unwrap().outcome, DownloadOutcome::Changed);
    assert_eq!(fs::read(scene.target()).unwrap(), bytes);
}

#[test]
fn redirects_are_followed_on_the_same_host_only() {
    let scene = FetchFixture::new();
    let bytes = archive(13, 9_000);
    scene.publisher.offer("/files/code", &bytes);
    scene.publisher.add_faults(FILE, [ResponseFault::Redirect("/files/a".to_owned())]);
    scene.publisher.add_faults("/files/a", [ResponseFault::Redirect("code".to_owned())]);
    let receipt = scene.fetch().unwrap().receipt;
    assert_eq!(receipt.final_url, format!("{}/files/code", scene.publisher.base));
    assert_eq!(receipt.url, format!("{}{FILE}", scene.publisher.base));

    let elsewhere = Publisher::start();
    elsewhere.offer("/x", &bytes);
    for (to, expected) in [
        (format!("{}/x", elsewhere.base), "is on another host"),
        ("http://law.example/x".to_owned(), "is on another host"),
        ("https://law.example/x".to_owned(), "is on another host"),
        ("ftp://law.example/x".to_owned(), "is not an address"),
        (FILE.to_owned(), "leads in a circle"),
    ] {
        let scene = FetchFixture::new();
        scene.publisher.add_faults(FILE, [ResponseFault::Redirect(to.clone())]);
        let refused = scene.refusal();
        assert!(refused.contains(expected) && refused.contains("it is not followed"), "{to}: {refused}");
        assert!(scene.files_on_disk().is_empty());
    }
    assert!(elsewhere.take_requests().is_empty(), "the other host was never asked");

    let scene = FetchFixture::new();
    scene.publisher.add_faults(FILE, [ResponseFault::Redirect("/0".to_owned())]);
    for step in 0..9 {
        scene.publisher.add_faults(&format!("/{step}"), [ResponseFault::Redirect(format!("/{}", step + 1))]);
    }
    assert!(scene.refusal().contains("the 6th redirect in a row"));
}

#[test]
fn retry_after_is_obeyed_up_to_a_limit() {
    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &archive(14, 9_000));
    scene
        .publisher
        .add_faults(FILE, [ResponseFault::Status(429, "Retry-After: 1\r\n"), ResponseFault::Status(503, "")]);
    scene.fetch().unwrap();
    let asked: Vec<_> = scene.publisher.take_requests().into_iter().filter(|asked| asked.path == FILE).collect();
    assert_eq!(asked.len(), 3);
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "the retry came too early");

    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &archive(14, 9_000));
    scene.publisher.add_faults(FILE, [ResponseFault::Status(503, "Retry-After: 3600\r\n")]);
    let refused = scene.refusal();
    assert!(refused.contains("asks to wait 3600 seconds"), "{refused}");
    assert_eq!(scene.requested_ranges().len(), 1, "it was requested again");
}

#[test]
fn a_404_is_not_retried() {
    let scene = FetchFixture::new();
    let refused = scene.refusal();
    assert!(refused.contains("answered 404; the publisher has moved or removed"), "{refused}");
    assert_eq!(scene.requested_ranges().len(), 1);
    assert!(scene.files_on_disk().is_empty());
}

#[test]
fn robots_txt_is_obeyed() {
    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &archive(15, 9_000));
    scene.publisher.offer("/robots.txt", b"User-agent: *\nDisallow: /law.example/\n");
    let refused = scene.refusal();
    assert!(refused.contains("robots.txt") && refused.contains("--ignore-robots"), "{refused}");
    assert!(scene.requested_ranges().is_empty(), "the file was not requested");
    let mut options = scene.options();
    options.manners.heed_robots = false;
    fetch(&source(), &options, &scene.clock).unwrap();
    assert!(scene.publisher.take_requests().iter().all(|asked| asked.path == FILE));

    // If the rules of a host cannot be read, nothing else is requested until they can.
    let scene = FetchFixture::new();
    scene.publisher.offer(FILE, &archive(15, 9_000));
    scene.publisher.add_faults("/robots.txt", [ResponseFault::Status(500, ""), ResponseFault::CloseAfter(0)]);
    scene.publisher.offer("/robots.txt", b"User-agent: *\nCrawl-delay: 0.3\n");
    scene.fetch().unwrap();
    let asked = scene.publisher.take_requests();
    assert_eq!(asked.iter().filter(|asked| asked.path == "/robots.txt").count(), 3);
    let [.., rules, file] = &asked[..] else { panic!("{asked:?}") };
    assert!(file.at - rules.at >= Duration::from_millis(300), "the delay is kept");
}

#[test]
fn one_connection_at_a_time_with_pauses() {
    let scene = FetchFixture::new();
    let mut source = source();
    source.files[0].url = "https://law.example/{number}.tar.gz".to_owned();
    source.files[0].path = "xa-code/{number}.tar.gz".to_owned();
    source.files[0].numbers = vec![[1, 5]];
    for number in 1..=5 {
        scene.publisher.offer(&format!("/law.example/{number}.tar.gz"), &archive(number, 9_000));
    }
    let mut options = scene.options();
    options.numbers = vec![2, 4, 5];
    options.manners.pause = Duration::from_millis(150);
    options.manners.contact = Some("law@example.org".to_owned());
    assert_eq!(fetch(&source, &options, &scene.clock).unwrap().len(), 3);
    let asked = scene.publisher.take_requests();
    assert_eq!(asked.len(), 4);
    for pair in asked.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(150), "{} came too soon", pair[1].path);
    }
    assert!(asked.iter().all(|asked| asked.header("from") == Some("law@example.org")));
    assert_eq!(scene.publisher.connections_max(), 1);
}

#[test]
fn the_latest_edition_is_read_from_the_publishers_page() {
    let scene = FetchFixture::new();
    let mut source: PublishedSource = source();
    let edition = "known = '119-1'\npage = 'https://law.example/downloads'\nbefore = 'code@'\nafter = '.tar.gz'";
    source.edition = Some(toml::from_str(edition).unwrap());
    source.files[0].url = "https://law.example/{edition/}/code@{edition}.tar.gz".to_owned();
    scene.publisher.offer("/law.example/downloads", b"<a href='119/73not60/code@119-73not60.tar.gz'>all</a>");
    scene.publisher.offer("/law.example/119/73not60/code@119-73not60.tar.gz", &archive(1, 9_000));
    let fetched = fetch(&source, &scene.options(), &scene.clock).unwrap().remove(0);
    assert_eq!(fetched.receipt.edition.as_deref(), Some("119-73not60"));

    scene.publisher.offer("/law.example/119/1/code@119-1.tar.gz", &archive(2, 9_000));
    let older = FetchOptions { edition: Some("119-1".to_owned()), ..scene.options() };
    let fetched = fetch(&source, &older, &scene.clock).unwrap().remove(0);
    assert_eq!((fetched.outcome, fetched.receipt.edition.as_deref()), (DownloadOutcome::Changed, Some("119-1")));

    scene.publisher.offer("/law.example/downloads", b"a new design of the page");
    let refused = fetch(&source, &scene.options(), &scene.clock).unwrap_err().to_string();
    assert!(refused.contains("give the edition with --edition"), "{refused}");
}

#[test]
fn plain_http_is_only_allowed_for_loopback() {
    let scene = FetchFixture::new();
    let mut options = scene.options();
    options.mirror = Some(DownloadUrl::parse("http://192.0.2.1:9").unwrap());
    let refused = fetch(&source(), &options, &scene.clock).unwrap_err().to_string();
    assert!(refused.contains("plain http is for this machine alone"), "{refused}");
}

fn run(dir: &Path, arguments: &[&str]) -> std::process::Output {
    hornbook().current_dir(dir).args(arguments).output().unwrap()
}

#[test]
fn sources_and_fetch_list_available_and_missing_sources() {
    let dir = tempfile::tempdir().unwrap();
    let list = stdout(&run(dir.path(), &["sources"]));
    for expected in ["us-code ", "va-code ", "gu-code", "ny-new-york-code"] {
        assert!(list.contains(expected), "no {expected} in:\n{list}");
    }
    let of_virginia = stdout(&run(dir.path(), &["sources", "va"]));
    assert!(of_virginia.contains("law.lis.virginia.gov") && of_virginia.contains("obstacle"), "{of_virginia}");
    let json = stdout(&run(dir.path(), &["sources", "us-code", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["verified"]), (&"us-code".into(), &true.into()));

    for (arguments, expected) in [
        (&["sources", "nowhere"][..], "there is no source 'nowhere'"),
        (&["fetch", "nowhere"], "there is no source 'nowhere'"),
        (&["fetch", "va-code"], "va-code has no address to download from: "),
        (&["fetch", "us-code", "--pause", "0.5"], "--pause 0.5: it must be from 1 to 3600 seconds"),
        (&["fetch", "us-code", "--base", "file:///x"], "is not an address"),
        (&["update"], "give the plan: hornbook update PLAN"),
    ] {
        let output = run(dir.path(), arguments);
        assert!(!output.status.success() && stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

/// A dry run asks for the sizes of all files of a collection. A fetch goes on after a source that fails, puts the plans
/// beside the sources, and a build can leave out what is missing.
#[test]
fn a_collection_is_fetched_as_far_as_it_goes_and_built_from_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let page = r#"{"1": {"t": "§1-1  Dogs.  No dog barks. [L 1999, c 94, §1]", "u": "https://law.example/1-1"}}"#;
    let archive = tar_gz_of("hawaii-statutes-HEAD/data/volumes/1.json", page.as_bytes());
    let path = "/codeload.github.com/KailuaHRS/hawaii-statutes/tar.gz/HEAD";
    publisher.offer(path, &archive);
    let base = ["--base", publisher.base.as_str(), "--to", "sources"];
    let surveyed = run(dir.path(), &[&["fetch", "hi-statutes-json", "--dry-run"], &base[..]].concat());
    let size = format!("{} B", archive.len());
    assert!(stdout(&surveyed).contains(&size) && stdout(&surveyed).contains("nothing was downloaded"), "{surveyed:?}");
    assert!(!dir.path().join("sources").exists());
    assert!(
        publisher
            .take_requests()
            .iter()
            .all(|asked| asked.path == "/robots.txt" || asked.header("range") == Some("bytes=0-0"))
    );

    let fetched = run(dir.path(), &[&["fetch", "us-law"], &base[..]].concat());
    let refused = stderr(&fetched);
    assert!(
        !fetched.status.success() && refused.contains("wy-code-unicourt: ") && refused.contains("--skip-absent"),
        "{refused}"
    );
    assert!(stdout(&fetched).contains("build it: hornbook build sources/us-law.toml"), "{}", stdout(&fetched));
    let plan = dir.path().join("sources/us-law.toml");
    let text = fs::read_to_string(&plan).unwrap();
    assert!(
        text.contains("\"hi-statutes-json.toml\"") && dir.path().join("sources/hi-statutes-json.toml").is_file(),
        "{text}"
    );
    let missing = run(dir.path(), &["build", "sources/us-law.toml", "--check"]);
    assert!(stderr(&missing).contains("sources/wy-code-unicourt/cic-code-wy.tar.gz"), "{}", stderr(&missing));
    let checked = run(dir.path(), &["build", "sources/us-law.toml", "--check", "--skip-absent"]);
    let said = stdout(&checked) + &stderr(&checked);
    assert!(said.contains("United States Code is left out: us-code/xml_uscAll.zip is not there"), "{said}");
}
