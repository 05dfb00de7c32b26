//! Documents and probes: public, and consistent with the table of operations.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hornbook::api::documents::markdown::{self, README_BEGIN, README_END};
use hornbook::api::documents::{ApiDocument, DocumentContext};
use hornbook::api::examples::Examples;
use hornbook::api::headers::HEADERS;
use hornbook::api::operation::{Method, Operation};
use hornbook::api::subject::Subject;
use hornbook::web::docs;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::tier::Tariff;
use serde_json::Value;

use crate::operations::routed_operations;
use crate::sample::ENGINE;
use crate::test_server::{TestResponse, TestServer, generous_tariff};

#[test]
fn probes_and_documents_need_no_key() {
    let server = TestServer::start(generous_tariff());
    assert_eq!(server.get_with("/healthz", &[]).json()["status"], "live");
    assert_eq!(server.get_with("/readyz", &[]).json()["status"], "ready");
    let discovery = server.get_with("/api/v1", &[]);
    assert_eq!(discovery.body, server.get_with("/.well-known/hornbook.json", &[]).body);
    let discovery = discovery.json();
    assert_eq!(discovery["version"], "v1");
    assert_eq!(discovery["openapi"], "https://law.example/api/v1/openapi.json");
    assert_eq!(discovery["endpoints"].as_array().unwrap().len(), routed_operations().count());
    let gis = discovery["endpoints"].as_array().unwrap().iter().find(|endpoint| endpoint["name"] == "gis").unwrap();
    assert_eq!((&gis["cost"], &gis["scopesAnyOf"][0]), (&5.into(), &"gis".into()));
}

#[test]
fn the_openapi_document_describes_every_operation_and_refers_to_nothing_missing() {
    let server = TestServer::start(generous_tariff());
    let answered = server.get_with("/api/v1/openapi.json", &[]);
    let document = answered.json();
    assert_eq!((&document["openapi"], &document["info"]["version"]), (&"3.1.0".into(), &"1.0.0".into()));
    for operation in routed_operations() {
        let route = operation.route.unwrap();
        let described = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        assert_eq!(described["operationId"], operation.name);
        let tags = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]);
        assert!(tags.into_iter().any(|tag| *tag == described["tags"][0]), "{} has no known tag", operation.name);
        // maxCost, dryRun and Idempotency-Key; X-Corpus-Snapshot and snapshot; If-None-Match.
        let in_common = 3 * usize::from(operation.metering().is_some())
            + 2 * usize::from(operation.reads_law())
            + usize::from(operation.has_version);
        assert_eq!(described["parameters"].as_array().unwrap().len(), operation.parameters.len() + in_common);
        assert_eq!(described["responses"].get("304").is_some(), operation.has_version, "{}", operation.name);
        for error in operation.all_errors() {
            assert!(described["responses"][error.status().to_string()].is_object(), "{} {error:?}", operation.name);
        }
    }
    let text = answered.text();
    for reference in text.split("\"#/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(&format!("/{reference}")).is_some(), "{reference} is missing");
    }
}

/// Examples from the sample corpus.
static EXAMPLES: LazyLock<Examples> = LazyLock::new(|| Examples::of(&ENGINE));

/// The setting of the quick start, so that the examples in the copies work.
fn quick_start_setting() -> DocumentContext<'static> {
    DocumentContext {
        base_url: "http://127.0.0.1:8080",
        snapshot: "id-of-the-snapshot",
        examples: &EXAMPLES,
        tariff: &Tariff::CONTRACT,
    }
}

/// The pages of the documentation for people, by the names of their copies.
fn docs_pages() -> Vec<(String, String)> {
    let file_name = |subject: Option<Subject>| format!("{}.html", subject.map_or("index", Subject::name));
    docs::pages(&quick_start_setting()).into_iter().map(|page| (file_name(page.subject), page.html)).collect()
}

/// Compares the copies. With `HORNBOOK_RENEW_DOCUMENTS` it writes them first.
#[test]
fn rendered_documents_match_the_checked_in_copies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut copies: Vec<(PathBuf, String)> = ApiDocument::ALL
        .map(|document| {
            (root.join("docs/rendered").join(document.file_name()), document.render(&quick_start_setting()))
        })
        .into();
    for (name, html) in docs_pages() {
        copies.push((root.join("docs/rendered/docs").join(name), html.replace("><", ">\n<") + "\n"));
    }
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (before, behind) = readme.split_once(README_BEGIN).expect("the mark where the table begins");
    let (_, behind) = behind.split_once(README_END).expect("the mark where the table ends");
    let table = markdown::operations();
    copies.push((root.join("README.md"), format!("{before}{README_BEGIN}{table}{README_END}{behind}")));
    for (path, rendered) in copies {
        if std::env::var_os("HORNBOOK_RENEW_DOCUMENTS").is_some() {
            std::fs::write(&path, &rendered).unwrap();
        }
        let copy = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = copy.lines().zip(rendered.lines()).position(|(copy, rendered)| copy != rendered);
        let line = differs.unwrap_or_else(|| copy.lines().count().min(rendered.lines().count())) + 1;
        assert!(copy == rendered, "{} differs from line {line} on; 'make documents' renews it", path.display());
    }
}

#[test]
fn served_documents_match_the_rendered_ones() {
    let server = TestServer::start(generous_tariff());
    let tariff = generous_tariff();
    let snapshot = &ENGINE.snapshot().manifest.snapshot;
    let setting = DocumentContext { base_url: "https://law.example", snapshot, examples: &EXAMPLES, tariff: &tariff };
    for document in ApiDocument::ALL {
        for path in document.paths() {
            let answered = server.get_with(path, &[]);
            assert_eq!((answered.status, answered.text()), (200, document.render(&setting)), "{path}");
            assert_eq!(answered.header("content-type"), document.media_type());
            assert_eq!(answered.header("cache-control"), "public, max-age=300");
            let tag = answered.header("etag").to_owned();
            let held = server.get_with(path, &[("If-None-Match", &tag)]);
            assert_eq!((held.status, held.body.len(), held.header("etag")), (304, 0, tag.as_str()));
        }
    }
}

/// Terms that only readers of the source understand, and phrases that are hard to read.
const FORBIDDEN_PHRASES: &[&str] = &[
    "cargo",
    "Rust",
    "[`",
    "`]",
    "::",
    " Option<",
    " Vec<",
    "&str",
    "uint",
    "usize",
    "u32",
    "u64",
    "_MAX",
    "schemars",
    "dead_code",
    "string or string or",
    "is to be had",
    "stands more than once",
    "parted by",
    "whoever",
    "Whoever",
    " tells ",
    "is held against",
];

#[test]
fn documents_contain_no_source_terms() {
    let rendered =
        ApiDocument::ALL.map(|document| (document.file_name().to_owned(), document.render(&quick_start_setting())));
    for (name, text) in rendered.into_iter().chain(docs_pages()) {
        for sign in FORBIDDEN_PHRASES {
            let at = text.find(sign).map(|at| &text[text.floor_char_boundary(at.saturating_sub(60))..at + sign.len()]);
            assert_eq!(at, None, "{name} has {sign:?}");
        }
    }
}

/// Collects values without a type. Client generators have no type for an empty schema or `true`.
fn collect_untyped(schema: &Value, place: &str, found: &mut Vec<String>) {
    let typed = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    if !typed.iter().any(|keyword| schema.get(keyword).is_some()) {
        found.push(place.to_owned());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        collect_untyped(field, &format!("{place}.{name}"), found);
    }
    if let Some(items) = schema.get("items") {
        collect_untyped(items, &format!("{place}[]"), found);
    }
}

#[test]
fn every_value_of_an_answer_has_a_type() {
    let document: Value = serde_json::from_str(&ApiDocument::OpenApi.render(&quick_start_setting())).unwrap();
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        collect_untyped(schema, name, &mut found);
    }
    assert_eq!(found, [""; 0]);
    let result = &document["components"]["schemas"]["SearchResultItem"];
    for name in ["jurisdiction", "codeBody", "codeBodyId"] {
        assert_eq!(result["properties"][name]["type"], "string", "{name}");
        assert!(result["required"].as_array().unwrap().iter().any(|required| required == name), "{name}");
    }
}

/// GET if any operation answers it on this path.
fn method_of(operation: &Operation) -> &'static str {
    let is_its_path =
        |other: &Operation| other.route.map(|route| route.path) == operation.route.map(|route| route.path);
    let is_read = |other: &Operation| other.route.is_some_and(|route| route.method == Method::Get);
    if routed_operations().any(|other| is_its_path(other) && is_read(other)) { "get" } else { "post" }
}

fn ask(server: &TestServer, operation: &Operation, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    match operation.body.filter(|_| method_of(operation) == "post") {
        None => server.get_with(path, headers),
        Some(body) => crate::formation::post(server, path, headers, body.example),
    }
}

#[test]
fn response_headers_match_the_openapi_document() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let budget = Budget { total: Some(1_000), ..Budget::default() };
    let spent = Budget { total: Some(0), ..Budget::default() };
    let document = server.get_with("/api/v1/openapi.json", &[]).json();
    let id = server.accounts.keys(None)[0].record.id;
    let of_http =
        ["cache-control", "connection", "content-length", "content-type", "date", "vary", "x-content-type-options"];
    let authorization = format!("Bearer {key}");
    let with_key = [("Authorization", authorization.as_str())];
    let mut seen = HashSet::new();
    for operation in routed_operations() {
        let path = crate::operations::valid_path(&server, operation);
        server.accounts.set_key_budget(id, budget, &server.test_act()).unwrap();
        let paid = ask(&server, operation, &path, &with_key);
        let retry = [("Authorization", format!("Bearer {key}")), ("Idempotency-Key", operation.name.to_owned())];
        let retry: Vec<(&str, &str)> = retry.iter().map(|(name, value)| (*name, value.as_str())).collect();
        ask(&server, operation, &path, &retry);
        let known = [("Authorization", format!("Bearer {key}")), ("If-None-Match", paid.header("etag").to_owned())];
        let known: Vec<(&str, &str)> = known.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let unknown = format!("{path}{}x=1", if path.contains('?') { '&' } else { '?' });
        let mut answers = vec![ask(&server, operation, &path, &retry), ask(&server, operation, &unknown, &with_key)];
        let price = format!("{path}{}dryRun=true", if path.contains('?') { '&' } else { '?' });
        let is_metered = operation.metering().is_some();
        answers.extend(is_metered.then(|| ask(&server, operation, &price, &with_key)));
        server.accounts.set_key_budget(id, spent, &server.test_act()).unwrap();
        answers.extend(is_metered.then(|| ask(&server, operation, &path, &with_key)));
        server.accounts.set_key_budget(id, budget, &server.test_act()).unwrap();
        answers.extend(operation.has_version.then(|| ask(&server, operation, &path, &known)));
        answers.extend(operation.metering().is_some().then(|| ask(&server, operation, &path, &[])));
        answers.push(paid);
        for answered in answers {
            let described = &document["paths"][operation.route.unwrap().path][method_of(operation)]["responses"]
                [answered.status.to_string()];
            assert!(described.is_object(), "{} {}", operation.name, answered.status);
            let described = described["headers"].as_object().unwrap();
            for name in answered.headers.keys().filter(|name| !of_http.contains(&name.as_str())) {
                let is_described = described.keys().any(|described| described.eq_ignore_ascii_case(name));
                assert!(is_described, "{} {}: {name}", operation.name, answered.status);
                seen.insert(name.clone());
            }
        }
        assert_eq!(
            ask(&server, operation, &path, &with_key).headers.contains_key("etag"),
            operation.has_version,
            "{}",
            operation.name
        );
    }
    // These two are on other answers than those of operations here.
    seen.extend(["retry-after", "allow"].map(str::to_owned));
    let unseen: Vec<&str> =
        HEADERS.iter().map(|header| header.name).filter(|name| !seen.contains(&name.to_lowercase())).collect();
    assert_eq!(unseen, [""; 0], "described and never sent");
}

#[test]
fn links_of_the_api_catalog_work() {
    let server = crate::pages::open();
    let answered = server.get_with("/.well-known/api-catalog", &[]);
    assert!(answered.header("content-type").starts_with("application/linkset+json"));
    assert!(answered.header("link").contains("rel=\"api-catalog\""));
    assert!(server.request("HEAD", "/.well-known/api-catalog", &[]).header("link").contains("rel=\"item\""));
    let linkset = answered.json();
    let links = linkset["linkset"].as_array().unwrap();
    assert_eq!(links[0]["item"][0]["href"], links[1]["anchor"]);
    let text = answered.text();
    let addresses: Vec<&str> =
        text.split("https://law.example").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(addresses.len() >= 7, "{addresses:?}");
    for address in addresses {
        assert_eq!(server.get_with(address, &[]).status, 200, "{address}");
    }
}
