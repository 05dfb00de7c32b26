//! A killed build leaves no incomplete snapshot that opens, and nothing that hinders the next build.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hornbook_corpus::snapshot::Snapshot;

use crate::{hornbook, sample_plan};

const KILLS: u32 = 100;

#[test]
fn builds_killed_at_any_moment_leave_all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let start = |out: &std::path::Path| {
        let mut command = hornbook();
        command.arg("build").arg("--quiet").arg(sample_plan()).arg("--out").arg(out);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let timed = |n| {
        let began = Instant::now();
        assert!(start(&dir.path().join(format!("unhurt-{n}"))).wait().unwrap().success());
        began.elapsed()
    };
    // The kills are spread over a little more than one build, so that some come after the rename.
    // The fastest of several builds gives the duration, independent of other load.
    let whole_build = (0..5).map(timed).min().unwrap().mul_f64(1.1);
    let (mut nothing, mut all) = (0, 0);
    for n in 0..KILLS {
        let out = dir.path().join(format!("out-{n}"));
        let mut child = start(&out);
        // The odd multiplier visits the moments out of order.
        let moment = whole_build.mul_f64(f64::from(n * 37 % KILLS) / f64::from(KILLS));
        std::thread::sleep(moment.max(Duration::from_millis(1)));
        let _ = child.kill();
        child.wait().unwrap();
        if out.exists() {
            Snapshot::verify(&out, |_| ()).unwrap_or_else(|error| panic!("killed after {moment:?}: {error}"));
            all += 1;
        } else {
            assert!(Snapshot::open(&out).is_err());
            nothing += 1;
        }
    }
    assert!(nothing >= KILLS / 10, "too few kills hit a build: {nothing} left nothing, {all} left a complete snapshot");
    // The next build removes the leftovers of the killed ones.
    assert!(start(&dir.path().join("last")).wait().unwrap().success());
    let leftovers = fs::read_dir(dir.path())
        .unwrap()
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.')));
    assert_eq!(leftovers.count(), 0);
}
