//! Project rules as tests: the claims of ARCHITECTURE.md on which module may import which, where
//! `unsafe` may be used, and which files use hyper. A failed rule reports the file and the
//! violation.

mod advisories;
mod dependencies;
mod features;
mod formats;
mod import_cycles;
mod names;
mod reserved_paths;
mod server_json;
mod source;

use std::collections::BTreeSet;
use std::path::Path;

use source::{Source, package, text_of};

/// The sources of each package. Cargo holds what each package may use.
const PACKAGES: &[&str] = &[
    "accounts/src",
    "base/src",
    "check/src",
    "corpus/src",
    "editions/src",
    "index-build/src",
    "pack/src",
    "postgres/src",
    "search/src",
    "src",
];

/// Packages that only some modules of `src` may use.
const GUARDED_PACKAGES: &[(&str, &str)] = &[("accounts", "hornbook_accounts"), ("search", "hornbook_search")];

/// Each top-level module of `src`, and the modules and guarded packages that it may use. A row may only
/// name rows above it, so there are no cycles.
const ALLOWED_IMPORTS: &[(&str, &[&str])] = &[
    ("sigbus", &[]),
    ("single_flight", &[]),
    ("metrics", &[]),
    ("network", &[]),
    ("percent", &[]),
    ("token_buckets", &[]),
    ("web_origin", &[]),
    ("tls_client", &[]),
    ("client", &["network", "tls_client"]),
    ("log", &[]),
    ("formation", &[]),
    ("state_location", &["accounts", "tls_client"]),
    ("admin", &["accounts", "state_location"]),
    ("webhook", &["client", "tls_client"]),
    ("notices", &["accounts", "webhook"]),
    ("usage_reports", &["accounts", "metrics", "webhook"]),
    ("sources", &["client", "tls_client"]),
    ("api", &["accounts", "formation", "single_flight", "network", "percent", "token_buckets", "search"]),
    ("watches", &["accounts", "api", "client", "tls_client", "webhook"]),
    ("mount", &["accounts", "api", "formation", "web_origin"]),
    ("channel_files", &["mount"]),
    ("oauth", &["accounts", "api", "mount", "percent"]),
    ("mcp", &["accounts", "api", "client", "mount", "network", "token_buckets", "web_origin"]),
    (
        "web",
        &[
            "accounts",
            "api",
            "mount",
            "oauth",
            "formation",
            "single_flight",
            "metrics",
            "network",
            "percent",
            "token_buckets",
            "search",
            "web_origin",
        ],
    ),
    ("payments", &["accounts", "api", "client", "mount", "percent", "tls_client"]),
    (
        "http",
        &[
            "accounts",
            "api",
            "mount",
            "log",
            "single_flight",
            "metrics",
            "network",
            "percent",
            "token_buckets",
            "tls_client",
            "web_origin",
        ],
    ),
    ("evaluate", &["search"]),
    ("bench", &["client", "evaluate", "percent", "search", "tls_client"]),
    ("config", &["accounts", "log", "network", "web_origin"]),
    (
        "cli",
        &[
            "accounts",
            "admin",
            "api",
            "bench",
            "channel_files",
            "sigbus",
            "client",
            "config",
            "evaluate",
            "mount",
            "formation",
            "http",
            "log",
            "mcp",
            "metrics",
            "notices",
            "oauth",
            "payments",
            "search",
            "sources",
            "state_location",
            "tls_client",
            "usage_reports",
            "watches",
            "web",
            "webhook",
        ],
    ),
];

/// The files that may contain `unsafe`, in every package.
const UNSAFE_FILES: &[&str] = &[
    "corpus/src/embed/vector.rs",
    "corpus/src/section_file.rs",
    "corpus/src/vectors/arch/avx2.rs",
    "corpus/src/vectors/arch/mod.rs",
    "corpus/src/vectors/arch/neon.rs",
    "src/sigbus.rs",
];

/// The files and folders that may use hyper and its companion crates.
const FILES_USING_HYPER: &[&str] = &["src/http/", "src/client.rs"];

/// Words that mark unfinished work.
const LEFTOVERS: &[&str] = &["todo", "unimplemented", "dbg"];

#[test]
fn modules_import_only_allowed_modules() {
    let mut faults = Vec::new();
    for source in package("src") {
        let Some(room) = source.top_module() else { continue };
        let Some((_, allowed)) = ALLOWED_IMPORTS.iter().find(|(name, _)| *name == room) else {
            faults.push(format!("{}: the module {room} is not in the table of tests/tidy", source.path));
            continue;
        };
        let used = source.imports.iter().filter_map(|import| import.first());
        let foreign: BTreeSet<&str> = used
            .map(String::as_str)
            .filter(|used| *used != room && is_top_module(used) && !allowed.contains(used))
            .collect();
        let packages = GUARDED_PACKAGES.iter().filter(|(_, library)| source.words.contains(*library));
        let closed = packages.map(|(name, _)| *name).filter(|name| !allowed.contains(name));
        for used in foreign.into_iter().chain(closed) {
            faults.push(format!("{}: {room} may not use {used}", source.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn is_top_module(name: &str) -> bool {
    ALLOWED_IMPORTS.iter().any(|(room, _)| *room == name)
}

#[test]
fn the_import_table_has_no_cycles() {
    for (row, (room, allowed)) in ALLOWED_IMPORTS.iter().enumerate() {
        let above = &ALLOWED_IMPORTS[..row];
        let is_package = |used: &&&str| GUARDED_PACKAGES.iter().any(|(name, _)| *name == **used);
        for used in allowed.iter().filter(|used| !is_package(used)) {
            assert!(above.iter().any(|(name, _)| name == used), "{room} uses {used}, which has no row above it");
        }
    }
}

#[test]
fn admin_does_not_import_the_corpus() {
    for source in package("src/admin") {
        assert!(!source.words.contains("hornbook_corpus"), "{} names hornbook_corpus", source.path);
    }
}

/// The ledger waits while a change runs, so records must be found by their keys or an index. A
/// roll-up reads a limited number of the oldest blocks.
#[test]
fn no_change_of_accounts_scans_a_table() {
    let scans = |source: &Source| text_of(&source.path).contains("writing.scan(");
    let scanning: Vec<String> = package("accounts/src")
        .into_iter()
        .filter(|source| source.top_module() != Some("state") && scans(source))
        .map(|source| source.path)
        .collect();
    assert_eq!(scanning, ["accounts/src/ledger/rollup.rs"]);
}

/// The server counts the requests of every interface that does not count them itself. Those that do
/// are listed here, with the call they use.
#[test]
fn every_mount_is_rate_limited() {
    let counts_itself =
        [("src/mcp/http_transport.rs", ".take_request("), ("src/web/zoning/map_parts.rs", ".pace_map_part(")];
    let (mut own, mut ways) = (Vec::new(), 0);
    for source in package("src") {
        let text = text_of(&source.path);
        ways += text.matches(" Mount for ").count();
        if source.path != "src/mount.rs" && text.contains("RateLimitedBy::Own") {
            own.push(source.path);
        }
    }
    assert!(ways > 8, "only {ways} mounts were found");
    assert_eq!(own, counts_itself.map(|(path, _)| path));
    for (path, counting) in counts_itself {
        assert!(text_of(path).contains(counting), "{path} does not call {counting}");
    }
}

#[test]
fn modules_have_no_import_cycles() {
    let circles_of = |root: &'static str| {
        import_cycles::import_cycles(&package(root))
            .into_iter()
            .map(move |circle| format!("{root}: {}", circle.join(", ")))
    };
    let found: Vec<String> = PACKAGES.iter().flat_map(|root| circles_of(root)).collect();
    assert!(found.is_empty(), "modules that import each other in a circle:\n{}", found.join("\n"));
}

#[test]
fn unsafe_is_only_in_listed_files() {
    let with_unsafe: Vec<String> =
        every_source().into_iter().filter(|source| source.words.contains("unsafe")).map(|source| source.path).collect();
    assert_eq!(with_unsafe, UNSAFE_FILES);
    let architecture = text_of("ARCHITECTURE.md");
    for file in UNSAFE_FILES {
        let module = file.split("src/").nth(1).unwrap_or(file).trim_end_matches(".rs").trim_end_matches("/mod");
        // The folder with one file for each instruction set counts as one place.
        let named = module.find("/arch/").map_or(module, |start| &module[..start + "/arch".len()]);
        assert!(architecture.contains(&format!("`{named}`")), "ARCHITECTURE.md does not name `{named}` for unsafe");
    }
}

#[test]
fn only_http_and_client_use_hyper() {
    for source in every_source() {
        let is_named = ["hyper", "hyper_util", "http_body_util"].iter().any(|word| source.words.contains(*word));
        // The word h2 alone may be an HTML heading.
        let knows = is_named || source.code.contains("h2::");
        let may = FILES_USING_HYPER.iter().any(|place| source.path.starts_with(place));
        assert!(!knows || may, "{} names hyper", source.path);
    }
}

/// Who may send a form or call from a web page is decided by what `web_origin` read, which is the same over
/// HTTP/1 and HTTP/2.
#[test]
fn only_web_origin_reads_which_page_sent_a_request() {
    const HEADERS: &[&str] = &["get(\"origin\"", "sec-fetch-site", "Sec-Fetch-Site"];
    let names =
        |source: &Source| source.words.contains("ORIGIN") || HEADERS.iter().any(|header| source.text.contains(header));
    let reading: Vec<String> = package("src").into_iter().filter(names).map(|source| source.path).collect();
    assert_eq!(reading, ["src/web_origin.rs"]);
}

#[test]
fn databases_of_the_state_are_opened_in_one_place() {
    for source in package("accounts/src/state") {
        let names_builder = source.words.contains("Builder");
        let opens = ["Database::create(", "Database::open("].iter().any(|call| source.code.contains(call));
        let may = source.path == "accounts/src/state/redb_database.rs";
        assert!(may || !(names_builder || opens), "{} opens a database with its own cache", source.path);
    }
    assert_eq!(text_of("accounts/src/state/redb_database.rs").matches("Builder::new()").count(), 1);
}

#[test]
fn no_unfinished_work_or_ignored_tests() {
    for source in every_source() {
        for leftover in LEFTOVERS {
            assert!(!source.macros.contains(*leftover), "{} has {leftover}!", source.path);
        }
        assert!(
            !source.words.contains("ignore") || !source.text.contains("#[ignore"),
            "{} ignores a test",
            source.path
        );
    }
}

#[test]
fn no_route_is_written_outside_its_row() {
    let sources = package("src");
    let rows = sources.iter().filter(|source| source.path.starts_with("src/api/endpoints/"));
    let literals = rows.flat_map(|source| source.code.split('"'));
    let templates: BTreeSet<&str> =
        literals.filter(|text| text.starts_with("/api/v1/") && text.contains('{') && !text.contains('?')).collect();
    assert!(templates.len() > 8, "the rows have their routes as literals: {templates:?}");
    for route in templates {
        let literal = format!("\"{route}\"");
        let files: Vec<&str> =
            sources.iter().filter(|source| source.code.contains(&literal)).map(|source| source.path.as_str()).collect();
        assert_eq!(files.len(), 1, "the route {route} is in {files:?}");
    }
}

#[test]
fn documents_list_every_archive_format() {
    for document in ["README.md", "corpus/FORMAT.md", "src/cli/build.rs"] {
        let text = text_of(document);
        let words: BTreeSet<&str> = text.split([' ', ',', '`', '(', '\n']).collect();
        for end in hornbook_index_build::source_files::Packing::ends() {
            assert!(words.contains(end), "{document} does not name {end}");
        }
    }
}

/// A module with files of its own is a folder with `mod.rs`, not a file beside a folder.
#[test]
fn modules_with_files_are_folders_with_mod_rs() {
    let beside: Vec<String> = every_source()
        .into_iter()
        .map(|source| source.path)
        .filter(|path| {
            path.strip_suffix(".rs").is_some_and(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).is_dir())
        })
        .collect();
    assert!(beside.is_empty(), "move these to mod.rs in their folders: {}", beside.join(", "));
}

#[test]
fn every_module_is_in_architecture_md() {
    let architecture = text_of("ARCHITECTURE.md");
    for (room, _) in ALLOWED_IMPORTS {
        let is_named = [format!("`{room}`"), format!("`{room}/"), format!("src/{room}")];
        assert!(
            is_named.iter().any(|name| architecture.contains(name)),
            "ARCHITECTURE.md does not mention the module {room}"
        );
    }
}

/// `cargo run` passes on to the program what its build script sets, and the program refuses unknown settings.
#[test]
fn the_build_script_sets_no_variable_that_looks_like_a_setting() {
    let script = text_of("build.rs");
    assert!(script.contains("rustc-env=BUILD_TARGET="), "the build script sets no variable; was it moved?");
    assert!(!script.contains("rustc-env=HORNBOOK_"), "build.rs: name the variable without HORNBOOK_");
}

fn every_source() -> Vec<Source> {
    let mut sources: Vec<Source> = PACKAGES.iter().flat_map(|root| package(root)).collect();
    sources.sort_by(|one, other| Path::new(&one.path).cmp(Path::new(&other.path)));
    sources
}
