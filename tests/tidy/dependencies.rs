//! The licences and sources of dependencies are those that `deny.toml` allows. No network is needed.
//! Only the packages for this kind of machine are on it, so `make deny` checks the licences of the others.

use std::process::Command;

use serde_json::Value;

use crate::advisories::LOCK_FILES;
use crate::source::text_of;

fn deny() -> toml::Table {
    text_of("deny.toml").parse().unwrap()
}

/// The packages of the program for this kind of machine and of its tests.
fn packages() -> Vec<Value> {
    let mut metadata = Command::new(env!("CARGO"));
    metadata.current_dir(env!("CARGO_MANIFEST_DIR"));
    metadata.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    let listed = metadata.args(["--filter-platform", env!("BUILD_TARGET")]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let mut listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let Value::Array(packages) = listed["packages"].take() else { panic!("cargo lists no packages") };
    assert!(packages.len() > 300, "cargo lists only {} packages", packages.len());
    packages
}

/// Whether a licence expression can be fulfilled with allowed licences only. `/` is an old form of OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let result = any_of(&mut rest, allowed);
    assert!(rest.is_empty(), "the licence '{expression}' cannot be read");
    result
}

fn any_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut result = all_of(rest, allowed);
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        result |= all_of(rest, allowed);
    }
    result
}

fn all_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut result = one(rest, allowed);
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        result &= one(rest, allowed);
    }
    result
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> bool {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let result = any_of(rest, allowed);
            assert_eq!(rest.first(), Some(&")"), "a licence has an open parenthesis");
            *rest = &rest[1..];
            result
        }
        [licence, "WITH", exception, tail @ ..] => {
            *rest = tail;
            allowed.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, tail @ ..] => {
            *rest = tail;
            allowed.contains(licence)
        }
        [] => panic!("a licence ends too early"),
    }
}

/// What of the packages has no allowed licence.
fn licence_faults(packages: &[Value], allowed: &[&str]) -> Vec<String> {
    let fault = |package: &Value| match package["license"].as_str() {
        Some(licence) if is_allowed(licence, allowed) => None,
        Some(licence) => Some(format!("{} has the licence {licence}, which deny.toml does not allow", package["id"])),
        None => Some(format!("{} names no licence", package["id"])),
    };
    packages.iter().filter_map(fault).collect()
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let deny = deny();
    let allowed = deny["licenses"]["allow"].as_array().unwrap();
    let allowed: Vec<&str> = allowed.iter().map(|licence| licence.as_str().unwrap()).collect();
    let faults = licence_faults(&packages(), &allowed);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let judged = |expression| is_allowed(expression, &["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
    let fine = ["MIT", "MIT/GPL-3.0", "GPL-3.0 / MIT", "(GPL-3.0 OR MIT) AND ISC", "Apache-2.0 WITH LLVM-exception"];
    let wrong = ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR MIT) AND BSD-2-Clause", "Apache-2.0", "MIT WITH x"];
    assert_eq!((fine.map(judged), wrong.map(judged)), ([true; 5], [false; 5]));
    // AND binds more tightly than OR.
    assert!(judged("MIT OR GPL-3.0 AND ISC") && !judged("(MIT OR ISC) AND GPL-3.0"));
    assert_eq!(licence_faults(&[serde_json::json!({ "id": "x", "license": null })], &["MIT"]).len(), 1);
}

/// What of a lock file comes neither from this repository nor from the public registry.
fn foreign_packages(lock: &str) -> Vec<String> {
    let lock: toml::Table = lock.parse().unwrap();
    let is_foreign = |package: &&toml::Value| match package.get("source").and_then(toml::Value::as_str) {
        Some("registry+https://github.com/rust-lang/crates.io-index") => package.get("checksum").is_none(),
        Some(_) => true,
        None => !package["name"].as_str().unwrap().starts_with("hornbook"),
    };
    lock["package"].as_array().unwrap().iter().filter(is_foreign).map(|package| package["name"].to_string()).collect()
}

#[test]
fn every_dependency_comes_from_the_public_registry() {
    let deny = deny();
    for rule in ["unknown-registry", "unknown-git"] {
        assert_eq!(deny["sources"][rule].as_str(), Some("deny"));
    }
    for file in LOCK_FILES {
        assert_eq!(foreign_packages(&text_of(file)), [""; 0], "{file}");
    }
    let package = |source: &str| foreign_packages(&format!("[[package]]\nname = \"x\"\n{source}")).len();
    assert_eq!(package("source = \"git+https://example.org/x#1\""), 1);
    assert_eq!(package("source = \"registry+https://example.org/index\"\nchecksum = \"1\""), 1);
    assert_eq!(package(""), 1, "a package without a source is not ours");
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    assert_eq!((package(public), package(&format!("{public}\nchecksum = \"1\""))), (1, 0));
}

#[test]
fn no_dependency_takes_any_version() {
    assert_eq!(deny()["bans"]["wildcards"].as_str(), Some("deny"));
    for package in packages().iter().filter(|package| package["source"].is_null()) {
        let wanted = package["dependencies"].as_array().unwrap();
        let any = wanted.iter().find(|wanted| wanted["req"] == "*" && wanted["path"].is_null());
        assert!(any.is_none(), "{} takes any version of {}", package["name"], any.unwrap()["name"]);
    }
}
