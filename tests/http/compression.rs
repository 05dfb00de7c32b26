//! Compressed responses: chosen by `Accept-Encoding`, equal to the plain ones, and with their own tags.

use std::io::Read;

use crate::sample::ENGINE;
use crate::test_server::{TestResponse, TestServer, generous_tariff};

pub(crate) fn decompressed(answered: &TestResponse) -> Vec<u8> {
    let packed = answered.body.as_slice();
    let mut out = Vec::new();
    match answered.header("content-encoding") {
        "" => out.extend_from_slice(packed),
        "gzip" => drop(flate2::read::GzDecoder::new(packed).read_to_end(&mut out).unwrap()),
        "zstd" => out = zstd::decode_all(packed).unwrap(),
        "br" => brotli::BrotliDecompress(&mut &*packed, &mut out).unwrap(),
        other => panic!("the coding {other}"),
    }
    out
}

struct Client {
    server: TestServer,
    bearer: String,
}

impl Client {
    fn new() -> Self {
        let server = TestServer::start(generous_tariff());
        Self { bearer: format!("Bearer {}", server.create_full_key()), server }
    }

    fn request(&self, method: &str, path: &str, more: &[(&str, &str)]) -> TestResponse {
        let headers = [&[("Authorization", self.bearer.as_str())], more].concat();
        self.server.request(method, path, &headers)
    }

    fn get(&self, path: &str, coding: &str) -> TestResponse {
        self.request("GET", path, &[("Accept-Encoding", coding)])
    }
}

/// A node with a large response.
fn long_node() -> String {
    let snapshot = ENGINE.snapshot();
    let texts = (0..snapshot.outline.len()).filter_map(|node| {
        let node = hornbook_corpus::ids::NodeOrdinal(node);
        let length = snapshot.texts.get(snapshot.nodes.get(node).ok()?.wording(0).text).ok()?.len();
        Some((length, node))
    });
    let (_, longest) = texts.max().unwrap();
    format!("/api/v1/node/{}", snapshot.outline.id(longest).unwrap())
}

#[test]
fn large_responses_use_the_preferred_encoding() {
    let client = Client::new();
    for path in [&*long_node(), "/api/v1/coverage", "/api/v1/openapi.json", "/llms.txt"] {
        let plain = client.request("GET", path, &[]);
        assert_eq!((plain.status, plain.header("content-encoding")), (200, ""), "{path}");
        assert!(plain.body.len() > 2048 && plain.header("vary").contains("Accept-Encoding"), "{path}: {plain:?}");
        for (accepted, expected) in [
            ("gzip", "gzip"),
            ("br", "br"),
            ("zstd", "zstd"),
            ("gzip, deflate, br, zstd", "zstd"),
            ("zstd;q=0.1, br;q=0.2, gzip;q=0.9", "gzip"),
            ("identity, gzip;q=0.9", ""),
            ("deflate", ""),
        ] {
            let packed = client.get(path, accepted);
            assert_eq!((packed.status, packed.header("content-encoding")), (200, expected), "{path} {accepted}");
            assert_eq!(decompressed(&packed), plain.body, "{path} {accepted}");
            assert_eq!(packed.header_number("content-length"), packed.body.len() as u64);
            assert_eq!(packed.header("vary"), plain.header("vary"));
            if !expected.is_empty() {
                assert!(packed.body.len() * 4 < plain.body.len() * 3, "{path}: {} bytes", packed.body.len());
            }
        }
    }
}

#[test]
fn compressed_and_plain_responses_have_different_etags() {
    let client = Client::new();
    for path in [&*long_node(), "/llms.txt", "/api/v1/gis/XA-PORT-ARDEN"] {
        let strong = client.request("GET", path, &[]).header("etag").to_owned();
        assert!(strong.starts_with('"') && strong.ends_with('"'), "{path}: {strong}");
        let weak = client.get(path, "gzip").header("etag").to_owned();
        assert_eq!(weak, format!("W/{strong}"), "{path}");
        for (held, coding) in [(&strong, "identity"), (&weak, "gzip"), (&weak, "identity"), (&strong, "gzip")] {
            let known = client.request("GET", path, &[("If-None-Match", held), ("Accept-Encoding", coding)]);
            assert_eq!((known.status, known.body.len(), known.header("etag")), (304, 0, held.as_str()), "{path}");
            assert_eq!(known.header("x-credits-cost"), "", "nothing was charged");
            assert!(known.header("vary").contains("Accept-Encoding"));
        }
    }
}

#[test]
fn head_has_the_headers_of_the_compressed_get() {
    let client = Client::new();
    for path in [&*long_node(), "/llms.txt", "/api/v1/gis/XA-PORT-ARDEN"] {
        for coding in ["identity", "gzip"] {
            let get = client.get(path, coding);
            let head = client.request("HEAD", path, &[("Accept-Encoding", coding)]);
            assert_eq!((head.status, head.body.len()), (200, 0));
            for name in ["content-length", "content-encoding", "content-type", "etag", "vary"] {
                assert_eq!(head.header(name), get.header(name), "{path} {coding} {name}");
            }
        }
    }
}

#[test]
fn small_responses_and_errors_are_not_compressed() {
    let client = Client::new();
    assert_eq!(client.get("/api/v1/search?q=zzzz&mode=keyword", "gzip").header("content-encoding"), "");
    assert_eq!(client.get("/api/v1/search?q=", "gzip").header("content-encoding"), "");
    let packed = client.get("/api/v1/search?q=zzzz&mode=keyword", "gzip, identity;q=0");
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(String::from_utf8(decompressed(&packed)).unwrap().contains("\"results\""));
}

#[test]
fn zoning_layers_are_not_recompressed() {
    let client = Client::new();
    let path = "/api/v1/gis/XA-PORT-ARDEN";
    for (accepted, expected) in
        [("br", ""), ("br, gzip;q=0.1", "gzip"), ("zstd;q=0.5, gzip", "gzip"), ("gzip, zstd", "zstd")]
    {
        let answered = client.get(path, accepted);
        assert_eq!(answered.header("content-encoding"), expected, "{accepted}");
        let layer = ENGINE.snapshot().zoning.layer(&"XA-PORT-ARDEN".parse().unwrap()).unwrap();
        let stored = match expected {
            "gzip" => layer.body(hornbook_corpus::zoning::catalogue::StoredEncoding::Gzip),
            "zstd" => layer.body(hornbook_corpus::zoning::catalogue::StoredEncoding::Zstd),
            _ => layer.body(hornbook_corpus::zoning::catalogue::StoredEncoding::Identity),
        };
        assert_eq!(answered.body, stored, "{accepted}");
    }
}

#[test]
fn the_format_parameter_overrides_accept() {
    let client = Client::new();
    let path = long_node();
    for (accept, query, expected) in [
        ("text/plain", "", "text/plain; charset=utf-8"),
        ("text/plain", "?format=json", "application/json"),
        ("application/json", "?format=md", "text/markdown; charset=utf-8"),
        ("image/png", "?format=txt", "text/plain; charset=utf-8"),
    ] {
        let answered = client.request("GET", &format!("{path}{query}"), &[("Accept", accept)]);
        assert_eq!((answered.status, answered.header("content-type")), (200, expected), "{accept} {query}");
    }
    client.request("GET", &path, &[("Accept", "image/png")]).expect_error(406, "not_acceptable");
    client.request("GET", &format!("{path}?format=pdf"), &[]).expect_error(422, "validation_error");
}
