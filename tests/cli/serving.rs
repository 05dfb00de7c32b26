//! The program as a server: the quick start, its key, and the end by signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::hornbook;

/// A started server; killed when dropped, so that a failed test leaves none behind.
struct Started {
    child: Child,
    address: String,
    key: String,
}

impl Started {
    fn quick(data: &Path) -> Self {
        let mut child = hornbook()
            .arg("--data")
            .arg(data)
            .args(["--set", "server.listen=127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut told =
            |beginning: &str| lines.find_map(|line| line.strip_prefix(beginning).map(str::to_owned)).unwrap();
        let address = told("listening on http://");
        let key = told("demo key: ").split(' ').next().unwrap().to_owned();
        Self { child, address, key }
    }

    fn get(&self, path: &str) -> String {
        let Self { address, key, .. } = self;
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn stop(&mut self) -> Option<i32> {
        let status = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_quick_start_serves_a_sample_with_a_demo_key_and_reuses_both() {
    let data = tempfile::tempdir().unwrap();
    let mut first = Started::quick(data.path());
    let found = first.get("/api/v1/search?q=return+of+the+security+deposit");
    assert!(found.starts_with("HTTP/1.1 200 OK") && found.contains("Arden Rev. Stat. § 24-2-201"), "{found}");
    assert!(found.contains("x-research-allotment-remaining: 999\r\n"), "{found}");
    assert_eq!(first.stop(), Some(0));

    let kept = data.path().join("demo.key");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let snapshot = data.path().join("current").canonicalize().unwrap();
    let mut second = Started::quick(data.path());
    assert_eq!(second.key, first.key);
    assert_eq!(data.path().join("current").canonicalize().unwrap(), snapshot);
    let me = second.get("/api/v1/me");
    assert!(me.contains("\"researchAllotmentRemaining\":998"), "what was spent stays spent: {me}");
    assert_eq!(second.stop(), Some(0));
}

#[test]
fn serving_without_a_snapshot_says_how_to_build_one() {
    let data = tempfile::tempdir().unwrap();
    let output = hornbook().arg("--data").arg(data.path()).arg("serve").output().unwrap();
    assert!(!output.status.success());
    assert!(crate::stderr(&output).contains("hornbook build"), "{}", crate::stderr(&output));
}
