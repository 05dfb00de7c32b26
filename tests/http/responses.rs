//! Responses of operations, field by field as in the contract.

use hornbook_corpus::ids::NodeOrdinal;
use serde_json::{Value, json};

use crate::operations::NODE;
use crate::sample::ENGINE;
use crate::test_server::{TestServer, generous_tariff};

fn fields(object: &Value) -> Vec<&str> {
    let mut fields: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    fields
}

fn has(object: &Value, wanted: &[&str]) {
    for name in wanted {
        assert!(object.get(name).is_some(), "{name} is missing: {object:#}");
    }
}

struct Client {
    server: TestServer,
    key: String,
}

impl Client {
    fn new() -> Self {
        // Strict, so that a charge is in the ledger when the answer arrives.
        let server = TestServer::start_strict(generous_tariff());
        Self { key: server.create_full_key(), server }
    }

    fn json(&self, path: &str) -> Value {
        let answered = self.server.get(path, &self.key);
        assert_eq!(answered.status, 200, "{path}: {}", answered.text());
        answered.json()
    }
}

#[test]
fn a_search_answers_ranked_results_with_passages_and_pages() {
    let client = Client::new();
    let path = "/api/v1/search?q=return+of+the+security+deposit&limit=3";
    let answered = client.server.get(path, &client.key);
    let body = answered.json();
    assert_eq!(fields(&body), ["asOf", "depth", "mode", "page", "pageSize", "results", "tookMs", "total"]);
    assert_eq!((&body["page"], &body["pageSize"], &body["mode"]), (&1.into(), &3.into(), &"hybrid".into()));
    let results = body["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    has(&results[0], &["nodeId", "citation", "heading", "jurisdiction", "codeBody", "snippet", "score"]);
    assert_eq!(results[0]["citation"], "Arden Rev. Stat. § 24-2-201");
    assert!(results[0]["snippet"].as_str().unwrap().contains("deposit"));
    let scores: Vec<f64> = results.iter().map(|result| result["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(answered.header("link").contains("page=2>; rel=\"next\""), "{}", answered.header("link"));
    assert!(answered.header("server-timing").contains("keyword;dur="));

    let second = client.json(&format!("{path}&page=2"));
    assert_eq!(second["total"], body["total"]);
    assert_ne!(second["results"][0]["nodeId"], body["results"][0]["nodeId"]);
}

#[test]
fn facets_are_returned_on_request_and_filters_apply() {
    let client = Client::new();
    let all = client.json("/api/v1/search?q=permit&facets=true&mode=keyword");
    has(&all["facets"], &["jurisdictions", "tags"]);
    has(&all["facets"]["jurisdictions"][0], &["value", "name", "count"]);
    has(&all["facets"]["tags"][0], &["value", "count"]);
    let arden = client.json("/api/v1/search?q=permit&mode=keyword&jurisdiction=xa&limit=100");
    let counted = all["facets"]["jurisdictions"].as_array().unwrap().iter().find(|facet| facet["value"] == "XA");
    assert_eq!(counted.unwrap()["count"], arden["total"], "a jurisdiction includes the law of its parts");
    let codes = arden["results"].as_array().unwrap().iter().map(|result| result["jurisdiction"].as_str().unwrap());
    assert!(codes.clone().all(|code| code.starts_with("XA")) && codes.clone().any(|code| code != "XA"));

    let federal = ENGINE.snapshot().catalogue.code_bodies.iter().find(|body| body.key == "us/sfc").unwrap();
    let within = client.json(&format!("/api/v1/search?q=permit&codeBody={}", federal.id));
    assert!(within["results"].as_array().unwrap().iter().all(|result| result["jurisdiction"] == "US"));
    let nothing = client.json(&format!("/api/v1/search?q=permit&codeBody={}&jurisdiction=XA", federal.id));
    assert_eq!((&nothing["total"], &nothing["results"]), (&0.into(), &Value::Array(Vec::new())));
}

#[test]
fn a_placeholder_answers_nothing_and_an_unknown_filter_is_refused() {
    let client = Client::new();
    assert_eq!(client.json("/api/v1/search?q=permit&jurisdiction=XA-GREYFORD")["total"], 0);
    for (query, parameter, call) in [
        ("q=a&jurisdiction=ZZ", "jurisdiction", "/api/v1/coverage"),
        ("q=a&codeBody=6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e", "codeBody", "/api/v1/code-bodies"),
        ("q=a&page=101&limit=100", "page", "10000"),
        ("q=a&limit=101", "limit", "100"),
    ] {
        let error =
            client.server.get(&format!("/api/v1/search?{query}"), &client.key).expect_error(422, "validation_error");
        assert_eq!(error["details"][0]["parameter"], parameter);
        assert!(error["details"][0]["message"].as_str().unwrap().contains(call), "{error:#}");
    }
    client.json("/api/v1/search?q=a&page=100&limit=100");
}

#[test]
fn a_node_has_three_formats_and_a_304_is_free() {
    let client = Client::new();
    let path = format!("/api/v1/node/{}", *NODE);
    let answered = client.server.get(&path, &client.key);
    let node = answered.json();
    has(&node, &["id", "citation", "heading", "text", "breadcrumb", "provenance", "jurisdiction", "codeBody"]);
    has(&node, &["codeBodyId", "level", "status", "path", "parent", "previous", "next", "childCount", "tags"]);
    has(&node, &["notes", "sourceCredit", "references"]);
    assert_eq!((&node["id"], &node["citation"]), (&NODE.as_str().into(), &"Arden Rev. Stat. § 12-2-104".into()));
    assert_eq!(node["breadcrumb"][0], "Arden Revised Statutes");
    assert_eq!(
        fields(&node["provenance"]),
        [
            "contentHash",
            "currentThrough",
            "edition",
            "license",
            "officialUrl",
            "publisher",
            "retrievedAt",
            "snapshot",
            "sourceUrl"
        ]
    );
    // The plan names the container of the section in its address.
    assert_eq!(node["provenance"]["officialUrl"], "https://example.org/hornbook-sample/ars/chapter-2/12-2-104");
    let next = client.json(&format!("/api/v1/node/{}", node["next"]["id"].as_str().unwrap()));
    assert_eq!(next["previous"]["id"], node["id"]);

    let tag = answered.header("etag").to_owned();
    let before = answered.header_number("x-research-allotment-remaining");
    let bearer = format!("Bearer {}", client.key);
    let known = client.server.get_with(&path, &[("Authorization", &bearer), ("If-None-Match", &tag)]);
    assert_eq!((known.status, known.body.len(), known.header("etag")), (304, 0, tag.as_str()));
    let markdown = client.server.get_with(&path, &[("Authorization", &bearer), ("Accept", "text/markdown")]);
    assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8");
    assert!(markdown.text().starts_with("# Arden Rev. Stat. § 12-2-104 "), "{}", markdown.text());
    assert_ne!(markdown.header("etag"), tag);
    assert_eq!(
        markdown.header_number("x-research-allotment-remaining"),
        before - 2,
        "the 304 was free, the next was not"
    );
    let text = client.server.get(&format!("{path}?format=txt"), &client.key);
    assert!(text.text().contains(node["text"].as_str().unwrap()));
}

#[test]
fn repealed_law_is_marked_in_every_format() {
    let client = Client::new();
    let outline = &ENGINE.snapshot().outline;
    let repealed =
        (0..outline.len()).map(NodeOrdinal).find(|node| outline.status(*node).as_str() == "repealed").unwrap();
    let path = format!("/api/v1/node/{}", outline.id(repealed).unwrap());
    let node = client.json(&path);
    assert_eq!(node["status"], "repealed");
    for format in ["md", "txt"] {
        let text = client.server.get(&format!("{path}?format={format}"), &client.key).text();
        let (standing, law) = (text.find("Status: repealed").unwrap(), text.find(node["text"].as_str().unwrap()));
        assert!(law.is_none_or(|law| standing < law), "{text}");
        assert!(text.contains(node["provenance"]["publisher"].as_str().unwrap()));
        assert!(text.contains(node["provenance"]["contentHash"].as_str().unwrap()));
        for note in node["notes"].as_array().unwrap().iter().filter(|_| format == "md") {
            assert!(text.contains(note["text"].as_str().unwrap()), "{text}");
        }
    }
    let living = client.server.get(&format!("/api/v1/node/{}?format=md", *NODE), &client.key).text();
    assert!(living.contains("**Status: in force**\n"), "{living}");
}

#[test]
fn references_lead_both_ways_and_page_by_page() {
    let client = Client::new();
    let node = client.json(&format!("/api/v1/node/{}", *NODE));
    let (out, into) = (&node["references"]["out"], &node["references"]["in"]);
    let cited: Vec<&str> = out["nodes"].as_array().unwrap().iter().map(|n| n["citation"].as_str().unwrap()).collect();
    let numbers = ["12-2-102", "12-2-104a", "12-1-105"];
    assert_eq!(cited, numbers.map(|number| format!("Arden Rev. Stat. § {number}")), "in the order of mention");
    assert_eq!(out["total"], 3);
    assert!(into["total"].as_u64().unwrap() > 1, "{into:#}");

    // Page by page, the result is the same as in one page.
    let path = format!("/api/v1/node/{}/references", *NODE);
    let total = into["total"].as_u64().unwrap();
    let whole = client.json(&format!("{path}?direction=in&limit=100"));
    assert_eq!(fields(&whole), ["direction", "id", "nodes", "page", "pageSize", "total"]);
    assert_eq!(
        whole["nodes"].as_array().unwrap()[..into["nodes"].as_array().unwrap().len()],
        into["nodes"].as_array().unwrap()[..]
    );
    let pages = (1..=total).map(|page| client.json(&format!("{path}?direction=in&limit=1&page={page}")));
    let one_by_one: Vec<Value> = pages.map(|page| page["nodes"][0].clone()).collect();
    assert_eq!(whole["nodes"], Value::Array(one_by_one));
    let first = client.server.get(&format!("{path}?direction=in&limit=1"), &client.key);
    assert!(first.header("link").contains("page=2>; rel=\"next\""), "{}", first.header("link"));
    let beyond = client.json(&format!("{path}?page=500"));
    assert_eq!((&beyond["nodes"], &beyond["total"]), (&Value::Array(Vec::new()), &3.into()));
    let too_far = client.server.get(&format!("{path}?page=501"), &client.key).expect_error(422, "validation_error");
    assert_eq!(too_far["details"][0]["parameter"], "page", "501 x 20 is beyond result 10,000");

    // Every citing provision lists this one as cited.
    for link in into["nodes"].as_array().unwrap() {
        let citing = client.json(&format!("/api/v1/node/{}/references?limit=100", link["id"].as_str().unwrap()));
        assert!(citing["nodes"].as_array().unwrap().iter().any(|cited| cited["id"] == node["id"]), "{citing:#}");
    }
    // A container cites nothing.
    let container = client.json(&format!("/api/v1/node/{}", node["parent"]["id"].as_str().unwrap()));
    assert_eq!(container["references"]["out"], serde_json::json!({ "total": 0, "nodes": [] }));
}

#[test]
fn several_nodes_cost_one_each_and_missing_ones_nothing() {
    let client = Client::new();
    let children = client.json(&format!("/api/v1/browse?codeBodyId={}", ENGINE.snapshot().catalogue.code_bodies[0].id));
    let other = children["nodes"][0]["id"].as_str().unwrap();
    let nobody = crate::operations::UNKNOWN_NODE_ID;
    let path = format!("/api/v1/nodes?ids={},{other},{nobody},{}", *NODE, *NODE);
    let answered = client.server.get(&path, &client.key);
    let body = answered.json();
    assert_eq!(body["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(body["missing"][0], nobody);
    assert_eq!(answered.header_number("x-credits-cost"), 2);
}

#[test]
fn browsing_leads_from_code_bodies_down_to_every_provision() {
    let client = Client::new();
    let bodies = client.json("/api/v1/code-bodies");
    has(&bodies["codeBodies"][0], &["id", "name", "jurisdiction"]);
    let body = bodies["codeBodies"].as_array().unwrap().iter().find(|body| body["name"] == "Arden Revised Statutes");
    let body = body.unwrap()["id"].as_str().unwrap().to_owned();
    let mut waiting = vec![format!("/api/v1/browse?codeBodyId={body}")];
    let mut provisions = 0;
    while let Some(path) = waiting.pop() {
        for node in client.json(&path)["nodes"].as_array().unwrap() {
            has(node, &["id", "heading", "citation"]);
            let id = node["id"].as_str().unwrap();
            match node["childCount"].as_u64().unwrap() {
                0 => provisions += 1,
                _ => waiting.push(format!("/api/v1/browse?codeBodyId={body}&parent={id}")),
            }
        }
    }
    let held = ENGINE.snapshot().catalogue.code_bodies.iter().find(|held| held.id.to_string() == body);
    assert_eq!(provisions, held.unwrap().provisions);

    // Page by page, the result is the same as in one page.
    let path = format!("/api/v1/browse?codeBodyId={body}");
    let whole = client.json(&path);
    assert_eq!(fields(&whole), ["nodes", "page", "pageSize", "total"]);
    let total = whole["nodes"].as_array().unwrap().len();
    assert!(total > 1);
    assert_eq!((&whole["pageSize"], &whole["total"]), (&json!(1000), &json!(total)));
    let pages = (1..=total).map(|page| client.json(&format!("{path}&limit=1&page={page}")));
    let one_by_one: Vec<Value> = pages.map(|page| page["nodes"][0].clone()).collect();
    assert_eq!(whole["nodes"], Value::Array(one_by_one));
    let first = client.server.get(&format!("{path}&limit=1"), &client.key);
    assert!(first.header("link").contains("page=2>; rel=\"next\""), "{}", first.header("link"));
    assert!(first.header("link").contains(&format!("page={total}>; rel=\"last\"")), "{}", first.header("link"));
    let beyond = client.json(&format!("{path}&limit=1&page={}", total + 1));
    assert_eq!((&beyond["nodes"], &beyond["total"]), (&json!([]), &json!(total)));
    client.server.get(&format!("{path}&limit=1001"), &client.key).expect_error(422, "validation_error");

    let federal = ENGINE.snapshot().catalogue.code_bodies.iter().find(|body| body.key == "us/sfc").unwrap().id;
    let foreign = format!("/api/v1/browse?codeBodyId={federal}&parent={}", *NODE);
    let error = client.server.get(&foreign, &client.key).expect_error(422, "validation_error");
    assert_eq!(error["details"][0]["parameter"], "parent");
}

#[test]
fn a_layer_is_sent_as_it_is_stored_and_its_zones_lead_to_provisions() {
    let client = Client::new();
    let path = "/api/v1/gis/xa-port-arden";
    let answered = client.server.get(path, &client.key);
    let layer = answered.json();
    assert_eq!(fields(&layer), ["citationQuality", "featureCount", "geojson", "shortCode", "status"]);
    assert_eq!((&layer["status"], &layer["citationQuality"]), (&"published".into(), &"linked".into()));
    assert_eq!(answered.header_number("x-credits-cost"), 5);
    let zone = &layer["geojson"]["features"][0]["properties"];
    let node = client.json(&format!("/api/v1/node/{}", zone["nodeId"].as_str().unwrap()));
    assert_eq!(node["citation"], zone["citation"]);

    let bearer = format!("Bearer {}", client.key);
    for encoding in ["gzip", "zstd"] {
        let packed = client.server.get_with(path, &[("Authorization", &bearer), ("Accept-Encoding", encoding)]);
        assert_eq!(packed.header("content-encoding"), encoding);
        assert!(packed.body.len() * 2 < answered.body.len());
    }
    assert_eq!(client.json("/api/v1/gis/XA-MILLBROOK")["citationQuality"], "pending");
}

#[test]
fn coverage_counts_loaded_law_and_lists_missing_law() {
    let coverage = Client::new().json("/api/v1/coverage");
    let wanted =
        ["asOf", "jurisdictions", "publishedGisLayers", "totalJurisdictions", "totalNodes", "totalSearchableChunks"];
    assert_eq!(fields(&coverage), wanted);
    let counts = &ENGINE.snapshot().manifest.counts;
    assert_eq!(coverage["totalNodes"], counts.nodes);
    assert_eq!(coverage["totalSearchableChunks"], counts.chunks);
    assert_eq!(coverage["publishedGisLayers"], 2);
    let entry = |code: &str| {
        let entries = coverage["jurisdictions"].as_array().unwrap();
        entries.iter().find(|entry| entry["shortCode"] == code).unwrap().clone()
    };
    let port = entry("XA-PORT-ARDEN");
    has(&port, &["name", "level", "nodeCount", "searchableChunks", "placeholder"]);
    assert_eq!((&port["gisStatus"], &port["gisCitationQuality"]), (&"published".into(), &"linked".into()));
    assert_eq!(port["parent"], "XA");
    assert_eq!((&entry("VA")["placeholder"], &entry("VA")["gisStatus"]), (&true.into(), &"none".into()));
    assert_eq!(port["codeBodies"][0]["lacks"], "the tables of fees");
    assert!(entry("XA")["codeBodies"][0].get("lacks").is_none());
    let parts = &port["codeBodies"][0]["parts"];
    assert_eq!(fields(parts), ["expected", "level", "loaded", "missing"]);
    assert_eq!((&parts["level"], &parts["expected"]), (&"title".into(), &Value::Null));
    assert!(parts["loaded"].as_array().unwrap().contains(&"17".into()), "{parts}");
    assert_eq!(entry("VA")["codeBodies"], json!([]));
}

#[test]
fn an_account_sees_what_it_spent_and_what_it_can_buy() {
    let client = Client::new();
    client.json("/api/v1/coverage");
    let me = client.json("/api/v1/me");
    has(&me, &["tier", "creditsRemaining", "rateLimit", "ledger", "upgradeOptions"]);
    assert_eq!(me["tier"], "free");
    assert_eq!(fields(&me["rateLimit"]), ["requestsPerDay", "requestsPerMinute"]);
    let entry = &me["ledger"][0];
    let names = ["at", "balanceAfter", "credits", "fromAllotment", "id", "keyPrefix", "kind", "note", "operation"];
    assert_eq!(fields(entry), names);
    assert_eq!((&entry["kind"], &entry["operation"]), (&json!("usage"), &json!("coverage")));
    assert_eq!((&entry["credits"], &entry["fromAllotment"]), (&json!(-1), &json!(1)));
    assert_eq!(entry["keyPrefix"], client.key[..12]);
    assert_eq!(me["upgradeOptions"][0]["pack"], "starter");
    assert_eq!(me["upgradeOptions"][0]["priceCents"], 500);
    let checkout = client.server.get_with("/api/v1/billing/checkout", &[]).json();
    assert_eq!(checkout["packs"][2]["credits"], 15_000);
}

#[test]
fn an_order_shows_every_stage_to_the_holder_of_its_token() {
    let client = Client::new();
    let order =
        client.json(&crate::operations::order_status_path(&client.server, "/api/v1/formation/status/{orderId}"));
    let names = ["createdAt", "entityName", "entityType", "jurisdiction", "orderId", "stages", "state", "updatedAt"];
    assert_eq!(fields(&order), names);
    assert_eq!((&order["state"], &order["entityName"]), (&json!("details"), &json!("Arden Ferries LLC")));
    let opened = &order["createdAt"];
    assert!(opened.as_str().unwrap().ends_with('Z') && order["updatedAt"] == *opened, "{order:#}");
    let stages = order["stages"].as_array().unwrap();
    assert_eq!(stages[0], json!({ "stage": "details", "status": "current", "at": opened }));
    let rest: Vec<&str> = stages[1..].iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(rest, ["payment", "setup", "final_review", "filing", "completed"]);
    assert!(stages[1..].iter().all(|stage| stage["status"] == "pending" && stage["at"].is_null()), "{order:#}");
}

#[test]
fn a_retry_with_the_same_idempotency_key_is_charged_once() {
    let client = Client::new();
    let bearer = format!("Bearer {}", client.key);
    // A copy that arrives before the first one's debit is durable is refused as overloaded, so it is retried.
    let call = |path: &str| loop {
        let answered = client.server.get_with(path, &[("Authorization", &bearer), ("Idempotency-Key", "run-1")]);
        if answered.status != 503 {
            return answered;
        }
        answered.expect_error(503, "overloaded");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let first = call("/api/v1/search?q=water&limit=2");
    let again = call("/api/v1/search?limit=2&q=water");
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(first.json()["results"], again.json()["results"]);
    assert_eq!((first.header_number("x-credits-cost"), again.header_number("x-credits-cost")), (1, 0));
    assert_eq!(again.header("idempotency-replayed"), "true");
    call("/api/v1/search?q=fire").expect_error(422, "validation_error");
}

#[test]
fn a_citation_is_resolved_with_its_subdivision() {
    let client = Client::new();
    let answers = client.json("/api/v1/resolve?citation=arden+rev+stat+24-2-201(b)(2)");
    assert_eq!(answers["answers"][0]["answer"], "resolved");
    assert_eq!(answers["answers"][0]["subdivision"], serde_json::json!(["b", "2"]));
}

#[test]
fn a_place_in_the_query_is_understood_and_named() {
    let client = Client::new();
    let search = |query: &str| client.json(&format!("/api/v1/search?q={query}"));
    let narrowed = search("fence+height+in+Port+Arden");
    let understood = &narrowed["understood"];
    assert_eq!(fields(understood), ["as", "jurisdiction", "name", "words"]);
    assert_eq!((&understood["jurisdiction"], &understood["as"]), (&"XA-PORT-ARDEN".into(), &"filter".into()));
    assert_eq!((&understood["name"], &understood["words"]), (&"Port Arden".into(), &"in Port Arden".into()));
    assert_eq!(narrowed["total"], search("fence+height&jurisdiction=XA-PORT-ARDEN")["total"]);
    let others =
        ["fence+height", "fence+height+in+Port+Arden&exact=true", "fence+height+in+Port+Arden&jurisdiction=US"];
    for query in others {
        assert_eq!(search(query)["understood"], Value::Null, "{query}");
    }
    assert_eq!(search("must+a+Port+Arden+owner+build+a+fence")["understood"]["as"], "preference");

    let missing = search("fence+height+in+Greyford");
    assert_eq!((&missing["understood"], &missing["notHere"][0]["citation"]), (&Value::Null, &Value::Null));
    assert_eq!(missing["notHere"][0]["answer"], "placeholder");
    assert_eq!(missing["notHere"][0]["message"], "Greyford is listed, but this corpus does not have its law yet");
}

#[test]
fn queries_are_completed_and_misspellings_corrected() {
    let client = Client::new();
    let body = client.json("/api/v1/suggest?q=secur&limit=3");
    assert_eq!(fields(&body), ["didYouMean", "suggestions"]);
    let suggestions = body["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 3);
    let days = ["effectiveFrom", "effectiveTo", "currentThrough"];
    let always = fields(&suggestions[0]).into_iter().filter(|field| !days.contains(field));
    assert_eq!(always.collect::<Vec<_>>(), ["citation", "count", "isGuess", "kind", "nodeId", "status", "text", "url"]);
    assert!(suggestions[0]["text"].as_str().unwrap().to_lowercase().starts_with("secur"), "{body:#}");
    let node = client.json(&format!("/api/v1/node/{}", suggestions[0]["nodeId"].as_str().unwrap()));
    assert_eq!(node["citation"], suggestions[0]["citation"]);

    let misspelt = client.json("/api/v1/suggest?q=securty+depo");
    assert_eq!(misspelt["didYouMean"], "security depo");
    assert_eq!(misspelt["suggestions"][0]["isGuess"], true);
    assert_eq!(client.json("/api/v1/suggest?q=security")["didYouMean"], Value::Null);

    let search = |query: &str| client.json(&format!("/api/v1/search?q={query}"));
    for quoted in ["deposit+%22of+the%22", "deposit+-%22of+the%22"] {
        let notice = search(quoted)["notices"][0].as_str().unwrap().to_owned();
        assert!(notice.contains("only common words"), "{quoted}: {notice}");
    }
    assert_eq!(search("%22security+deposit%22+-%22of+the+deposit%22")["notices"], Value::Null);
    assert_eq!(search("secuirty+depositt")["correctedQuery"], "security deposit");
    assert_eq!(search("secuirty+depositt&exact=true")["correctedQuery"], Value::Null);
    assert_eq!(search("security+deposit")["correctedQuery"], Value::Null);

    // The sample has no sentence encoder.
    for depth in ["fast", "auto"] {
        assert_eq!(search(&format!("may+my+landlord+keep+it?&depth={depth}"))["depth"], "fast");
    }
    let refused =
        client.server.get("/api/v1/search?q=fence&depth=deep", &client.key).expect_error(422, "validation_error");
    assert_eq!(refused["details"][0]["parameter"], "depth");
    assert!(refused["details"][0]["message"].as_str().unwrap().contains("without a sentence encoder"), "{refused}");

    let federal = client.json("/api/v1/suggest?q=arden&jurisdiction=US&limit=20");
    let citations = federal["suggestions"].as_array().unwrap().iter().map(|found| found["citation"].as_str().unwrap());
    assert!(citations.clone().all(|citation| citation.contains("S.F.C.")), "{federal:#}");
    for (query, parameter) in [("q=a&limit=21", "limit"), ("q=a&jurisdiction=ZZ", "jurisdiction")] {
        let error =
            client.server.get(&format!("/api/v1/suggest?{query}"), &client.key).expect_error(422, "validation_error");
        assert_eq!(error["details"][0]["parameter"], parameter);
    }
}
