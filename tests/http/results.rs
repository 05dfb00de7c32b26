//! The page of search results: what each result is part of, and filters whose counts are true.

use hornbook_corpus::ids::NodeId;
use serde_json::json;

use crate::browser::between;
use crate::examples::plain_text;
use crate::pages::{data_of, open, request};
use crate::test_server::TestServer;

/// A filter beside the results.
struct Entry {
    address: String,
    name: String,
    count: Option<u32>,
}

/// The filters under a heading.
fn entries(page: &str, heading: &str) -> Vec<Entry> {
    let list = between(page, &format!("<h2>{heading}</h2><ul>"), "</ul>").unwrap_or_default();
    let links = list.split("<a href=\"").skip(1).map(|rest| rest.split_once('"').unwrap());
    let entry = |(address, rest): (&str, &str)| {
        let (name, count) = rest.split_once("<span class=\"count\">").unwrap_or((rest, ""));
        let name = plain_text(&name[name.find('>').unwrap() + 1..]);
        Entry { address: address.replace("&amp;", "&"), name, count: number(count) }
    };
    links.map(entry).collect()
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != ',').unwrap_or(text.len());
    text[..end].replace(',', "").parse().ok()
}

fn total(page: &str) -> u32 {
    between(page, "<p class=\"total\"><span role=\"status\">", "</span>").and_then(number).unwrap_or(0)
}

/// The total behind each link of the filters.
fn totals(server: &TestServer, found: &[Entry]) -> Vec<u32> {
    found.iter().map(|entry| total(&request(server, &entry.address).text())).collect()
}

const QUERIES: &[&str] =
    &["permit", "notice+of+a+hearing", "fence+-height", "landlord", "fire", "noise+at+night", "the"];

#[test]
fn a_count_of_a_filter_is_the_total_of_a_click() {
    let server = open();
    let mut checked = 0;
    for query in QUERIES {
        for rest in ["", "&tag=ordinance", "&status=current", "&jurisdiction=XA&exact=true", "&jurisdiction=XA"] {
            let page = request(&server, &format!("/?q={query}&mode=keyword{rest}")).text();
            for heading in ["Jurisdictions", "Kinds of law", "Subjects"] {
                let mut found = entries(&page, heading);
                found.retain(|entry| entry.count.is_some());
                let counts: Vec<u32> = found.iter().filter_map(|entry| entry.count).collect();
                assert_eq!(counts, totals(&server, &found), "{query}{rest} {heading}");
                checked += counts.len();
            }
        }
    }
    assert!(checked > 60, "{checked} counts");
}

#[test]
fn a_search_by_meaning_shows_no_counts_that_a_click_would_not_give() {
    let server = open();
    for query in QUERIES {
        for mode in ["hybrid", "semantic"] {
            let page = request(&server, &format!("/?q={query}&mode={mode}")).text();
            let found = entries(&page, "Jurisdictions");
            assert!(found.iter().all(|entry| entry.count.is_none()), "{query} in {mode}");
        }
    }
    // A place that the query names is not searched in once another jurisdiction is chosen.
    let page = request(&server, "/?q=fence+height+in+Port+Arden&mode=keyword").text();
    assert!(entries(&page, "Jurisdictions").iter().all(|entry| entry.count.is_none()), "{page}");
}

#[test]
fn results_that_are_all_of_one_city_are_counted_for_the_city_alone() {
    let server = open();
    let names = |path: &str| -> Vec<String> {
        entries(&request(&server, path).text(), "Jurisdictions").into_iter().map(|entry| entry.name).collect()
    };
    let all = names("/?q=council&mode=keyword&jurisdiction=XA-PORT-ARDEN");
    assert_eq!(all, ["All jurisdictions", "City of Port Arden"]);
    let of_state = request(&server, "/?q=setback&mode=keyword").text();
    let (within, _) = of_state.split_once("Hollis County</span>").unwrap();
    assert!(within.ends_with("<span>") && within.contains("<li class=\"within\">"), "{of_state}");
}

#[test]
fn kinds_of_law_are_apart_from_subjects() {
    let page = request(&open(), "/?q=vessel&mode=keyword").text();
    let names = |title: &str| -> Vec<String> { entries(&page, title).into_iter().map(|entry| entry.name).collect() };
    assert_eq!(names("Kinds of law"), ["statute", "ordinance"]);
    assert!(names("Subjects").contains(&"water".to_owned()), "{:?}", names("Subjects"));
}

#[test]
fn each_result_names_the_code_and_the_containers_above_it() {
    let server = open();
    let key = server.create_full_key();
    for day in ["", "&asOf=2026-01-15"] {
        let page = request(&server, &format!("/?q=notice+to+the+tenant{day}")).text();
        for hit in page.split("<article class=\"hit\">").skip(1) {
            let path = between(hit, "<a href=\"/", "\"").unwrap().split('?').next().unwrap();
            let line = between(hit, "<p class=\"path\">", "</p>").unwrap();
            let node = server.get(&format!("/api/v1/node/{}", NodeId::from_source_key(path)), &key).json();
            let above: Vec<&str> =
                node["path"].as_array().unwrap().iter().map(|one| one["heading"].as_str().unwrap()).collect();
            let shown: Vec<String> = line.split("</a>").map(plain_text).collect();
            let code = node["codeBody"].as_str().unwrap();
            assert_eq!(shown[0], code, "{line}");
            for (above, shown) in above.iter().zip(&shown[1..]) {
                let shown = shown.trim_start_matches([' ', '›']).trim_end_matches('…');
                assert!(above.starts_with(shown), "{above}: {line}");
            }
            assert_eq!(shown.len() - 2, above.len(), "{line}");
            for link in line.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                assert_eq!(request(&server, &link.replace("&amp;", "&")).status, 200, "{link}");
                assert!(day.is_empty() || link.contains("asOf") || link.starts_with("/browse/"), "{link}");
            }
        }
    }
}

/// The fields of the form that searches inside a container, with a query.
fn search_inside(page: &str, query: &str) -> String {
    let form = between(page, "<form class=\"inside\"", "</form>").unwrap_or_else(|| panic!("{page}"));
    let hidden = form.split("<input type=\"hidden\" name=\"").skip(1).map(|field| {
        let (name, rest) = field.split_once("\" value=\"").unwrap();
        format!("&{name}={}", rest.split('"').next().unwrap())
    });
    format!("/?q={query}{}", hidden.collect::<String>())
}

#[test]
fn a_container_is_searched_inside_by_its_own_box() {
    let server = open();
    let all = total(&request(&server, "/?q=notice&mode=keyword").text());
    let mut totals = vec![all];
    let title = request(&server, "/xa/ars/t24").text();
    let code = format!("/browse/{}", between(&title, "<a href=\"/browse/", "\"").unwrap());
    for (path, level) in [(code.as_str(), "code"), ("/xa/ars/t24", "title"), ("/xa/ars/t24/c2", "chapter")] {
        let page = request(&server, &format!("{path}?asOf=2026-01-15")).text();
        assert!(page.contains(&format!("placeholder=\"Search inside this {level}\"")), "{page}");
        let address = search_inside(&page, "notice");
        assert!(address.ends_with("&asOf=2026-01-15"), "{address}");
        let found = request(&server, &format!("{address}&mode=keyword")).text();
        let home = path.trim_start_matches("/browse/");
        assert!(found.split("<article class=\"hit\">").skip(1).all(|hit| hit.contains(home)), "{home}: {found}");
        let way_out = between(&found, "Searched only inside <strong>", "search all law").unwrap();
        let way_out = between(way_out, "<a href=\"", "\"").unwrap().replace("&amp;", "&");
        assert_eq!(total(&request(&server, &way_out).text()), all, "{way_out}");
        totals.push(total(&found));
    }
    assert!(totals.windows(2).all(|pair| pair[0] > pair[1]) && totals[3] > 0, "{totals:?}");
}

#[test]
fn law_in_force_is_a_choice_of_the_search_form() {
    let data = data_of(&["in force", "repealed"].map(|status| {
        json!({ "key": status.replace(' ', "-"), "level": "section", "number": "1", "heading": "Lamps",
            "citation": status, "text": "Lamps burn at night.", "status": status })
    }));
    let server = open();
    server.service.reload_snapshot(data.path(), None).unwrap();
    let any = request(&server, "/?q=lamps").text();
    assert!(any.contains("<select name=\"status\"><option value=\"\">Any status</option><option value=\"current\">"));
    let in_force = request(&server, "/?q=lamps&status=current").text();
    assert_eq!((total(&any), total(&in_force)), (2, 1));
    assert!(in_force.contains("<option value=\"current\" selected>"), "{in_force}");
    let repealed = request(&server, "/?q=lamps&status=repealed").text();
    assert!(repealed.contains("<option value=\"repealed\" selected>") && total(&repealed) == 1, "{repealed}");
    assert!(!repealed.contains("type=\"hidden\" name=\"status\""), "{repealed}");
}

#[test]
fn if_nothing_is_found_the_page_says_one_next_step() {
    let server = open();
    for (search, step, address) in [
        ("noise&jurisdiction=XA-GREYFORD", "Search in all jurisdictions", "/?q=noise"),
        ("zyzzyva&mode=keyword", "Search by words and meaning together", "/?q=zyzzyva"),
        ("%22zyzzyva+quux%22&mode=keyword", "Search without the quotation marks", "/?q=zyzzyva%20quux&mode=keyword"),
        ("zyzzyva+-quux&mode=keyword", "Search without the excluded words", "/?q=zyzzyva&mode=keyword"),
        ("vessel&mode=keyword&tag=zoning", "Search all kinds of law and subjects", "/?q=vessel&mode=keyword"),
        (
            "vessel&mode=keyword&tag=zoning&jurisdiction=XA&asOf=2026-01-15",
            "Search in all law, without the filters",
            "/?q=vessel&mode=keyword&asOf=2026-01-15",
        ),
        ("vessel&page=99", "Back to the first page of results", "/?q=vessel"),
        ("%22zyzzyva%22", "Search without the quotation marks", "/?q=zyzzyva"),
    ] {
        let page = request(&server, &format!("/?q={search}")).text();
        let advice = between(&page, "<section class=\"nothing\">", "</section>").unwrap_or_else(|| panic!("{search}"));
        let links: Vec<&str> = advice.split("<a href=\"").skip(1).collect();
        let [link] = links.as_slice() else { panic!("{search}: {advice}") };
        let (to, text) = link.split_once("\">").unwrap();
        assert_eq!((to.replace("&amp;", "&").as_str(), text.split("</a>").next()), (address, Some(step)), "{search}");
    }
    // The message above says what is missing.
    let unknown = request(&server, "/?q=Arden+Rev.+Stat.+%C2%A7+99-9-999&mode=keyword").text();
    assert!(
        between(&unknown, "<section class=\"nothing\">", "</section>").is_none_or(|advice| !advice.contains("<a "))
    );
}

#[test]
fn the_search_box_of_every_header_completes_what_is_typed() {
    let server = open();
    let script = |page: &str| page.split("<script src=\"").skip(1).filter(|src| src.contains("/search.js")).count();
    for path in
        ["/browse", "/coverage", "/docs", "/zoning", "/zoning/XA-MILLBROOK", "/xa/ars/t24", "/cite/x", "/nowhere"]
    {
        let page = request(&server, path).text();
        let header = between(&page, "<form class=\"quick\"", "</form>").unwrap_or_else(|| panic!("{path}"));
        assert!(header.contains("data-suggest=\"/suggest\"") && script(&page) == 1, "{path}: {header}");
    }
    let results = request(&server, "/?q=permit").text();
    assert!(!results.contains("class=\"quick\"") && script(&results) == 1);
    let (law, rest) = results.split_once("<optgroup label=\"Text not loaded\">").unwrap();
    assert!(law.contains("<option value=\"XA\">") && rest.contains("<option value=\"XA-GREYFORD\">"), "{law}");
    assert!(!law.contains("value=\"XA-GREYFORD\""), "{law}");
}
