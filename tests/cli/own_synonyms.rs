//! Synonyms of the operator's own: tried on a query, then served, and read again by a reload.

use std::fs;
use std::path::Path;

use crate::serving::QuickStartServer;
use crate::{hornbook, stderr, stdout};

/// No law of the sample has these words, and nothing in the program knows them.
const QUERY: &str = "zorbling kwibs";

const RETURN_OF_DEPOSIT: &str = "Arden Rev. Stat. § 24-2-201";

/// What the sample's first hit for the query is, over HTTP.
fn first_hit(server: &QuickStartServer) -> String {
    let answer = server.get("/api/v1/search?q=zorbling+kwibs");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let found: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    found["results"][0]["citation"].as_str().unwrap_or_default().to_owned()
}

fn search(data: &Path, synonyms: &Path) -> std::process::Output {
    let mut command = hornbook();
    command.arg("--data").arg(data).args(["search", QUERY, "--limit", "1", "--explain", "--synonyms"]).arg(synonyms);
    command.output().unwrap()
}

#[test]
fn own_synonyms_are_tried_served_and_read_again() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("synonyms.txt");
    fs::write(&file, "# ours\nzorbling kwibs > return of the security deposit\tour newsletter\n").unwrap();
    let setting = format!("search.synonyms={}", file.display());
    let mut server = QuickStartServer::with(data.path(), &[&setting]);
    assert_eq!(first_hit(&server), RETURN_OF_DEPOSIT);

    let tried = search(data.path(), &file);
    let text = stdout(&tried);
    assert!(text.contains(RETURN_OF_DEPOSIT) && text.contains("synonyms: kwib: return"), "{text}{}", stderr(&tried));

    // Without a file to try, the command searches as the server does.
    let mut served = hornbook();
    served.arg("--data").arg(data.path()).args(["--set", &setting, "search", QUERY, "--limit", "1"]);
    let served = served.output().unwrap();
    assert!(stdout(&served).contains(RETURN_OF_DEPOSIT), "{served:?}");

    // What was changed counts after a reload, not before; a file with faults changes nothing.
    let reload = || hornbook().arg("--data").arg(data.path()).args(["reload", "--json"]).output().unwrap();
    fs::write(&file, "zorbling > bees\nkwibs >\n").unwrap();
    let refused = search(data.path(), &file);
    assert!(!refused.status.success() && stderr(&refused).contains("synonyms.txt:2: a word is missing"), "{refused:?}");
    let refused = reload();
    assert!(!refused.status.success(), "{refused:?}");
    assert!(stderr(&refused).contains("synonyms.txt:2: a word is missing"), "{}", stderr(&refused));
    assert_eq!(first_hit(&server), RETURN_OF_DEPOSIT);

    fs::write(&file, "zorbling kwibs; zorbs > keeping of bees\n").unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&reload().stdout).unwrap();
    assert_eq!((answer["ownSynonyms"].as_u64(), answer["before"] == answer["snapshot"]), (Some(1), true), "{answer}");
    assert_ne!(first_hit(&server), RETURN_OF_DEPOSIT);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_does_not_start_with_synonyms_that_it_cannot_read() {
    let data = tempfile::tempdir().unwrap();
    let start = |file: &Path| {
        let mut command = hornbook();
        command.arg("--data").arg(data.path()).args(["--set", "server.listen=127.0.0.1:0", "--set"]);
        command.arg(format!("search.synonyms={}", file.display())).output().unwrap()
    };
    let absent = start(&data.path().join("absent.txt"));
    assert!(!absent.status.success() && stderr(&absent).contains("cannot read the synonyms in "), "{absent:?}");
    let file = data.path().join("bad.txt");
    fs::write(&file, "one\ntwo > three > four\n").unwrap();
    let faulty = start(&file);
    let errors = stderr(&faulty);
    assert!(!faulty.status.success() && errors.contains("bad.txt:1: ") && errors.contains("bad.txt:2: "), "{errors}");
}
