//! The documentation for people: a start page and a page for each subject, whose examples, links and forms
//! work.

use std::collections::{BTreeMap, HashSet};

use hornbook::api::operations::OPERATIONS;
use hornbook::api::subject::{DOCS_PATH, Subject};

use crate::operations::routed_operations;
use crate::pages::{is_page, request};
use crate::test_server::TestServer;

/// The most bytes of HTML of one page. The single page from which these were made had 178,000.
const PAGE_BYTES_MAX: usize = 36 * 1024;

/// The HTML of every page, by its path.
fn pages(server: &TestServer) -> BTreeMap<String, String> {
    let paths = Subject::ALL.map(Subject::path).into_iter().chain([DOCS_PATH.to_owned()]);
    let read = |path: String| {
        let answered = request(server, &path);
        assert_eq!(answered.status, 200, "{path}");
        is_page(&answered, &path);
        (path, answered.text())
    };
    paths.map(read).collect()
}

fn ids(page: &str) -> Vec<&str> {
    page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap())
}

#[test]
fn every_operation_is_on_exactly_one_page() {
    let pages = pages(&crate::pages::open());
    for operation in OPERATIONS {
        let card = format!("<h3 id=\"{}\">", operation.name);
        let with_it: Vec<&str> =
            pages.iter().filter(|(_, page)| page.contains(&card)).map(|(path, _)| path.as_str()).collect();
        assert_eq!(with_it, [operation.subject.path()], "{}", operation.name);
        let page = &pages[&operation.subject.path()];
        assert_eq!(page.matches(&card).count(), 1, "{}", operation.name);
        for parameter in operation.parameters {
            assert!(page.contains(&format!("<code>{}</code>", parameter.name)), "{}", parameter.name);
        }
    }
}

#[test]
fn every_page_is_short() {
    for (path, page) in pages(&crate::pages::open()) {
        assert!(page.len() <= PAGE_BYTES_MAX, "{path} has {} bytes", page.len());
    }
}

#[test]
fn links_and_anchors_work_and_each_page_marks_its_place() {
    let pages = pages(&crate::pages::open());
    for (path, page) in &pages {
        let ids = ids(page);
        let unique: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{path} has an id twice");
        for link in links(page).filter(|link| link.starts_with('#') || link.starts_with(DOCS_PATH)) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { page } else { pages.get(target).unwrap_or_else(|| panic!("{link}")) };
            assert!(anchor.is_empty() || target.contains(&format!(" id=\"{anchor}\"")), "{path}: {link}");
        }
        let navigation =
            page.split("<nav aria-label=\"Documentation\">").nth(1).unwrap().split("</nav>").next().unwrap();
        assert!(navigation.contains(&format!("<a href=\"{path}\" aria-current=\"page\">")), "{path}");
        assert_eq!(navigation.matches("aria-current").count(), 1, "{path}");
        assert!(pages.keys().all(|other| navigation.contains(&format!("<a href=\"{other}\""))), "{path}");
        for tag in ["section", "article", "table", "code", "pre", "td", "th", "tr", "li", "ul", "div", "dl", "p", "a"] {
            let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{path}: {tag}");
        }
    }
}

#[test]
fn next_leads_through_all_pages_and_previous_back() {
    let pages = pages(&crate::pages::open());
    let neighbour = |path: &str, rel: &str| {
        let rest = pages[path].split(&format!("<a rel=\"{rel}\" href=\"")).nth(1)?;
        Some(rest.split('"').next().unwrap().to_owned())
    };
    let mut read = vec![DOCS_PATH.to_owned()];
    while let Some(next) = neighbour(read.last().unwrap(), "next") {
        assert_eq!(neighbour(&next, "prev").as_ref(), read.last(), "{next}");
        assert!(!read.contains(&next), "{next} is read twice");
        read.push(next);
    }
    assert_eq!(neighbour(DOCS_PATH, "prev"), None);
    assert_eq!(read.len(), pages.len());
}

/// Everything had its anchor on `/docs` when the documentation was a single page.
#[test]
fn old_anchors_lead_to_the_new_places() {
    let pages = pages(&crate::pages::open());
    let start = &pages[DOCS_PATH];
    let parts = ["credits", "prices", "response-headers", "agents", "errors", "object-Node", "object-Error"];
    for anchor in parts.into_iter().chain(routed_operations().map(|operation| operation.name)) {
        let element = start.split(&format!(" id=\"{anchor}\"")).nth(1).unwrap_or_else(|| panic!("{anchor} is missing"));
        let target = element.split('>').next().unwrap();
        assert!(
            target.starts_with(" href=\"/docs/") && target.ends_with(&format!("#{anchor}\"")),
            "{anchor}: {target}"
        );
    }
    for anchor in ["first-call", "operations", "objects", "documents"] {
        assert!(ids(start).contains(&anchor), "{anchor}");
    }
}

#[test]
fn an_unknown_subject_is_a_404_page_that_leads_to_the_start() {
    let server = crate::pages::open();
    for path in ["/docs/nothing", "/docs/Search", "/docs/search/x"] {
        let answered = request(&server, path);
        assert_eq!(answered.status, 404, "{path}");
        is_page(&answered, path);
        assert!(answered.text().contains("<a class=\"button\" href=\"/docs\">"), "{path}: {}", answered.text());
    }
}

#[test]
fn a_page_has_a_version_and_one_address() {
    let server = crate::pages::open();
    for (path, other) in [("/docs", "/docs/"), ("/docs/search", "/docs/search/")] {
        let answered = server.get_with(path, &[]);
        let held = server.get_with(path, &[("If-None-Match", answered.header("etag"))]);
        assert_eq!((held.status, held.body.len()), (304, 0), "{path}");
        assert_eq!(server.get_with(other, &[]).body, answered.body, "{other}");
        let canonical = format!("<link rel=\"canonical\" href=\"https://law.example{path}\">");
        assert!(answered.text().contains(&canonical), "{path}");
    }
}

#[test]
fn search_engines_find_every_page() {
    let server = crate::pages::open();
    assert!(request(&server, "/sitemap.xml").text().contains("<loc>https://law.example/sitemap/docs.xml</loc>"));
    let map = request(&server, "/sitemap/docs.xml").text();
    for path in pages(&server).keys() {
        assert!(map.contains(&format!("<loc>https://law.example{path}</loc>")), "{path}");
    }
}

#[test]
fn every_example_runs() {
    let server = crate::pages::open();
    let key = server.create_full_key();
    let pages = pages(&server);
    let mut ran = 0;
    let examples = pages.values().flat_map(|page| page.split("curl ").skip(1));
    for example in examples.map(|rest| rest.split("</code>").next().unwrap()) {
        let address = example.split("'https://law.example").nth(1).unwrap().split('\'').next().unwrap();
        let address = address.replace("&amp;", "&");
        if address.contains("ORDER_ID") || example.contains("KEY_ID") || example.contains("WATCH_ID") {
            continue;
        }
        let headers = [("Authorization", format!("Bearer {key}"))];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let headers = if example.contains("Authorization") { &headers[..] } else { &[] };
        let answered = match example.split_once("--json '") {
            None => server.get_with(&address, headers),
            Some((_, body)) => {
                let body = body.split('\'').next().unwrap().replace("&quot;", "\"").replace("&amp;", "&");
                crate::formation::post(&server, &address, headers, &body)
            }
        };
        assert_eq!(answered.status, 200, "{address}: {}", answered.text());
        ran += 1;
    }
    assert_eq!(
        ran,
        routed_operations().count() - 2,
        "one example per operation, plus the first one, minus those with ORDER_ID, KEY_ID and WATCH_ID"
    );
}

/// The page's script reads these parts of a form.
#[test]
fn every_operation_has_a_form_with_a_field_for_each_parameter() {
    let pages = pages(&crate::pages::open());
    for operation in routed_operations() {
        let page = &pages[&operation.subject.path()];
        assert!(page.contains("id=\"key-form\""), "{} has no form for the key", operation.name);
        let route = operation.route.unwrap();
        // The class hides it where there are no scripts.
        let form = page
            .split("<form class=\"try scripts-only\"")
            .find(|form| form.contains(&format!("\"Try {}\"", operation.name)));
        let form = form.unwrap_or_else(|| panic!("{} has no form", operation.name)).split("</form>").next().unwrap();
        for said in [format!("data-method=\"{}\"", route.method.as_str()), format!("data-path=\"{}\"", route.path)] {
            assert!(form.contains(&said), "{said}");
        }
        assert_eq!(form.contains("data-keyed"), operation.metering().is_some(), "{}", operation.name);
        assert_eq!(form.contains("<textarea"), operation.body.is_some(), "{}", operation.name);
        for parameter in operation.parameters {
            assert_eq!(
                form.matches(&format!(" name=\"{}\" data-in=\"", parameter.name)).count(),
                1,
                "{}",
                parameter.name
            );
        }
        assert_eq!(form.matches(" data-in=").count(), operation.parameters.len());
    }
}

#[test]
fn pages_contain_no_data_of_the_reader() {
    let server = crate::browser::start_with_account_pages();
    let mut browser = crate::browser::Browser::approved(&server, "jane@example.org");
    let page = browser.get("/docs/search").text();
    assert!(page.contains("href=\"/settings\">Account</a>"));
    for secret in ["hb_live_1", "jane@example.org", browser.cookies[crate::browser::SESSION_COOKIE].as_str()] {
        assert!(!page.contains(secret), "{secret}");
    }
}
