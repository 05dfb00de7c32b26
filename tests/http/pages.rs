//! The pages for people: common properties of all pages, what visitors may do, hostile text, and
//! the same facts as in the API.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::api::visitors::VisitorRates;
use hornbook::http::Mounts;
use hornbook::web::files::AssetFiles;
use hornbook::web::page_context::{PageContext, PageSettings};
use hornbook::web::public_pages::PublicPages;
use hornbook::web::zoning::map_parts::MapParts;
use hornbook_corpus::ids::NodeId;
use hornbook_index_build::build::Destination;
use serde_json::{Value, json};

use crate::browser::between;
use crate::examples::samples;
use crate::operations::NODE;
use crate::sample::{ENGINE, build_plan};
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

pub(crate) fn page_mounts(
    service: &Arc<Service>,
    reads_per_minute: u32,
    searches_per_minute: u32,
    is_indexed: bool,
) -> Mounts {
    let visitors = VisitorRates { reads_per_minute, searches_per_minute, ..VisitorRates::default() };
    let settings = PageSettings { visitors, is_indexed, ..PageSettings::default() };
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings));
    vec![Arc::new(AssetFiles), Arc::new(MapParts::new(Arc::clone(&shell))), Arc::new(PublicPages::new(shell))]
}

/// Visitors may read and search.
pub(crate) fn open() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions {
            mounts: |service| page_mounts(service, 10_000, 10_000, true),
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| (),
    )
}

/// The default settings: visitors may read, but not search for free.
pub(crate) fn start_with_closed_search() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions {
            mounts: |service| page_mounts(service, 60, 0, false),
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| (),
    )
}

pub(crate) const BROWSER: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

pub(crate) fn request(server: &TestServer, path: &str) -> TestResponse {
    server.get_with(path, &[BROWSER])
}

/// The page of a provision of the sample corpus.
fn provision(server: &TestServer) -> String {
    let answered = request(server, "/cite/Arden%20Rev.%20Stat.%20%C2%A7%2024-2-201");
    assert_eq!(answered.status, 303);
    answered.header("location").to_owned()
}

/// The path of a page in an answer of the API.
pub(crate) fn page_path(url: &str) -> &str {
    url.strip_prefix("https://law.example").unwrap_or_else(|| panic!("{url} is not of this service"))
}

pub(crate) fn is_page(answered: &TestResponse, path: &str) {
    assert_eq!(answered.header("content-type"), "text/html; charset=utf-8", "{path}");
    let policy = answered.header("content-security-policy");
    for part in
        ["default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(part), "{path}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    assert!(!answered.headers.contains_key("set-cookie"), "{path} sets a cookie");
    let text = answered.text();
    assert!(text.starts_with("<!DOCTYPE html>"), "{path}");
    for inline in ["<style", " style=", " onclick=", "=\"javascript:"] {
        assert!(!text.contains(inline), "{path} has {inline}");
    }
    let inline_scripts = text.matches("<script").count() - text.matches("<script src=\"/assets/").count();
    assert_eq!(inline_scripts, text.matches("<script type=\"application/ld+json\">").count(), "{path}");
}

#[test]
fn every_page_has_the_policy_and_sets_no_cookie() {
    let server = open();
    let provision = provision(&server);
    for (path, status) in [
        ("/", 200),
        ("/?q=security+deposit", 200),
        ("/?q=security+deposit&mode=nonsense", 422),
        ("/browse", 200),
        ("/coverage", 200),
        ("/docs", 200),
        ("/zoning", 200),
        ("/zoning/XA-MILLBROOK", 200),
        ("/zoning/XA-MILLBROOK?zone=HC", 200),
        ("/zoning/XA-MILLBROOK?page=0", 422),
        ("/zoning/XA-GREYFORD", 404),
        ("/zoning-parts/XA-MILLBROOK/old/zones", 404),
        (provision.as_str(), 200),
        (&format!("{provision}/references?direction=in"), 200),
        ("/cite/nothing", 404),
        ("/law/17", 404),
        ("/browse/17", 404),
        ("/nowhere", 404),
        ("/assets/0000/hornbook.css", 404),
    ] {
        let answered = request(&server, path);
        assert_eq!(answered.status, status, "{path}: {}", answered.text());
        is_page(&answered, path);
    }
}

#[test]
fn programs_get_the_error_object_and_browsers_a_page() {
    let server = open();
    server.get_with("/nowhere", &[]).expect_error(404, "not_found");
    server.get_with("/nowhere", &[("Accept", "*/*")]).expect_error(404, "not_found");
    server.get_with("/api/v1/nowhere", &[BROWSER]).expect_error(404, "not_found");
    let page = request(&server, "/nowhere");
    assert!(page.text().contains("<h1>Not found</h1>") && page.status == 404);
    for path in ["/law/17", "/law/00000000-0000-0000-0000-000000000000"] {
        let page = request(&server, path);
        assert!(
            page.status == 404 && page.text().contains("There is no provision at this address."),
            "{}",
            page.text()
        );
    }
    let refused = server.request("POST", "/browse", &[BROWSER, ("Content-Length", "0")]);
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD, OPTIONS"));
    is_page(&refused, "a POST");
}

#[test]
fn a_page_has_one_address_that_people_can_read_and_all_others_lead_there() {
    let server = open();
    let page = "/xa/ars/t24/c2/s24-2-201";
    let id = NodeId::from_source_key(&page[1..]);
    let moved = |path: &str| {
        let answered = request(&server, path);
        assert_eq!(answered.status, 308, "{path}");
        answered.header("location").to_owned()
    };
    assert_eq!(moved(&format!("/law/{id}")), page);
    assert_eq!(moved(&format!("/law/{id}?asOf=2026-07-02")), format!("{page}?asOf=2026-07-02"));
    for view in [".md", ".txt", "/references"] {
        assert_eq!(moved(&format!("/law/{id}{view}")), format!("{page}{view}"));
        assert_eq!(request(&server, &format!("{page}{view}")).status, 200, "{view}");
    }
    assert_eq!(moved("/XA/ARS/T24/C2/S24-2-201"), page);
    assert_eq!(moved(&format!("{page}/")), page);
    assert_eq!(moved("/law/cite/Arden%20%C2%A7%201?asOf=2026-01-01"), "/cite/Arden%20%C2%A7%201?asOf=2026-01-01");
    assert_eq!(moved("/search?q=security+deposit&jurisdiction=XA"), "/?q=security+deposit&jurisdiction=XA");
    assert_eq!(moved("/search"), "/");
    let text = request(&server, page).text();
    let canonical = format!("<link rel=\"canonical\" href=\"https://law.example{page}\">");
    assert!(text.contains(&canonical) && !text.contains("href=\"/law/"), "{text}");
    // The citation box has the publisher and the year of this version.
    let bluebook = text.split("<dt>Bluebook</dt>").nth(1).unwrap().split("</code>").next().unwrap();
    assert!(bluebook.contains("24-2-201") && bluebook.ends_with(" 2026)"), "{bluebook}");
    for path in ["/xa", "/xa/ars/t24/c2/s24-2-999", "/xa/ars/t24/c2/s24-2-201.pdf", "/us/usc/t17/s107"] {
        server.get_with(path, &[]).expect_error(404, "not_found");
        assert!(request(&server, path).text().contains("<h1>Not found</h1>"), "{path}");
    }
}

#[test]
fn a_source_key_that_begins_like_another_path_is_served_by_id() {
    let data = tempfile::tempdir().unwrap();
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    let mut plan = "name = \"Keys\"\n".to_owned();
    let keys = ["api/v1", "cite/code", "law/code", "settings/code", "zoning-parts/a", "xa/code"];
    for key in keys {
        plan += &format!(
            "[[source]]\nformat = \"native\"\npath = \"law.jsonl\"\njurisdiction = \"VT\"\ncode_body = \"Code of {key}\"\n\
             key = \"{key}\"\ncitation = \"Code of {key} § {{number}}\"\npublisher = \"Test\"\nurl = \"https://example.org\"\n\
             edition = \"1\"\nretrieved = \"2026-01-01\"\nlicense = \"CC0\"\n"
        );
    }
    fs::write(sources.join("plan.toml"), plan).unwrap();
    let line = json!({ "key": "s1", "level": "section", "number": "1", "heading": "Lamps", "text": "Lamps burn." });
    fs::write(sources.join("law.jsonl"), line.to_string()).unwrap();
    build_into(&sources, data.path());
    let server = open();
    server.service.reload_snapshot(data.path(), None).unwrap();
    let api_key = server.create_full_key();
    for key in keys {
        let id = NodeId::from_source_key(&format!("{key}/s1"));
        let expected = if key == "xa/code" { format!("/{key}/s1") } else { format!("/law/{id}") };
        let node = server.get(&format!("/api/v1/node/{id}"), &api_key).json();
        assert_eq!(page_path(node["url"].as_str().unwrap()), expected);
        let page = request(&server, &expected);
        assert!(page.status == 200 && page.text().contains("Lamps burn."), "{expected}");
    }
}

#[test]
fn stylesheet_and_scripts_are_immutable() {
    let server = open();
    let text = request(&server, "/").text();
    let address = |mark: &str| {
        let at = text.find(mark).unwrap() + mark.len();
        text[at..].split('"').next().unwrap().to_owned()
    };
    for mark in ["<link rel=\"stylesheet\" href=\"", "<script src=\""] {
        let answered = request(&server, &address(mark));
        assert_eq!(answered.status, 200);
        assert_eq!(answered.header("cache-control"), "public, max-age=31536000, immutable");
    }
}

#[test]
fn page_and_api_agree() {
    let server = open();
    let key = server.create_full_key();
    let found = server.get("/api/v1/search?q=notice+to+the+tenant&limit=20&facets=true", &key).json();
    let page = request(&server, "/?q=notice+to+the+tenant").text();
    let mut at = 0;
    for hit in found["results"].as_array().unwrap() {
        let link = format!("<a href=\"{}\">", page_path(hit["url"].as_str().unwrap()));
        at += page[at..].find(&link).unwrap_or_else(|| panic!("{link} is not in its place"));
    }
    assert!(page.contains("<mark>"));
    let path = provision(&server);
    let api = format!("/api/v1/node/{}", NodeId::from_source_key(&path[1..]));
    let node = server.get(&api, &key).json();
    let page = request(&server, &path).text();
    for name in ["citation", "heading"] {
        assert!(page.contains(node[name].as_str().unwrap()), "{name}");
    }
    assert!(page.contains(node["provenance"]["contentHash"].as_str().unwrap()));
    let (markdown, text) = (request(&server, &format!("{path}.md")), request(&server, &format!("{path}.txt")));
    assert_eq!(markdown.text(), server.get(&format!("{api}?format=md"), &key).text());
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
}

#[test]
fn a_matching_etag_gives_a_304_page() {
    let server = open();
    let path = provision(&server);
    let first = request(&server, &path);
    let again = server.get_with(&path, &[BROWSER, ("If-None-Match", first.header("etag"))]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), first.header("etag"));
    let other = server.get_with(&path, &[BROWSER, ("If-None-Match", "\"something\"")]);
    assert_eq!(other.status, 200);
}

#[test]
fn a_citation_leads_to_its_provision_and_its_subdivision() {
    let server = open();
    let path = provision(&server);
    let found = request(&server, "/?q=Arden+Rev.+Stat.+%C2%A7+24-2-201(b)");
    assert_eq!((found.status, found.header("location")), (303, format!("{path}#b").as_str()));
    assert_eq!(
        request(&server, "/?q=Arden+Rev.+Stat.+%C2%A7+24-2-201(b)&as=words").status,
        200,
        "unless its words are searched for"
    );
    let page = request(&server, &path).text();
    assert!(page.contains("id=\"b\""), "{page}");
    let several = request(&server, "/cite/Arden%20Rev.%20Stat.%20%C2%A7%C2%A7%2024-2-201%20to%2024-2-203").text();
    assert!(several.contains("</span></a></li>") && !several.contains("by its id"), "{several}");
    let unknown = request(&server, "/?q=Arden+Rev.+Stat.+%C2%A7+99-9-999");
    assert_eq!(unknown.status, 200);
    assert!(unknown.text().contains("check the number"), "{}", unknown.text());
}

#[test]
fn empty_results_are_explained() {
    let server = open();
    let nothing = request(&server, "/?q=%22zyzzyva+quux%22&mode=keyword").text();
    assert!(nothing.contains("Nothing was found") && nothing.contains("without the quotation marks"));
    let placeholder = request(&server, "/?q=noise&jurisdiction=XA-GREYFORD").text();
    assert!(placeholder.contains("Text not loaded: City of Greyford"), "{placeholder}");
    let misspelt = request(&server, "/?q=secuirty+depositt").text();
    assert!(misspelt.contains("Searched for <strong>security deposit</strong> instead"), "{misspelt}");
    assert!(misspelt.contains("href=\"/?q=secuirty%20depositt&amp;exact=true\""), "{misspelt}");
    let exact = request(&server, "/?q=secuirty+depositt&exact=true").text();
    assert!(!exact.contains("instead"), "{exact}");
}

#[test]
fn a_recognised_place_is_shown_with_an_undo_link() {
    let server = open();
    let narrowed = request(&server, "/?q=fence+height+in+Port+Arden").text();
    let said = "Searched only in <strong>Port Arden</strong>, because the search says <q>in Port Arden</q>";
    assert!(narrowed.contains(said), "{narrowed}");
    let back = "href=\"/?q=fence%20height%20in%20Port%20Arden&amp;exact=true\"";
    assert!(narrowed.contains(back) && !narrowed.contains("Did you mean"), "{narrowed}");
    let exact = request(&server, "/?q=fence+height+in+Port+Arden&exact=true").text();
    assert!(!exact.contains("because the search says"), "{exact}");
    let preferred = request(&server, "/?q=must+a+Port+Arden+owner+build+a+fence").text();
    assert!(preferred.contains("Ranked higher: the law of <strong>Port Arden</strong>"), "{preferred}");
    let missing = request(&server, "/?q=fence+height+in+Greyford").text();
    assert!(missing.contains("<strong>Text not loaded.</strong> Greyford is listed."), "{missing}");
}

#[test]
fn filters_are_kept_across_result_pages() {
    let server = open();
    let all = request(&server, "/?q=permit&mode=keyword").text();
    assert!(all.contains("href=\"/?q=permit&amp;mode=keyword&amp;tag=ordinance\""), "{all}");
    let chosen = request(&server, "/?q=permit&mode=keyword&tag=ordinance&jurisdiction=XA&jurisdiction=US").text();
    assert!(
        chosen.contains("jurisdiction=XA%2CUS&amp;tag=ordinance") && chosen.contains("All kinds of law"),
        "{chosen}"
    );
    assert!(chosen.contains("<input type=\"hidden\" name=\"tag\" value=\"ordinance\">"), "{chosen}");
    let one = request(&server, "/?q=permit&mode=keyword&jurisdiction=XA").text();
    assert!(one.contains("<option value=\"XA\" selected>"), "{one}");
    assert_eq!(request(&server, "/?q=permit&tag=nothing").status, 422);
}

#[test]
fn answers_name_the_page_that_people_open() {
    let server = open();
    let key = server.create_full_key();
    let page_of = |answer: &Value, day: &str| {
        let url = answer["url"].as_str().unwrap_or_else(|| panic!("no url in {answer}"));
        let path = page_path(url);
        assert!(path.ends_with(day) && path.contains("asOf") != day.is_empty(), "{url}");
        let page = request(&server, path);
        assert_eq!(page.status, 200, "{url}");
        assert!(page.text().contains(answer["citation"].as_str().unwrap()), "{}", page.text());
        url.to_owned()
    };
    for day in ["", "&asOf=2020-01-01"] {
        let found = server.get(&format!("/api/v1/search?q=security+deposit{day}"), &key).json();
        let hit = &found["results"][0];
        let day = day.replace('&', "?");
        let url = page_of(hit, &day);
        let node = server.get(&format!("/api/v1/node/{}{day}", hit["nodeId"].as_str().unwrap()), &key).json();
        assert_eq!(page_of(&node, &day), url);
        let ids = format!("/api/v1/nodes?ids={}{}", hit["nodeId"].as_str().unwrap(), day.replace('?', "&"));
        assert_eq!(page_of(&server.get(&ids, &key).json()["nodes"][0], &day), url);
        for link in [&node["parent"], &node["path"][0]] {
            page_of(link, &day);
        }
        let and_day = day.replace('?', "&");
        let resolved =
            server.get(&format!("/api/v1/resolve?citation=Arden+Rev.+Stat.+%C2%A7+24-2-201{and_day}"), &key).json();
        page_of(&resolved["answers"][0]["candidates"][0], &day);
        let body = node["codeBodyId"].as_str().unwrap();
        let browsed = server.get(&format!("/api/v1/browse?codeBodyId={body}{and_day}"), &key).json();
        page_of(&browsed["nodes"][0], &day);
        let cited_by = server.get(&format!("/api/v1/node/{}/references?direction=in{and_day}", *NODE), &key).json();
        page_of(&cited_by["nodes"][0], &day);
        let cited = server.get(&format!("/api/v1/node/{}{day}", *NODE), &key).json();
        page_of(&cited["references"]["in"]["nodes"][0], &day);
        let suggested = server.get(&format!("/api/v1/suggest?q=secur{and_day}"), &key).json();
        page_of(&suggested["suggestions"][0], &day);
    }
}

#[test]
fn visitors_who_may_not_search_read_and_try_sample_searches() {
    let server = start_with_closed_search();
    assert_eq!(request(&server, "/browse").status, 200);
    let refused = request(&server, "/?q=anything+else");
    assert_eq!(refused.status, 401);
    assert!(refused.text().contains("Searching needs an account here."));
    let samples = samples(&server);
    let (sample, _) = samples.iter().find(|(path, _)| request(&server, path).status == 200).expect("a sample search");
    assert_eq!(
        request(&server, &format!("{sample}&jurisdiction=XA")).status,
        401,
        "only the exact sample searches are free"
    );
    assert_eq!(request(&server, "/suggest?q=secur").status, 401);
    let path = provision(&server);
    let page = request(&server, &path).text();
    assert!(page.contains("<meta name=\"robots\" content=\"noindex\">"));
    for path in ["/robots.txt", "/sitemap.xml"] {
        assert_eq!(request(&server, path).status, 404, "{path}");
    }
    // Some of the sixty requests of the minute are already used.
    let statuses: Vec<u16> = (0..60).map(|_| request(&server, "/browse").status).collect();
    assert!(statuses.contains(&200) && statuses.last() == Some(&429), "{statuses:?}");
    let too_fast = request(&server, "/browse");
    assert!(too_fast.header_number("retry-after") >= 1);
    is_page(&too_fast, "429");
    // The API still requires a key.
    server.get_with("/api/v1/coverage", &[BROWSER]).expect_error(401, "invalid_api_key");
}

#[test]
fn visitors_cannot_read_if_reading_needs_an_account() {
    let server = TestServer::start_with_options(
        TestServerOptions {
            mounts: |service| page_mounts(service, 0, 0, false),
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| (),
    );
    for path in
        ["/browse", "/coverage", "/zoning", "/zoning/XA-MILLBROOK", "/cite/Arden%20Rev.%20Stat.%20%C2%A7%2024-2-201"]
    {
        let refused = request(&server, path);
        assert_eq!(refused.status, 401, "{path}");
        is_page(&refused, path);
    }
    assert_eq!(request(&server, "/").status, 200, "the page of the search says what to do");
}

/// The script of the contents loads the same entries in place that the page of the level has.
#[test]
fn contents_fragments_match_their_pages() {
    let server = open();
    let mut open = vec![request(&server, "/browse").text()];
    let (mut seen, mut levels) = (0, 0);
    while let Some(page) = open.pop() {
        for entry in page.split("<li data-level=\"").skip(1) {
            let (level, link) = entry.split_once("\"><a href=\"").expect("an entry begins with its link");
            let link = link.split('"').next().unwrap();
            let part = request(&server, &level.replace("&amp;", "&"));
            assert_eq!(part.status, 200, "{level}");
            let (part, page) = (part.text(), request(&server, link).text());
            assert!(part.starts_with("<ul class=\"links tree\">") && !part.contains("<main"), "{part}");
            let entries = |text: &str| -> Vec<String> {
                let list =
                    text.split_once("<ul class=\"links tree\">").expect("a list").1.split("</ul>").next().unwrap();
                list.split("<li").skip(1).map(str::to_owned).collect()
            };
            assert_eq!(entries(&part), entries(&page), "{link}");
            levels += 1;
            seen += entries(&part).len();
            open.push(part);
        }
    }
    let key = server.create_full_key();
    let coverage = server.get("/api/v1/coverage", &key).json();
    assert!(levels > 20 && seen as u64 > coverage["totalNodes"].as_u64().unwrap() / 2, "{levels} levels, {seen} nodes");
    let body = request(&server, "/browse").text();
    let body = body.split("data-level=\"/browse/").nth(1).unwrap().split('/').next().unwrap().to_owned();
    assert_eq!(request(&server, &format!("/browse/{body}/level?parent=17")).status, 422);
    assert_eq!(request(&server, &format!("/browse/{body}/level?page=none")).status, 422);
}

#[test]
fn all_counts_of_contents_are_provisions() {
    let server = open();
    let count = |entry: &str| -> u64 {
        let counted = entry.split("<span class=\"count\">").nth(1).map(|rest| rest.split('<').next().unwrap());
        let Some(counted) = counted else { return 1 };
        let (number, unit) = counted.split_once(' ').unwrap();
        assert!(unit == if number == "1" { "provision" } else { "provisions" }, "{counted}");
        number.replace(',', "").parse().unwrap()
    };
    let contents = request(&server, "/browse").text();
    let mut bodies = 0;
    for entry in contents.split("<li data-level=\"").skip(1) {
        let link = between(entry, "<a href=\"", "\"").unwrap();
        let page = request(&server, link).text();
        let list = page.split_once("<ul class=\"links tree\">").unwrap().1.split("</ul>").next().unwrap();
        let below: u64 = list.split("<li").skip(1).map(count).sum();
        assert_eq!(below, count(entry.split("</li>").next().unwrap()), "{link}");
        bodies += 1;
    }
    assert!(bodies > 5, "{bodies}");
}

#[test]
fn results_are_sorted_as_the_reader_chose() {
    let server = open();
    let page = |path: &str| request(&server, path).text();
    let ids = |page: &str| -> Vec<String> {
        let hits = page.split("<article class=\"hit\">").skip(1);
        hits.map(|hit| between(hit, "<a href=\"", "\"").unwrap().to_owned()).collect()
    };
    let best = page("/?q=permit&mode=keyword");
    assert!(best.contains("Sorted: <strong>best first</strong>"), "{best}");
    let sorted = page("/?q=permit&mode=keyword&sort=code");
    assert!(sorted.contains("<strong>in the order of the codes</strong>") && !sorted.contains("Page 1 of"), "{sorted}");
    let key = server.create_full_key();
    let found = server.get("/api/v1/search?q=permit&mode=keyword&limit=100", &key).json();
    let outline = &ENGINE.snapshot().outline;
    let mut hits: Vec<(_, String)> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            let id = NodeId(hit["nodeId"].as_str().unwrap().parse().unwrap());
            (outline.ordinal(id).unwrap(), page_path(hit["url"].as_str().unwrap()).to_owned())
        })
        .collect();
    hits.sort();
    let expected: Vec<String> = hits.into_iter().map(|(_, path)| path).collect();
    assert!(expected.len() > 20, "more than one page: {}", expected.len());
    assert_eq!(ids(&sorted), expected);
    let newest = page("/?q=permit&mode=keyword&sort=newest");
    assert_eq!(ids(&newest).len(), expected.len());
    // The order stays when a filter is chosen, and an unknown one is none.
    assert!(sorted.contains("&amp;tag=ordinance&amp;sort=code") && sorted.contains("name=\"sort\" value=\"code\""));
    assert_eq!(ids(&page("/?q=permit&mode=keyword&sort=luck")), ids(&best));
}

#[test]
fn sitemaps_have_every_provision_once() {
    let server = open();
    let index = request(&server, "/sitemap.xml").text();
    let parts: Vec<&str> =
        index.split("<loc>https://law.example").skip(1).map(|rest| rest.split("</loc>").next().unwrap()).collect();
    let mut all: Vec<String> = Vec::new();
    for part in parts {
        let text = request(&server, part).text();
        all.extend(text.split("<loc>").skip(1).map(|rest| rest.split("</loc>").next().unwrap().to_owned()));
    }
    let key = server.create_full_key();
    let bodies = server.get("/api/v1/code-bodies", &key).json();
    let provisions: u64 =
        bodies["codeBodies"].as_array().unwrap().iter().map(|body| body["provisionCount"].as_u64().unwrap()).sum();
    all.retain(|address| !address.starts_with("https://law.example/docs"));
    assert_eq!(all.len() as u64, provisions);
    assert_eq!(request(&server, &all[0]["https://law.example".len()..]).status, 200);
    assert_eq!(request(&server, "/sitemap/nothing-0.xml").status, 404);
}

/// A data directory with law from lines in the native format.
pub(crate) fn data_of(lines: &[Value]) -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let plan = "name = \"Test\"\n[[jurisdiction]]\ncode = \"XB\"\nname = \"Bast\"\nlevel = \"state\"\n\
                [[source]]\nformat = \"native\"\npath = \"law.jsonl\"\njurisdiction = \"XB\"\ncode_body = \"Code\"\n\
                key = \"xb/code\"\npublisher = \"P\"\nurl = \"https://p.example/\"\nedition = \"1\"\nretrieved = \"2026-01-01\"\nlicense = \"none\"\n";
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    fs::write(sources.join("plan.toml"), plan).unwrap();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    fs::write(sources.join("law.jsonl"), lines.join("\n")).unwrap();
    build_into(&sources, data.path());
    data
}

/// A server whose pages are open, with this law.
pub(crate) fn serving(lines: &[Value]) -> (TestServer, tempfile::TempDir) {
    let (server, data) = (open(), data_of(lines));
    server.service.reload_snapshot(data.path(), None).unwrap();
    (server, data)
}

/// The page that a citation redirects to.
pub(crate) fn page_of_citation(server: &TestServer, citation: &str) -> String {
    let found = request(server, &format!("/cite/{}", citation.replace(' ', "%20").replace('§', "%C2%A7")));
    assert_eq!(found.status, 303, "{citation}: {}", found.text());
    request(server, found.header("location")).text()
}

/// Law that contains markup and control characters.
#[test]
fn hostile_text_is_escaped() {
    let data = tempfile::tempdir().unwrap();
    let plan = "name = \"Hostile\"\n[[jurisdiction]]\ncode = \"XB\"\nname = \"<script>alert(1)</script>\"\nlevel = \"state\"\n\
                [[source]]\nformat = \"native\"\npath = \"law.jsonl\"\njurisdiction = \"XB\"\ncode_body = \"Code \\\"><img src=x>\"\n\
                key = \"xb/code\"\npublisher = \"</title><b>\"\nurl = \"javascript:alert(1)\"\nedition = \"1\"\nretrieved = \"2026-01-01\"\nlicense = \"none\"\n";
    let hostile = "(a) </script><script>alert(1)</script> <!-- & <style>\n(b) \u{1b}[31mred\u{1b}[0m \u{202e}desrever\u{2066} \" onmouseover=\"x";
    let long = "H".repeat(1 << 20);
    let lines = [
        json!({ "key": "t1", "level": "title", "number": "1", "heading": "<h1>Title</h1>", "citation": "<i>T</i> 1" }),
        json!({ "key": "t1/s1", "parent": "t1", "level": "section", "number": "1", "heading": "</script><svg onload=alert(1)>",
            "citation": "Code § 1", "text": hostile, "notes": [{ "topic": "<b>", "text": "<iframe>" }], "tags": [] }),
        json!({ "key": "t1/s2", "parent": "t1", "level": "section", "number": "2", "heading": long, "citation": "Code § 2", "text": "hostile words of a long heading" }),
    ];
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    fs::write(sources.join("plan.toml"), plan).unwrap();
    fs::write(sources.join("law.jsonl"), lines.map(|line| line.to_string()).join("\n")).unwrap();
    build_into(&sources, data.path());
    let server = open();
    server.service.reload_snapshot(data.path(), None).unwrap();
    let key = server.create_full_key();
    let bodies = server.get("/api/v1/code-bodies", &key).json();
    let body = bodies["codeBodies"][0]["id"].as_str().unwrap().to_owned();
    let found = server.get("/api/v1/search?q=hostile+alert&limit=5", &key).json();
    let mut paths =
        vec!["/?q=hostile+alert".to_owned(), "/browse".to_owned(), "/coverage".to_owned(), format!("/browse/{body}")];
    for hit in found["results"].as_array().unwrap() {
        let id = hit["nodeId"].as_str().unwrap();
        let node = server.get(&format!("/api/v1/node/{id}"), &key).json();
        paths.push(page_path(node["url"].as_str().unwrap()).to_owned());
        paths.push(page_path(node["parent"]["url"].as_str().unwrap()).to_owned());
    }
    assert!(paths.len() > 6, "{found:#}");
    for path in &paths {
        let answered = request(&server, path);
        assert_eq!(answered.status, 200, "{path}");
        is_page(&answered, path);
        let text = answered.text();
        // A heading of a megabyte is only on its own page.
        assert!(text.len() < 1 << 20 || text.contains("og:title"), "{path}: {} bytes", text.len());
        for never in [
            "<img",
            "<svg onload",
            "<iframe",
            "<b>",
            "<!--",
            "alert(1)</script>",
            "href=\"javascript",
            "\u{1b}",
            "\u{202e}",
            "\u{2066}",
        ] {
            assert!(!text.contains(never), "{path} has {never:?}");
        }
    }
    let mut read = paths.iter().skip(4).map(|path| request(&server, path).text());
    let shown = read.find(|text| text.contains("desrever")).expect("the hostile provision is found");
    assert!(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

pub(crate) fn build_into(sources: &Path, data: &Path) {
    build_plan(sources.join("plan.toml"), Destination::DataDirectory(data.to_owned()));
}
