//! No package of a lock file has a known vulnerability, and none is older than the minimum versions
//! of `deny.toml`. No network is needed: the known vulnerabilities are in `advisories.tsv`, as of
//! the day in its second line. `make advisories` fetches newer ones.

use semver::{Version, VersionReq};

use crate::source::text_of;

/// The lock files of the program and of the fuzz targets.
pub(crate) const LOCK_FILES: &[&str] = &["Cargo.lock", "fuzz/Cargo.lock"];

/// The packages of a lock file with their versions.
fn locked_packages(file: &str) -> Vec<(String, Version)> {
    let lock: toml::Table = text_of(file).parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let text = |package: &toml::Value, name: &str| package[name].as_str().unwrap().to_owned();
    packages.iter().map(|package| (text(package, "name"), text(package, "version").parse().unwrap())).collect()
}

fn is_among(version: &Version, ranges: &str) -> bool {
    let fits = |range: &str| VersionReq::parse(range).unwrap_or_else(|e| panic!("'{range}': {e}")).matches(version);
    ranges.split(" | ").filter(|range| *range != "-").any(fits)
}

fn known_vulnerabilities(locked: &[(String, Version)], advisories: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for row in advisories.lines().filter(|line| !line.starts_with('#')) {
        let [package, id, mended, never] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("not a row: {row}") };
        for (name, version) in locked.iter().filter(|(name, _)| name == package) {
            if !is_among(version, mended) && !is_among(version, never) {
                faults.push(format!("{name} {version} has the vulnerability {id}; fixed in {mended}"));
            }
        }
    }
    faults
}

#[test]
fn no_dependency_has_a_known_vulnerability() {
    let advisories = text_of("tests/tidy/advisories.tsv");
    assert!(advisories.lines().count() > 900 && advisories.contains("as it was on 20"), "the list is incomplete");
    for file in LOCK_FILES {
        let locked = locked_packages(file);
        assert!(locked.len() > 300, "{file} has only {} packages", locked.len());
        let found = known_vulnerabilities(&locked, &advisories);
        assert!(found.is_empty(), "{file}: {}", found.join("\n"));
    }
    let version = |text: &str| vec![("one".to_owned(), text.parse().unwrap())];
    let row = "one\tX-1\t^0.4.5 | >= 1.2.0\t< 0.3.0";
    let faulty =
        ["0.2.0", "0.4.4", "0.4.5", "1.1.9", "1.2.0"].map(|text| known_vulnerabilities(&version(text), row).len());
    assert_eq!(faulty, [0, 1, 0, 1, 0]);
}

#[test]
fn no_dependency_is_older_than_its_minimum_version() {
    let deny: toml::Table = text_of("deny.toml").parse().unwrap();
    let mut floors = 0;
    for ban in deny["bans"]["deny"].as_array().unwrap() {
        let banned = ban["crate"].as_str().unwrap();
        let (name, range) = banned.split_once(':').unwrap_or((banned, "*"));
        let range = VersionReq::parse(range).unwrap();
        floors += 1;
        for file in LOCK_FILES {
            for (_, version) in locked_packages(file).iter().filter(|(known, _)| known == name) {
                assert!(!range.matches(version), "{file}: {name} {version} is among {banned}, which deny.toml bans");
            }
        }
    }
    assert!(floors >= 5, "only {floors} minimum versions");
}
