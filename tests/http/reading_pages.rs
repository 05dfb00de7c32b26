//! Reading pages: what comes before the text, long provisions, and what is on paper.

use serde_json::{Value, json};

use crate::pages::{open, page_of_citation, request, serving};

#[test]
fn status_banners_precede_the_text() {
    let section = |number: &str, more: Value| {
        let mut line = json!({ "key": format!("s{number}"), "level": "section", "number": number,
            "heading": format!("Heading {number}"), "citation": format!("Code § {number}"), "text": "The law begins here." });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let other =
        json!([{ "label": "Effective July 1, 2031", "effectiveFrom": "2031-07-01", "text": "The law of later." }]);
    let (server, _data) = serving(&[
        section("1", json!({ "status": "repealed" })),
        section("2", json!({ "effectiveFrom": "2030-01-01" })),
        section("3", json!({ "wordings": other })),
        section("4", json!({})),
        section("5", json!({ "effectiveFrom": "1975-07-01", "notes": [{ "topic": "Historical Notes", "text": "" }] })),
    ]);
    for (citation, said) in [
        ("Code § 1", "No longer in force: repealed."),
        (
            "Code § 2",
            "<p class=\"banner mild\" role=\"note\">Takes effect on <time datetime=\"2030-01-01\">January 1, 2030</time>.",
        ),
        // An old date gets no banner.
        (
            "Code § 5",
            "<p class=\"also\" role=\"note\">In effect since <time datetime=\"1975-07-01\">July 1, 1975</time>.",
        ),
        ("Code § 3", "There is another wording under this citation, <a href=\"#wordings\">below</a>"),
    ] {
        let page = page_of_citation(&server, citation);
        let banner = page.find(said).unwrap_or_else(|| panic!("{citation} does not say {said}: {page}"));
        assert!(banner < page.find("class=\"text\"").unwrap(), "{citation}");
    }
    let titled = page_of_citation(&server, "Code § 5");
    assert!(titled.contains("<h3>Historical Notes</h3>"), "a note without text is a title: {titled}");
    assert!(page_of_citation(&server, "Code § 3").contains("id=\"wordings\"><h2>Effective July 1, 2031</h2>"));
    let plain = page_of_citation(&server, "Code § 4");
    assert!(!plain.contains("class=\"banner"), "{plain}");
    assert!(plain.contains("rel=\"prev\"") && plain.contains("aria-label=\"Place in the code\""));
    let repealed = request(&server, "/?q=heading").text();
    assert!(repealed.contains("<span class=\"gone\">repealed</span>"), "{repealed}");
}

#[test]
fn long_provisions_have_contents_and_lazy_parts() {
    let paragraph = "The director shall keep a record of every vessel that enters the harbor. ".repeat(40);
    let text: Vec<String> = (0..100_u8).map(|place| format!("({}) {paragraph}", label_letters(place))).collect();
    let text = text.join("\n");
    assert!(text.len() > 280_000);
    let line = json!({ "key": "s1", "level": "section", "number": "1", "heading": "Records", "citation": "Code § 1", "text": text });
    let (server, _data) = serving(&[line]);
    let page = page_of_citation(&server, "Code § 1");
    let (contents, behind) = page.split_once("class=\"contents\"").unwrap().1.split_once("</details>").unwrap();
    assert_eq!(contents.matches("<li><a href=\"#").count(), 100, "{contents}");
    assert!(contents.contains("<a href=\"#c\"><span class=\"label\">(c)</span> The director shall keep"), "{contents}");
    assert!(behind.contains("<div class=\"text long\">"));
    assert_eq!(behind.split("</article>").next().unwrap().matches("<section><p id=\"").count(), 100);
    assert!(page.len() < text.len() + 60_000, "{} bytes", page.len());
}

/// `a` to `z`, then `aa` to `zz`, as drafters continue.
fn label_letters(place: u8) -> String {
    let letter = char::from(b'a' + place % 26);
    String::from(letter).repeat(usize::from(place / 26) + 1)
}

/// The stylesheet shows this line on paper alone; `tests/browser` looks at the printed page.
#[test]
fn paper_names_the_address_the_edition_and_the_day() {
    let server = open();
    let line = |path: &str| {
        let page = request(&server, path).text();
        let line = page.split("<p class=\"paper\">").nth(1).unwrap_or_else(|| panic!("{path}: {page}"));
        line.split("</p>").next().unwrap().to_owned()
    };
    let path = "/xa/ars/t24/c2/s24-2-201";
    let dated = line(&format!("{path}?asOf=2026-07-02"));
    assert!(dated.starts_with(&format!("https://law.example{path}?asOf=2026-07-02<br>")), "{dated}");
    assert!(dated.contains("Shown as of <time datetime=\"2026-07-02\">July 2, 2026</time>."), "{dated}");
    let today = line(path);
    assert!(today.starts_with(&format!("https://law.example{path}<br>")) && today.contains("Shown as of"), "{today}");
    let edition = today.split("Edition: ").nth(1).unwrap().split(". ").next().unwrap();
    assert!(request(&server, path).text().contains(&format!("<dt>Edition</dt><dd>{edition}</dd>")), "{today}");
    assert!(today.ends_with("<span data-printed></span>"), "the script adds the day of printing: {today}");
}

/// The API keeps its kinds of answers; pages have one term for each.
#[test]
fn pages_name_a_citation_without_text_in_one_way() {
    let server = open();
    let key = server.create_full_key();
    let cases = [
        ("Arden Rev. Stat. § 99-9-999", "not_held", "Not found here"),
        ("Arden Rev. Stat. § 24-2-299", "not_held", "Not found here"),
        ("17 U.S.C. § 107", "outside_coverage", "Text not loaded"),
        ("Va. Code § 13.1-345", "placeholder", "Text not loaded"),
    ];
    for (citation, kind, verdict) in cases {
        let encoded = citation.replace(' ', "%20").replace('§', "%C2%A7");
        let answer = server.get(&format!("/api/v1/resolve?citation={encoded}"), &key).json();
        assert_eq!(answer["answers"][0]["answer"], kind, "{citation}: {answer:#}");
        let page = request(&server, &format!("/cite/{encoded}")).text();
        let main = page.split("<main").nth(1).unwrap();
        assert!(main.contains(&format!("<h1>{verdict}: <q>")), "{citation}: {main}");
        assert!(main.contains(&format!("<strong>{verdict}.</strong>")), "{citation}: {main}");
        let searched = request(&server, &format!("/?q={encoded}")).text();
        assert!(searched.contains(&format!("<strong>{verdict}.</strong>")), "{citation}: {searched}");
    }
}

#[test]
fn pages_say_text_not_loaded_and_no_other_term() {
    let server = open();
    for path in ["/", "/?q=noise&jurisdiction=XA-GREYFORD", "/coverage", "/zoning", "/zoning/XA-MILLBROOK"] {
        let page = request(&server, path).text();
        let main = page.split("<main").nth(1).unwrap().to_lowercase();
        assert!(main.contains("text not loaded"), "{path}");
        for other in ["pending", "no law yet", "nothing yet", "not loaded yet", "placeholder jurisdiction"] {
            assert!(!main.contains(&format!(">{other}")) && !main.contains(&format!(" {other}")), "{path}: {other}");
        }
    }
}

#[test]
fn notes_are_named_notes_and_history() {
    let server = open();
    let page = request(&server, "/xa/ars/t5/c2/s5-2-205").text();
    assert!(page.contains("<h2 id=\"notes\">Notes and history</h2>"), "{page}");
    assert!(page.contains("This wording was in effect until <time datetime=\"2019-06-30\">June 30, 2019</time>."));
}
