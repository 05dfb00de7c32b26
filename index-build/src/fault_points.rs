//! Named steps at which tests abort the process, as a kill or a power failure would. The tests then
//! check what the next build does with the leftovers. None of this is compiled outside tests.

#[cfg(not(test))]
pub(crate) fn reached(_step: &str) {}

#[cfg(not(test))]
pub(crate) fn is_refused(_operation: &str) -> bool {
    false
}

/// Aborts the process if the test that started it requests that. Nothing is unwound or cleaned up.
#[cfg(test)]
pub(crate) fn reached(step: &str) {
    if std::env::var_os(tests::END_AT).is_some_and(|wanted| wanted == step) {
        std::process::abort();
    }
}

/// Whether this process must behave as if the operating system did not support an operation.
#[cfg(test)]
pub(crate) fn is_refused(operation: &str) -> bool {
    std::env::var_os(tests::REFUSE).is_some_and(|refused| refused == operation)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use hornbook_corpus::manifest::Manifest;
    use hornbook_corpus::snapshot::Snapshot;

    use crate::build::{BuildOptions, Built, Destination, build};
    use crate::data_directory::{DataDirectory, DataDirectoryError};
    use crate::progress::ProgressDisplay;

    pub(super) const END_AT: &str = "HORNBOOK_TEST_END_AT";
    pub(super) const REFUSE: &str = "HORNBOOK_TEST_REFUSE";
    const PLAN: &str = "HORNBOOK_TEST_PLAN";
    const OUT: &str = "HORNBOOK_TEST_OUT";
    const DATA: &str = "HORNBOOK_TEST_DATA";
    const FROM: &str = "HORNBOOK_TEST_FROM";

    fn plan_of(folder: &Path, text: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let line = format!(
            r#"{{"jurisdiction":"US","codeBody":"Code","path":["Title 1"],"citation":"1 T.C. § 1","heading":"One","text":"{text}","ref":"/1","status":"in force"}}"#
        );
        fs::write(folder.join("law.jsonl"), line).unwrap();
        let plan = "name = 't'\n[[source]]\nformat = 'provisions-jsonl'\npath = 'law.jsonl'\njurisdiction = 'US'\n\
                    code_body = 'Code'\nkey = 'us/tc'\npublisher = 'p'\nlicense = 'l'\nedition = 'e'\n\
                    retrieved = '2026-01-01'\nurl = 'https://law.example/'\n";
        fs::write(folder.join("plan.toml"), plan).unwrap();
        folder.join("plan.toml")
    }

    fn options(plan: &Path, destination: Destination) -> BuildOptions {
        BuildOptions {
            plan: plan.to_owned(),
            sources: None,
            destination,
            strict: false,
            replace: true,
            accept_loss: false,
            skip_absent: false,
            fresh: false,
            progress: ProgressDisplay::Silent,
        }
    }

    fn built(plan: &Path, destination: Destination) -> Built {
        build(&options(plan, destination)).unwrap()
    }

    /// The tests below run this in a child process. On its own it does nothing.
    #[test]
    fn child_that_builds() {
        let Some(plan) = std::env::var_os(PLAN) else { return };
        let destination = match (std::env::var_os(OUT), std::env::var_os(DATA)) {
            (Some(out), _) => Destination::Folder(out.into()),
            (_, data) => Destination::DataDirectory(data.unwrap().into()),
        };
        built(Path::new(&plan), destination);
    }

    fn killed(step: &str, plan: &Path, extra: &[(&str, &Path)]) {
        killed_in("child_that_builds", step, &[&[(PLAN, plan)], extra].concat());
    }

    fn killed_in(child_test: &str, step: &str, environment: &[(&str, &Path)]) {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", &format!("fault_points::tests::{child_test}")]).env(END_AT, step);
        let output = child.envs(environment.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.status.code().is_none(), "{step} was not reached: {said}");
    }

    /// Opens and verifies the snapshot, as a server and `hornbook verify` do.
    fn name_of_whole(snapshot: &Path) -> String {
        Snapshot::open(snapshot).unwrap();
        Snapshot::verify(snapshot, |_| ()).unwrap();
        Manifest::open(snapshot).unwrap().snapshot
    }

    fn shown(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_build_killed_at_any_step_of_replacing_leaves_a_whole_snapshot_and_the_next_build_works() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (plan_of(&dir.path().join("1"), "Old law."), plan_of(&dir.path().join("2"), "New law."));
        for (step, refused) in [("sealed", ""), ("moved", ""), ("removed", ""), ("replaced", "exchange")] {
            let folder = dir.path().join(format!("{step}-{refused}"));
            let out = folder.join("snap");
            let before = built(&old, Destination::Folder(out.clone())).manifest.snapshot;
            killed(step, &new, &[(OUT, &out), (REFUSE, Path::new(refused))]);
            let left = name_of_whole(&out);
            assert_eq!(left == before, step == "sealed", "{step}");
            let after = built(&new, Destination::Folder(out.clone()));
            assert_eq!(after.unchanged, step != "sealed", "{step}");
            assert_eq!(name_of_whole(&out), after.manifest.snapshot);
            assert_ne!(after.manifest.snapshot, before);
            assert_eq!(shown(&folder), ["snap"], "{step}");
        }
    }

    #[test]
    fn without_exchange_the_next_build_restores_the_old_snapshot() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (plan_of(&dir.path().join("1"), "Old law."), plan_of(&dir.path().join("2"), "New law."));
        let folder = dir.path().join("out");
        let out = folder.join("snap");
        let before = built(&old, Destination::Folder(out.clone())).manifest.snapshot;
        killed("put aside", &new, &[(OUT, &out), (REFUSE, Path::new("exchange"))]);
        assert!(!out.exists());
        assert!(built(&old, Destination::Folder(out.clone())).unchanged, "the old one is back");
        assert_eq!(name_of_whole(&out), before);
        assert_eq!(shown(&folder), ["snap"]);
        killed("put aside", &new, &[(OUT, &out), (REFUSE, Path::new("exchange"))]);
        assert!(!built(&new, Destination::Folder(out.clone())).unchanged);
        assert_ne!(name_of_whole(&out), before);
        assert_eq!(shown(&folder), ["snap"]);
    }

    /// Copies the files of a snapshot that are not there yet.
    fn copy_missing(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let copied = to.join(entry.file_name());
            if entry.path().is_dir() {
                fs::create_dir_all(&copied).unwrap();
                copy_missing(&entry.path(), &copied);
            } else if !copied.exists() {
                fs::copy(entry.path(), copied).unwrap();
            }
        }
    }

    fn received(from: &Path, data: &Path) -> (PathBuf, bool) {
        let id = Manifest::open(from).unwrap().snapshot;
        let fill = |folder: &Path| -> Result<(), DataDirectoryError> {
            copy_missing(from, folder);
            Ok(())
        };
        DataDirectory::new(data).receive(&id, fill, |_| ()).unwrap()
    }

    /// The test below runs this in a child process. On its own it does nothing.
    #[test]
    fn child_that_receives() {
        let (Some(from), Some(data)) = (std::env::var_os(FROM), std::env::var_os(DATA)) else { return };
        received(Path::new(&from), Path::new(&data));
    }

    #[test]
    fn a_snapshot_from_elsewhere_killed_at_any_step_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan_of(&dir.path().join("1"), "Law.");
        let from = dir.path().join("snap");
        built(&plan, Destination::Folder(from.clone()));
        for step in ["filled", "sealed", "moved"] {
            let data = dir.path().join(step);
            killed_in("child_that_receives", step, &[(FROM, &from), (DATA, &data)]);
            assert_eq!(DataDirectory::new(&data).list().unwrap().len(), usize::from(step == "moved"), "{step}");
            let (path, is_new) = received(&from, &data);
            assert_eq!(is_new, step != "moved", "{step}");
            name_of_whole(&path);
            assert_eq!(shown(&data.join("snapshots")).len(), 1, "{step}");
            assert_eq!(DataDirectory::new(&data).current(), None, "it is not in use yet");
        }
    }

    #[test]
    fn one_snapshot_is_received_once_at_a_time_and_what_earlier_ones_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDirectory::new(dir.path());
        let fails = |id: &str, inner: &dyn Fn()| {
            let fill = |folder: &Path| -> Result<(), DataDirectoryError> {
                fs::write(folder.join("a"), "part").unwrap();
                inner();
                Err(DataDirectoryError::NoEarlierSnapshot { current: None })
            };
            data.receive(id, fill, |_| ()).unwrap_err().to_string()
        };
        fails("one", &|| assert!(fails("one", &|| ()).contains("is receiving")));
        let left = dir.path().join("snapshots/.one.arriving/a");
        assert!(left.exists(), "a later attempt goes on from there");
        fails("two", &|| assert!(!left.exists()));
        assert_eq!(shown(&dir.path().join("snapshots")), [".two.arriving"]);
        assert!(data.list().unwrap().is_empty());
    }

    #[test]
    fn a_build_killed_at_any_step_of_a_data_directory_leaves_a_current_snapshot() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (plan_of(&dir.path().join("1"), "Old law."), plan_of(&dir.path().join("2"), "New law."));
        for step in ["sealed", "moved", "removed", "link made", "link set"] {
            let data = dir.path().join(step);
            let before = built(&old, Destination::DataDirectory(data.clone())).manifest.snapshot;
            killed(step, &new, &[(DATA, &data)]);
            let left = name_of_whole(&data.join("current"));
            assert_eq!(left == before, step != "link set", "{step}");
            let after = built(&new, Destination::DataDirectory(data.clone()));
            assert_eq!(name_of_whole(&data.join("current")), after.manifest.snapshot, "{step}");
            assert_ne!(after.manifest.snapshot, before);
            assert_eq!(shown(&data.join("snapshots")).len(), 2, "{step}");
            assert!(!data.join(".current.fresh").exists(), "{step}");
        }
    }
}
