//! Zoning maps: their pages, their parts, and who may load them.

use std::fs;

use hornbook_corpus::zoning::layer::LayerStatus;
use serde_json::Value;

use crate::browser::{Browser, between, start_with_account_pages};
use crate::compression::decompressed;
use crate::pages::{BROWSER, build_into, is_page, open, page_mounts, request, start_with_closed_search};
use crate::sample::ENGINE;
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

const MILLBROOK: &str = "/zoning/XA-MILLBROOK";

/// The base path of the map parts on a page.
fn map_parts_path_of(page: &str) -> String {
    between(page, "data-parts=\"", "\"").unwrap().to_owned()
}

fn map_parts_path(server: &TestServer, path: &str) -> String {
    map_parts_path_of(&request(server, path).text())
}

fn zones(server: &TestServer, parts: &str) -> Value {
    request(server, &format!("{parts}/zones")).json()
}

/// The tile of this zoom level that contains the centre of the layer.
fn centre_tile(zones: &Value, z: u32) -> (u32, u32) {
    let degrees = |at: usize| zones["bbox"][at].as_f64().unwrap();
    let (lon, lat) = ((degrees(0) + degrees(2)) / 2.0, (degrees(1) + degrees(3)) / 2.0);
    let side = f64::from(1_u32 << z);
    let y = (1.0 - lat.to_radians().tan().asinh() / std::f64::consts::PI) / 2.0;
    (((lon + 180.0) / 360.0 * side) as u32, (y * side) as u32)
}

fn tile_path(parts: &str, zones: &Value, z: u32) -> String {
    let (x, y) = centre_tile(zones, z);
    format!("{parts}/{z}/{x}/{y}")
}

#[test]
fn the_list_has_every_published_layer_with_its_counts_and_leads_to_its_map() {
    let server = open();
    let list = request(&server, "/zoning");
    is_page(&list, "/zoning");
    let coverage = request(&server, "/coverage").text();
    let mut count = 0;
    for layer in &ENGINE.snapshot().zoning {
        let entry = layer.entry();
        let link = format!("<a href=\"/zoning/{}\">", entry.short_code);
        assert_eq!(list.text().contains(&link), entry.status == LayerStatus::Published, "{}", entry.short_code);
        assert!(coverage.contains(&link), "{}", entry.short_code);
        assert_eq!(request(&server, &format!("/zoning/{}", entry.short_code)).status, 200);
        count += 1;
    }
    assert!(count >= 2);
    let millbrook = ENGINE.snapshot().zoning.layer(&"XA-MILLBROOK".parse().unwrap()).unwrap().entry();
    let linked = format!("{} of {}", millbrook.zones.len() - 3, millbrook.zones.len());
    assert!(list.text().contains(&format!("<td>{linked}; ")) && list.text().contains(">all zones<"), "{}", list.text());
    assert!(!list.text().contains("Each zone leads to"), "it would not be true");
    assert!(
        list.text().contains("<a href=\"/zoning\" aria-current=\"page\">Zoning</a>"),
        "the navigation does not mark the page"
    );
}

/// A citation as pages render it: the number stays on the line of the section sign.
fn rendered_citation(citation: &str) -> String {
    citation.replace('§', "<span class=\"whole\">§") + "</span>"
}

#[test]
fn the_table_has_every_zone_with_the_provision_that_defines_it_or_why_there_is_none() {
    let server = open();
    for layer in &ENGINE.snapshot().zoning {
        let entry = layer.entry();
        let page = request(&server, &format!("/zoning/{}", entry.short_code)).text();
        for zone in &entry.zones {
            let link = format!("<a href=\"/zoning/{}?zone={}\" data-zone=", entry.short_code, zone.code);
            assert!(page.contains(&link), "{}", zone.code);
            if let Some(node) = zone.node_id {
                let link =
                    format!("<a href=\"/law/{node}\">{}</a>", rendered_citation(zone.citation.as_deref().unwrap()));
                assert!(page.contains(&link), "{} has no {link}", zone.code);
            }
        }
        let pending = page.matches("<span class=\"gone\">text not loaded</span>").count();
        assert_eq!(pending, entry.placeholders.len(), "{}", entry.short_code);
    }
    let millbrook = request(&server, MILLBROOK).text();
    let held_nowhere = rendered_citation("Millbrook Town Code § 165-22");
    assert!(millbrook.contains(&format!("its provision is not in this snapshot: {held_nowhere}")));
    assert!(
        millbrook.contains("<span class=\"gone\">text not loaded</span> the code is not in the table of zones"),
        "{millbrook}"
    );
    assert!(millbrook.contains("Text not loaded: no provision is linked yet"), "the legend explains the hatching");
}

#[test]
fn the_zone_parameter_ignores_case_and_reports_unknown_zones() {
    let server = open();
    let page = request(&server, "/zoning/XA-PORT-ARDEN?zone=mu").text();
    let chosen = between(&page, "id=\"zone\"", "</section>").unwrap();
    assert!(
        chosen.contains(">MU") && chosen.contains(&rendered_citation("Port Arden Mun. Code § 17.24.030")),
        "{chosen}"
    );
    assert_eq!(page.matches("aria-current=\"true\"").count(), 1);
    let unknown = request(&server, "/zoning/XA-PORT-ARDEN?zone=%3Cb%3E").text();
    assert!(unknown.contains("Nothing on this map is called <strong>&lt;b&gt;</strong>."), "{unknown}");
    assert!(between(&unknown, "id=\"zone\"", ">").unwrap().contains("hidden"));
}

#[test]
fn a_place_is_found_by_coordinates_and_by_what_the_publisher_wrote_on_it() {
    let server = open();
    let page = |asked: &str| request(&server, &format!("/zoning/XA-PORT-ARDEN?zone={asked}")).text();
    let chosen = |page: &str| between(page, "id=\"zone\"", "</section>").unwrap().to_owned();
    // In the first area of the layer, a corner of which is given.
    let at = page("44.0565,+-124.2167");
    assert!(at.contains("At <strong>44.0565, -124.2167</strong>: <a href=\"/zoning/XA-PORT-ARDEN?zone=C-1\">"), "{at}");
    assert!(chosen(&at).contains(">C-1") && at.contains("data-shown=\"-124.2167,44.0565,-124.2167,44.0565\""), "{at}");
    assert!(page("44.0565N+124.2167W").contains("<strong>44.0565, -124.2167</strong>: "));
    let nowhere = page("41.88,-87.63");
    assert!(nowhere.contains("is not on this map") && chosen(&nowhere).contains("hidden"), "{nowhere}");

    let market = page("creekside+market");
    assert!(market.contains("<strong>Creekside Market</strong>, 1 area: <a href="), "{market}");
    assert!(chosen(&market).contains(">C-1") && market.contains("data-shown=\""), "{market}");
    let industrial = page("industrial");
    assert!(industrial.contains("Zones called <strong>industrial</strong>: "), "{industrial}");
    assert!(chosen(&industrial).contains("hidden"), "several zones have the word");
}

#[test]
fn a_layer_of_which_no_zone_is_linked_has_no_hatching() {
    let server = open();
    let picture = |path: &str| {
        let page = request(&server, path).text();
        let parts = map_parts_path_of(&page);
        (page, request(&server, &format!("{parts}/overview/light")).text())
    };
    let (page, drawn) = picture(MILLBROOK);
    assert!(page.contains("data-hatched") && page.contains("url(#hatch)") && drawn.contains("fill=\"url(#hatch)\""));
    let data = tempfile::tempdir().unwrap();
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    let plan = "name = \"Unlinked\"\n[[jurisdiction]]\ncode = \"XB\"\nname = \"B\"\nlevel = \"state\"\n\
                [[jurisdiction]]\ncode = \"XB-A\"\nparent = \"XB\"\nname = \"A\"\nlevel = \"city\"\n\
                [[source]]\nformat = \"geojson-zoning\"\npath = \"zones.geojson\"\njurisdiction = \"XB-A\"\npublisher = \"A\"\n\
                edition = \"1\"\nretrieved = \"2026-01-01\"\nlicense = \"none\"\nurl = \"https://a.example\"\n\
                [source.zoning]\nzone_property = \"Z\"\nzone = [{ zone = \"A\" }]\n";
    fs::write(sources.join("plan.toml"), plan).unwrap();
    let layer = serde_json::json!({ "type": "FeatureCollection", "features": [{ "type": "Feature", "properties": { "Z": "A" },
        "geometry": { "type": "Polygon", "coordinates": [[[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.0]]] } }] });
    fs::write(sources.join("zones.geojson"), layer.to_string()).unwrap();
    build_into(&sources, data.path());
    server.service.reload_snapshot(data.path(), None).unwrap();
    let (page, drawn) = picture("/zoning/XB-A");
    assert!(page.contains("no zone is linked to the provision that defines it yet"), "{page}");
    assert!(!page.contains("data-hatched") && !page.contains("url(#hatch)") && !drawn.contains("fill=\"url(#hatch)\""));
    assert!(request(&server, "/zoning").text().contains("none: text not loaded"));
}

#[test]
fn tiles_match_the_api_and_are_immutable() {
    let server = open();
    let parts = map_parts_path(&server, MILLBROOK);
    let known = zones(&server, &parts);
    let path = tile_path(&parts, &known, 15);
    let tile = request(&server, &path);
    assert_eq!(tile.status, 200, "{}", tile.text());
    assert_eq!(tile.header("cache-control"), "private, max-age=31536000, immutable");
    assert_eq!(tile.header("content-type"), "application/json");
    let (key, (x, y)) = (server.create_full_key(), centre_tile(&known, 15));
    let api = server.get(&format!("/api/v1/gis/XA-MILLBROOK/tiles/15/{x}/{y}"), &key);
    assert_eq!((api.status, api.header_number("x-credits-cost")), (200, 1));
    assert_eq!(api.json(), tile.json());
    assert!(!tile.json()["features"].as_array().unwrap().is_empty());
    assert_eq!(known, server.get("/api/v1/gis/XA-MILLBROOK/zones", &key).json());
    assert_eq!(known["currentThrough"], "2026-01-01");
    let page = request(&server, "/zoning/XA-MILLBROOK").text();
    assert!(page.contains("current through <time datetime=\"2026-01-01\">"), "{page}");

    let again = server.get_with(&path, &[BROWSER, ("If-None-Match", tile.header("etag"))]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("cache-control"), tile.header("cache-control"));
    // From the cache: the same bytes.
    assert_eq!(request(&server, &path).body, tile.body);

    let other = path.replace(&ENGINE.snapshot().manifest.snapshot, "another");
    assert_eq!(request(&server, &other).status, 404);
    assert_eq!(request(&server, &format!("{parts}/3/8/0")).status, 422, "beyond the world");
    assert_eq!(request(&server, &format!("{parts}/19/0/0")).status, 422);
    assert_eq!(request(&server, &format!("{parts}/overview/sepia")).status, 404);
}

fn compressions(server: &TestServer) -> f64 {
    ["gzip", "br", "zstd"]
        .iter()
        .map(|coding| server.metric_value(&format!("hornbook_compressions_total{{coding=\"{coding}\"}}")))
        .sum()
}

#[test]
fn a_part_of_a_map_is_compressed_once_in_each_coding() {
    let server = open();
    let parts = map_parts_path(&server, MILLBROOK);
    let known = zones(&server, &parts);
    let (key, (x, y)) = (format!("Bearer {}", server.create_full_key()), centre_tile(&known, 11));
    let of_api = [BROWSER, ("Authorization", &*key)];
    for (path, headers, is_first) in [
        (format!("{parts}/zones"), &[BROWSER][..], true),
        (format!("{parts}/11/{x}/{y}"), &[BROWSER], true),
        // The API returns the same bytes.
        ("/api/v1/gis/XA-MILLBROOK/zones".to_owned(), &of_api, false),
        (format!("/api/v1/gis/XA-MILLBROOK/tiles/11/{x}/{y}"), &of_api, false),
    ] {
        let get = |coding: &str| server.get_with(&path, &[headers, &[("Accept-Encoding", coding)]].concat());
        let plain = get("identity");
        assert_eq!((plain.status, plain.header("content-encoding")), (200, ""), "{path}");
        assert!(plain.body.len() > 2048, "{path} has {} bytes", plain.body.len());
        let strong = plain.header("etag").to_owned();
        for coding in ["gzip", "br", "zstd"] {
            let before = compressions(&server);
            let first = get(coding);
            assert_eq!(compressions(&server) - before, if is_first { 1.0 } else { 0.0 }, "{path} {coding}");
            let again = get(coding);
            assert_eq!(compressions(&server) - before, if is_first { 1.0 } else { 0.0 }, "{path} {coding}, again");
            for answered in [first, again] {
                assert_eq!((answered.status, answered.header("content-encoding")), (200, coding), "{path}");
                assert_eq!(decompressed(&answered), plain.body, "{path} {coding}");
                assert_eq!(answered.header("etag"), format!("W/{strong}"));
                assert_eq!(answered.header_number("content-length"), answered.body.len() as u64);
            }
            for held in [&strong, &format!("W/{strong}")] {
                let asked = [headers, &[("Accept-Encoding", coding), ("If-None-Match", held)]].concat();
                let known = server.get_with(&path, &asked);
                assert_eq!((known.status, known.body.len()), (304, 0), "{path} {coding} {held}");
            }
        }
        assert_eq!(get("identity").body, plain.body, "{path}");
    }
    // A page, which is not cached, is compressed every time.
    let before = compressions(&server);
    for _ in 0..2 {
        assert_eq!(
            server.get_with(MILLBROOK, &[BROWSER, ("Accept-Encoding", "gzip")]).header("content-encoding"),
            "gzip"
        );
    }
    assert_eq!(compressions(&server) - before, 2.0);
}

#[test]
fn concurrent_requests_build_and_compress_a_map_part_once() {
    const CONCURRENT_REQUESTS: usize = 12;
    let server = open();
    let cut = || server.metric_value("hornbook_stage_seconds_count{stage=\"queue\"}");
    let mut paths = Vec::new();
    for page in [MILLBROOK, "/zoning/XA-PORT-ARDEN"] {
        let parts = map_parts_path(&server, page);
        let layer = &ENGINE.snapshot().zoning.layer(&page[8..].parse().unwrap()).unwrap().entry();
        let bbox = serde_json::json!({ "bbox": layer.bbox.0 });
        paths.extend([tile_path(&parts, &bbox, 10), tile_path(&parts, &bbox, 11)]);
    }
    for path in paths {
        let (cut_before, compressed_before) = (cut(), compressions(&server));
        let together = std::sync::Barrier::new(CONCURRENT_REQUESTS);
        let ask = || {
            together.wait();
            server.get_with(&path, &[BROWSER, ("Accept-Encoding", "br, identity;q=0")])
        };
        let answers: Vec<TestResponse> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..CONCURRENT_REQUESTS).map(|_| scope.spawn(ask)).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for answered in &answers {
            assert_eq!((answered.status, answered.header("content-encoding")), (200, "br"), "{path}");
            assert_eq!(answered.body, answers[0].body, "{path}");
        }
        assert_eq!((cut() - cut_before, compressions(&server) - compressed_before), (1.0, 1.0), "{path}");
    }
}

/// Every feature of a layer is in the tiles, with its own zone.
#[test]
fn the_tiles_of_a_layer_have_all_its_features_with_their_zones() {
    let server = open();
    for code in ["XA-MILLBROOK", "XA-PORT-ARDEN"] {
        let layer = ENGINE.snapshot().zoning.layer(&code.parse().unwrap()).unwrap();
        let parts = map_parts_path(&server, &format!("/zoning/{code}"));
        let known = zones(&server, &parts);
        let (x, y) = centre_tile(&known, 11);
        let mut found = vec![None; layer.entry().feature_count];
        for (x, y) in (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y))) {
            let tile = request(&server, &format!("{parts}/11/{x}/{y}")).json();
            let columns = ["features", "zones", "categories"].map(|name| tile[name].as_array().unwrap().clone());
            for at in 0..columns[0].len() {
                let feature = columns[0][at].as_u64().unwrap() as usize;
                let zone = &known["zones"][columns[1][at].as_u64().unwrap() as usize];
                let category = &known["categories"][columns[2][at].as_u64().unwrap() as usize];
                let placed = &layer.places().unwrap().features()[feature].zone;
                assert_eq!(zone["code"], placed.zone_code.as_str());
                assert_eq!(category["name"].as_str(), placed.category.as_deref());
                assert!(!tile["rings"][at].as_array().unwrap().is_empty());
                found[feature] = Some(());
            }
        }
        assert!(
            found.iter().all(Option::is_some),
            "{code}: {} missing",
            found.iter().filter(|one| one.is_none()).count()
        );
    }
}

#[test]
fn without_scripts_a_picture_is_shown_in_light_and_dark() {
    let server = open();
    let page = request(&server, MILLBROOK).text();
    let parts = map_parts_path_of(&page);
    assert!(page.contains(&format!("<img src=\"{parts}/overview/light\"")));
    for look in ["light", "dark"] {
        let picture = request(&server, &format!("{parts}/overview/{look}"));
        assert_eq!((picture.status, picture.header("content-type")), (200, "image/svg+xml"));
        let text = picture.text();
        assert!(
            text.starts_with("<svg xmlns=") && text.contains("<path id=\"c") && text.contains("url(#hatch)"),
            "{look}"
        );
        assert!(!text.contains("<style") && !text.contains("<script"));
        // The parts overlap, so that there is no visible seam.
        let places = text.split("<svg x=\"").skip(1).map(|part| {
            let numbers = part.split('"').step_by(2).take(4).map(|number| number.parse::<i32>().unwrap());
            numbers.collect::<Vec<_>>()
        });
        let places: Vec<_> = places.collect();
        assert!(places.len() > 1, "the layer needs several parts");
        assert!(places.iter().all(|place| !places.iter().any(|other| place[0] + place[2] == other[0])), "{places:?}");
        assert!(places.iter().all(|place| !places.iter().any(|other| place[1] + place[3] == other[1])), "{places:?}");
    }
}

/// Concurrent requests share one picture, which has a separate rate limit.
#[test]
fn overview_pictures_are_cached_and_rate_limited_separately() {
    let server = start_with_closed_search();
    let parts = map_parts_path(&server, MILLBROOK);
    let path = format!("{parts}/overview/light");
    let tags = std::thread::scope(|scope| {
        let ask = || scope.spawn(|| server.request("GET", &path, &[("Accept-Encoding", "gzip")]));
        let asked: Vec<_> = (0..8).map(|_| ask()).collect();
        let answers = asked.into_iter().map(|thread| thread.join().unwrap());
        answers.map(|answer| (answer.status, answer.header("etag").to_owned(), answer.body)).collect::<Vec<_>>()
    });
    for tag in &tags {
        assert_eq!((tag.0, &tag.1, tag.2.len()), (200, &tags[0].1, tags[0].2.len()), "one picture, one version");
    }
    assert_eq!(server.metric_value("hornbook_stage_seconds_count{stage=\"draw\"}"), 1.0, "drawn once");
    let many = (0..300).filter(|_| request(&server, &path).status == 200).count();
    assert!((100..=130).contains(&many), "{many} pictures in a moment");
    let tile = tile_path(&parts, &zones(&server, &parts), 14);
    assert_eq!(request(&server, &tile).status, 200, "the parts of the map have their own bucket");
}

/// A picture that was compressed once is sent compressed from then on.
#[test]
fn overview_pictures_are_compressed_once_in_each_coding() {
    let server = open();
    let path = format!("{}/overview/light", map_parts_path(&server, MILLBROOK));
    let plain = request(&server, &path);
    assert_eq!((plain.status, plain.header("content-encoding")), (200, ""));
    for coding in ["gzip", "br", "zstd"] {
        let before = compressions(&server);
        for _ in 0..2 {
            let picture = server.get_with(&path, &[BROWSER, ("Accept-Encoding", coding)]);
            assert_eq!((picture.status, picture.header("content-encoding")), (200, coding));
            assert_eq!(decompressed(&picture), plain.body, "{coding}");
        }
        assert_eq!(compressions(&server) - before, 1.0, "{coding}: two requests");
    }
    assert_eq!(server.metric_value("hornbook_stage_seconds_count{stage=\"draw\"}"), 1.0, "drawn once for all of them");
}

#[test]
fn parts_are_not_counted_as_pages() {
    let server = start_with_closed_search();
    let parts = map_parts_path(&server, MILLBROOK);
    let path = tile_path(&parts, &zones(&server, &parts), 14);
    assert!((0..80).all(|_| request(&server, &path).status == 200), "more than the sixty pages of a minute");
    assert_eq!(request(&server, "/browse").status, 200);
}

#[test]
fn a_paid_map_page_includes_its_parts() {
    let server = start_with_account_pages();
    assert_eq!(request(&server, MILLBROOK).status, 401);
    let mut browser = Browser::approved(&server, "ann");
    let page = browser.get(MILLBROOK);
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header_number("x-credits-cost"), 5);
    let text = page.text();
    let (parts, pass) = (map_parts_path_of(&text), between(&text, "data-pass=\"", "\"").unwrap().to_owned());
    assert!(text.contains("data-reads=\"paid\""));
    let zones = format!("{parts}/zones");
    let opened: TestResponse = browser.get(&format!("{zones}?pass={pass}"));
    assert_eq!(opened.status, 200);
    assert!(!opened.headers.contains_key("x-credits-cost"), "the page was paid for");

    // The pass is valid only for this person and this map.
    for (path, why) in [
        (zones.clone(), "no pass"),
        (format!("{zones}?pass=00"), "a bad one"),
        (format!("{}?pass={pass}", zones.replace("MILLBROOK", "PORT-ARDEN")), "of another map"),
    ] {
        assert_eq!(browser.get(&path).status, 403, "{why}");
    }
    assert_eq!(request(&server, &format!("{zones}?pass={pass}")).status, 401, "not signed in");
    let mut other = Browser::approved(&server, "bea");
    assert_eq!(other.get(&format!("{zones}?pass={pass}")).status, 403, "somebody else");
}

#[test]
fn map_parts_are_refused_if_reading_is() {
    let open = open();
    let (parts, closed) = (
        map_parts_path(&open, MILLBROOK),
        TestServer::start_with_options(
            TestServerOptions {
                mounts: |service| page_mounts(service, 0, 0, false),
                ..TestServerOptions::default_for(generous_tariff())
            },
            |_| (),
        ),
    );
    for part in ["zones", "14/1/1", "overview/light"] {
        assert_eq!(request(&closed, &format!("{parts}/{part}")).status, 401, "{part}");
    }
}

#[test]
fn tiles_outside_the_grid_are_refused() {
    let server = open();
    let key = server.create_full_key();
    let refused = server.get("/api/v1/gis/XA-MILLBROOK/tiles/2/4/0", &key).expect_error(422, "validation_error");
    assert!(refused["message"].as_str().unwrap().contains("4 by 4 tiles"), "{refused}");
    server.get("/api/v1/gis/XA-MILLBROOK/tiles/19/0/0", &key).expect_error(422, "validation_error");
    server.get("/api/v1/gis/XA-GREYFORD/tiles/2/0/0", &key).expect_error(404, "not_found");
    server.get("/api/v1/gis/XA-GREYFORD/zones", &key).expect_error(404, "not_found");
}

/// A layer with markup in its names, and with a table of several pages.
#[test]
fn hostile_names_are_shown_and_long_tables_have_pages() {
    let data = tempfile::tempdir().unwrap();
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    let plan = "name = \"Hostile\"\n[[jurisdiction]]\ncode = \"XB\"\nname = \"B\"\nlevel = \"state\"\n[[jurisdiction]]\ncode = \"XB-A\"\nparent = \"XB\"\nname = \"</title><script>alert(1)</script>\"\nlevel = \"city\"\n\
                [[source]]\nformat = \"geojson-zoning\"\npath = \"zones.geojson\"\njurisdiction = \"XB-A\"\npublisher = \"<b>\"\n\
                url = \"javascript:alert(1)\"\nedition = \"1\"\nretrieved = \"2026-01-01\"\nlicense = \"none\"\n\
                [source.zoning]\nstatus = \"published\"\nzone_property = \"Z\"\nname_property = \"N\"\ncategory_property = \"C\"\n\
                zone = [{ zone = \"A\", name = \"A\", category = \"A\" }]\n";
    fs::write(sources.join("plan.toml"), plan).unwrap();
    let features: Vec<Value> = (0..230)
        .map(|at| {
            let west = f64::from(at) * 0.01;
            let ring = [[west, 0.0], [west + 0.01, 0.0], [west + 0.01, 0.01], [west, 0.01], [west, 0.0]];
            serde_json::json!({ "type": "Feature", "geometry": { "type": "Polygon", "coordinates": [ring] }, "properties": {
                "Z": format!("Z{at:03}\"><img src=x>"), "N": "</script><svg onload=alert(1)>\u{202e}", "C": "<iframe>" } })
        })
        .collect();
    let collection = serde_json::json!({ "type": "FeatureCollection", "features": features });
    fs::write(sources.join("zones.geojson"), collection.to_string()).unwrap();
    build_into(&sources, data.path());
    let server = open();
    server.service.reload_snapshot(data.path(), None).unwrap();
    let chosen = "/zoning/XB-A?zone=Z150%22%3E%3Cimg%20src=x%3E";
    for path in ["/zoning", "/coverage", "/zoning/XB-A", chosen, "/zoning/XB-A?zone=%E2%80%AE%3Cimg%3E"] {
        let page = request(&server, path);
        assert_eq!(page.status, 200, "{path}: {}", page.text());
        is_page(&page, path);
        for never in
            ["<img src=x", "<svg onload", "<iframe", "<b>", "alert(1)</script>", "href=\"javascript", "\u{202e}"]
        {
            assert!(!page.text().contains(never), "{path} has {never:?}");
        }
    }
    let rows = |path: &str| request(&server, path).text().matches("data-zone=").count();
    assert_eq!([1, 2, 3, 9].map(|page| rows(&format!("/zoning/XB-A?page={page}"))), [100, 100, 30, 30]);
    let page = request(&server, chosen).text();
    assert!(page.contains("Page 2 of 3") && page.contains("aria-current=\"true\""), "the page that has the zone");
    let parts = map_parts_path_of(&page);
    let picture = request(&server, &format!("{parts}/overview/light")).text();
    assert!(picture.contains("<path") && !picture.contains("img src"));
}
