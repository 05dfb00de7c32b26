//! What optional features leave out.

use std::process::Command;

/// The packages of the program with these arguments of cargo.
fn packages(arguments: &[&str]) -> String {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(env!("CARGO_MANIFEST_DIR"));
    tree.args(["tree", "--offline", "--package", "hornbook", "--edges", "normal", "--prefix", "none"]);
    let listed = tree.args(arguments).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).unwrap()
}

#[test]
fn a_program_without_a_feature_has_none_of_its_packages() {
    for (without, others, name) in [("postgres", "encoder", "postgres"), ("encoder", "postgres", "candle")] {
        let is_of_feature = |line: &&str| line.split(' ').next().is_some_and(|package| package.contains(name));
        let whole = packages(&[]);
        assert!(whole.lines().any(|line| is_of_feature(&line)), "nothing of {name} is in the whole program");
        let rest = packages(&["--no-default-features", "--features", others]);
        let left: Vec<&str> = rest.lines().filter(is_of_feature).collect();
        assert!(left.is_empty(), "without the feature {without}, there are {left:?}");
    }
}
