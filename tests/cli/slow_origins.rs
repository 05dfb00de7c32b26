//! Pulls from publishers that stall or drip: each fails within its limits, says why, and the next one finishes with what
//! had arrived.

use std::path::Path;
use std::time::{Duration, Instant};

use hornbook::sources::{HttpOrigin, LeastRate, OriginLimits};
use hornbook::tls_client::Trust;
use hornbook_base::clock::UnixMillis;
use hornbook_base::random::SplitMix64;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::data_directory::{DataDirectory, DataDirectoryError};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{InstalledSnapshot, PublicKey, PullError, PullTotals, fetch, offer};

use crate::packs::{FOLDER, Machines};
use crate::publisher::{Publisher, ResponseFault};

/// A response of this publisher has thousands of bytes, which arrive at once unless it stalls.
const LIMITS: OriginLimits = OriginLimits {
    connect: Duration::from_secs(5),
    head: Duration::from_millis(250),
    patience: Duration::from_millis(250),
    least_rate: LeastRate { bytes: 400, window: Duration::from_millis(300) },
    first_pause: Duration::from_millis(1),
    pause_max: Duration::from_millis(5),
};
/// Longer than any limit: who waits for it has none.
const STALL: Duration = Duration::from_secs(2);
/// Six attempts with the limits above take a second. A busy machine may need longer.
const PULL_MAX: Duration = Duration::from_secs(20);

#[derive(Debug)]
enum SlowPullError {
    Pull(PullError),
    Data(#[expect(dead_code, reason = "tests show it")] DataDirectoryError),
}

impl From<DataDirectoryError> for SlowPullError {
    fn from(error: DataDirectoryError) -> Self {
        Self::Data(error)
    }
}

/// A pull as the command does it, with short limits.
fn pull(publisher: &Publisher, key: &str, data: &Path) -> Result<PullTotals, SlowPullError> {
    std::fs::create_dir_all(data).unwrap();
    let url = format!("{}{FOLDER}/", publisher.base);
    let mut origin = HttpOrigin::new(&url, &Trust::System, LIMITS, ProgressDisplay::Silent).unwrap();
    let trusted = [PublicKey::parse(key).unwrap()];
    let channel = offer(&mut origin, data, &trusted, UnixMillis(0)).map_err(SlowPullError::Pull)?;
    let directory = DataDirectory::new(data);
    let stored = directory.list()?;
    let installed: Vec<InstalledSnapshot> =
        stored.into_iter().map(|stored| InstalledSnapshot { id: stored.id, dir: stored.path }).collect();
    let mut totals = PullTotals::default();
    let fill = |folder: &Path| {
        totals = fetch(&mut origin, &channel, &installed, folder, |_| ()).map_err(SlowPullError::Pull)?;
        Ok::<(), SlowPullError>(())
    };
    directory.receive(&channel.snapshot, fill, |_| ())?;
    Ok(totals)
}

#[test]
fn a_pull_from_a_stalling_or_dripping_publisher_ends_and_the_next_one_finishes() {
    let (machines, publisher) = (Machines::new(), Publisher::start());
    let id = machines.build("Cats are free.");
    machines.publish(&publisher);
    let whole = pull(&publisher, &machines.key, &machines.at("unhurt")).unwrap().fetched_bytes;
    let pack = format!("{FOLDER}/{id}.pack");
    let list = format!("{FOLDER}/channel.json");
    let drip = ResponseFault::SlowBytes(Duration::from_millis(20));
    // The index comes whole, then some blocks, then next to nothing.
    let some = ResponseFault::StallAfter(60_000, STALL);
    let nothing = ResponseFault::StallAfter(10, STALL);
    let cases: [(&str, &String, &[ResponseFault], &str); 5] = [
        ("before the head of the list", &list, &[ResponseFault::Stall(STALL)], "sent no answer for 250ms"),
        ("before the head", &pack, &[ResponseFault::Stall(STALL)], "sent no answer for 250ms"),
        ("after some blocks", &pack, &[some.clone(), some, nothing], "sent nothing for 250ms"),
        ("by dripping", &pack, std::slice::from_ref(&drip), "fewer than 400 bytes in 300ms"),
        ("by dripping the list", &list, std::slice::from_ref(&drip), "fewer than 400 bytes in 300ms"),
    ];
    for (number, (case, path, faults, message)) in cases.into_iter().enumerate() {
        let data = machines.at(&format!("data-{number}"));
        publisher.add_faults(path, faults.iter().cloned());
        // More than any pull waits for.
        publisher.add_faults(path, std::iter::repeat_n(faults[faults.len() - 1].clone(), 100));
        let began = Instant::now();
        let error = pull(&publisher, &machines.key, &data).unwrap_err();
        let SlowPullError::Pull(error @ PullError::GaveUp(_)) = error else { panic!("{case}: {error:?}") };
        assert!(error.to_string().contains(message), "{case}: {error}");
        assert!(error.to_string().contains("the next one goes on from here"), "{case}: {error}");
        assert!(began.elapsed() < PULL_MAX, "{case}: {:?}", began.elapsed());
        assert!(DataDirectory::new(&data).list().unwrap().is_empty(), "{case}");
        publisher.clear_faults();
        let rest = pull(&publisher, &machines.key, &data).unwrap();
        assert!(rest.fetched_bytes <= whole, "{case}: {rest:?} of {whole}");
        assert!(case != "after some blocks" || rest.fetched_bytes < whole, "{rest:?} of {whole}");
        let installed = DataDirectory::new(&data).list().unwrap();
        Snapshot::verify(&installed[0].path, |_| ()).unwrap();
    }
}

#[test]
fn a_pull_through_a_few_stalls_finishes() {
    let (machines, publisher) = (Machines::new(), Publisher::start());
    let id = machines.build("Cats are free.");
    machines.publish(&publisher);
    for seed in 0..4 {
        let mut random = SplitMix64(seed);
        let mut fault = || match random.below(4) {
            0 => ResponseFault::Stall(STALL),
            1 => ResponseFault::Corrupt,
            2 => ResponseFault::CloseAfter(random.index(90_000)),
            _ => ResponseFault::StallAfter(random.index(90_000), STALL),
        };
        publisher.add_faults(&format!("{FOLDER}/channel.json"), [fault()]);
        publisher.add_faults(&format!("{FOLDER}/{id}.pack"), std::iter::repeat_with(fault).take(3));
        let data = machines.at(&format!("data-{seed}"));
        pull(&publisher, &machines.key, &data).unwrap();
        Snapshot::verify(&data.join("snapshots").join(&id), |_| ()).unwrap();
        publisher.clear_faults();
    }
}
