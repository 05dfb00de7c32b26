//! Watches: what a key watches, what a swap of editions reports to it, and how reports reach a webhook.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hornbook::api::corpus::Corpus;
use hornbook::api::watch_matches::SwapChanges;
use hornbook::watches::{WatchEvent, WatchReporter, WatchThread};
use hornbook_accounts::ids::{KeyId, WatchId};
use hornbook_accounts::watches::{ReportedSwap, WatchRecord, WatchSubject, WebhookPolicy};
use hornbook_base::clock::UnixMillis;
use hornbook_base::hex;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{ChangeKind, LawChange, compare};
use ring::hmac;
use serde_json::{Value, json};

use crate::browser::{Browser, pages};
use crate::editions::{TwoEditions, node_of};
use crate::test_server::{TestServer, TestServerOptions, generous_tariff, wait_until};

/// A server of the older edition of two.
fn server_of(editions: &TwoEditions, webhooks: WebhookPolicy) -> TestServer {
    let options = TestServerOptions { webhooks, mounts: pages, ..TestServerOptions::default_for(generous_tariff()) };
    let server = TestServer::start_with_options(options, |_| ());
    editions.serve_only(&server, &editions.old);
    server
}

type Events = Arc<Mutex<Vec<String>>>;

/// Starts to report, and waits until the served edition counts as reported.
fn reporting(server: &TestServer, data: &Path) -> (WatchThread, Events) {
    let events = Events::default();
    let kept = Arc::clone(&events);
    let thread = WatchThread::start(WatchReporter {
        service: Arc::clone(&server.service),
        data: data.to_owned(),
        tell: Arc::new(move |event: &WatchEvent| kept.lock().unwrap().push(format!("{event:?}"))),
        first_pause: Some(Duration::from_millis(5)),
    });
    (thread.unwrap(), events)
}

fn wait_for_swap(server: &TestServer, number: u32) {
    let reported = || server.accounts.reported_swap().unwrap().is_some_and(|swap| swap.number == number);
    wait_until("the swap is reported", reported);
}

fn post(server: &TestServer, key: &str, path: &str, body: &Value) -> crate::test_server::TestResponse {
    let body = body.to_string();
    server.send_raw(&format!(
        "POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

const WATCHES: &str = "/api/v1/watches";

fn watch(server: &TestServer, key: &str, subject: &Value) -> Value {
    let answer = post(server, key, WATCHES, subject);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn reports(server: &TestServer, key: &str) -> Vec<Value> {
    server.get("/api/v1/watches/changes", key).json()["reports"].as_array().unwrap().clone()
}

#[test]
fn what_a_swap_changed_is_reported_to_the_watches_that_it_concerns() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Off);
    let (key, idle) = (server.create_full_key(), server.create_full_key());
    let (thread, events) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 0);

    let deposit = node_of(&server, &key, "Arden Rev. Stat. § 24-2-203", "");
    let moved = node_of(&server, &key, "Arden Rev. Stat. § 1-2-190", "");
    let title = node_of(&server, &key, "Arden Rev. Stat. tit. 24", "");
    let of_deposit = watch(&server, &key, &json!({ "node": deposit, "name": "the deposit" }));
    assert_eq!(of_deposit["now"]["citation"], "Arden Rev. Stat. § 24-2-203");
    let again = watch(&server, &key, &json!({ "node": deposit }));
    assert_eq!(again, of_deposit, "what is watched already keeps its watch");
    let of_moved = watch(&server, &key, &json!({ "node": moved }));
    let of_title = watch(&server, &key, &json!({ "node": title }));
    let of_number = watch(&server, &key, &json!({ "citation": "Arden Rev Stat 24-2-203(b)" }));
    let of_search = watch(&server, &key, &json!({ "search": { "q": "stamping of plats", "jurisdictions": ["xa"] } }));
    assert_eq!(of_search["search"]["jurisdictions"], json!(["XA"]));
    let quiet = watch(&server, &key, &json!({ "citation": "3 S.F.C. § 823" }));

    editions.serve_only(&server, &editions.new);
    thread.wake();
    wait_for_swap(&server, 1);
    let found = reports(&server, &key);
    let [report] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((&report["from"], &report["to"]), (&json!(editions.old), &json!(editions.new)));
    let changes = report["changes"].as_array().unwrap();
    assert_eq!(report["total"], changes.len());
    let concerning = |watch: &Value| -> Vec<&Value> {
        changes.iter().filter(|change| change["watches"].as_array().unwrap().contains(&watch["id"])).collect()
    };
    let [reworded] = concerning(&of_deposit)[..] else { panic!("{changes:#?}") };
    assert_eq!((&reworded["kind"], &reworded["nodeId"]), (&json!("reworded"), &json!(deposit)));
    assert!(reworded["url"].as_str().unwrap().ends_with("/xa/ars/t24/c2/s24-2-203"), "{reworded}");
    assert_eq!(concerning(&of_number), [reworded], "a pinpoint is watched as its section");
    let whole = concerning(&of_title);
    assert!(whole.len() > 3 && whole.contains(&reworded));
    let renumbered = concerning(&of_moved);
    assert_eq!((renumbered.len(), &renumbered[0]["kind"]), (1, &json!("renumbered")));
    assert!(concerning(&of_search).contains(&renumbered[0]), "its first results have the section");
    assert_eq!(concerning(&quiet), Vec::<&Value>::new());
    assert_eq!(reports(&server, &idle), Vec::<Value>::new());

    // The watch follows the provision to its new number.
    let listed = server.get(WATCHES, &key).json();
    let followed = listed["watches"].as_array().unwrap().iter().find(|watch| watch["id"] == of_moved["id"]).unwrap();
    assert_eq!(followed["now"]["citation"], "Arden Rev. Stat. § 1-2-195");
    assert_eq!((&listed["total"], &listed["maximum"]), (&json!(6), &json!(1000)));
    assert_eq!(server.get("/api/v1/watches?limit=2&page=3", &key).json()["watches"].as_array().unwrap().len(), 2);

    // The same snapshot again reports nothing, also after a restart.
    thread.wake();
    drop(thread);
    let (thread, _) = reporting(&server, editions.data.path());
    thread.wake();
    assert_eq!(post(&server, &key, "/api/v1/watches/remove", &json!({ "id": of_title["id"] })).status, 200);
    post(&server, &key, "/api/v1/watches/remove", &json!({ "id": of_title["id"] })).expect_error(404, "not_found");
    post(&server, &idle, "/api/v1/watches/remove", &json!({ "id": quiet["id"] })).expect_error(404, "not_found");
    editions.serve_only(&server, &editions.old);
    thread.wake();
    wait_for_swap(&server, 2);
    let found = reports(&server, &key);
    assert_eq!((found.len(), &found[0]["to"]), (2, &json!(editions.old)));
    assert!(found[0]["total"].as_u64() < found[1]["total"].as_u64(), "the title is not watched any more");
    let today = &found[0]["at"].as_str().unwrap()[..10];
    let since =
        |day: &str| server.get(&format!("/api/v1/watches/changes?since={day}"), &key).json()["total"].as_u64().unwrap();
    assert_eq!((since(today), since("2020-01-01")), (0, 2));
    assert!(events.lock().unwrap().iter().all(|event| event.starts_with("Reported")), "{events:?}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Off);
    let key = server.create_full_key();
    let refused = |body: &Value, word: &str| {
        let error = post(&server, &key, WATCHES, body).expect_error(422, "validation_error");
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(&json!({}), "exactly one");
    refused(&json!({ "citation": "3 S.F.C. § 823", "search": { "q": "rent" } }), "exactly one");
    refused(&json!({ "citation": "3 S.F.C. § 999999" }), "999999");
    refused(&json!({ "citation": "rent" }), "cannot read");
    refused(&json!({ "citation": "3 S.F.C. § 823; Arden Rev. Stat. § 24-2-203" }), "one citation");
    refused(&json!({ "search": { "q": "" } }), "search.q");
    refused(&json!({ "search": { "q": "rent", "jurisdictions": ["ZZ"] } }), "search.jurisdictions");
    refused(&json!({ "search": { "q": "rent", "codeBodies": [uuid::Uuid::nil()] } }), "search.codeBodies");
    refused(&json!({ "node": "here" }), "body");
    refused(&json!({ "citation": "3 S.F.C. § 823", "name": "\u{202e}" }), "name");
    refused(&json!({ "place": "here" }), "place");
    post(&server, &key, WATCHES, &json!({ "node": uuid::Uuid::nil() })).expect_error(404, "not_found");
    let webhook = json!({ "url": "https://hooks.example/" });
    let off = post(&server, &key, "/api/v1/watches/webhook", &webhook).expect_error(422, "validation_error");
    assert!(off.to_string().contains("watches.webhooks"), "{off}");
    assert_eq!(server.get(WATCHES, &key).json()["total"], 0);
}

/// A receiver that answers with these statuses in turn, then with 204, and hands on each request.
fn receiver(statuses: &'static [u16]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks/law?for=us", listener.local_addr().unwrap());
    let (shown, requests) = channel();
    std::thread::spawn(move || {
        let mut statuses = statuses.iter();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut request = String::new();
            while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap() > 0 {}
            let length = request.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let status = statuses.next().unwrap_or(&204);
            write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            if shown.send(request + &String::from_utf8(body).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

#[test]
fn a_report_is_signed_and_sent_until_it_is_taken() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Any);
    let key = server.create_full_key();
    let (thread, _events) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 0);
    watch(&server, &key, &json!({ "citation": "Arden Rev. Stat. § 24-2-203" }));
    let (url, requests) = receiver(&[500, 302]);
    let set = post(&server, &key, "/api/v1/watches/webhook", &json!({ "url": url })).json();
    let secret = set["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 70, "{set}");

    editions.serve_only(&server, &editions.new);
    thread.wake();
    let sent: Vec<String> =
        (0..3).map(|_| requests.recv_timeout(Duration::from_secs(60)).expect("it is sent again")).collect();
    let (head, body) = sent[2].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /hooks/law?for=us HTTP/1.1\r\n"), "{head}");
    assert!(sent.iter().all(|request| request.ends_with(body)), "the same report each time");
    let signature = head.lines().find_map(|line| line.strip_prefix("hornbook-signature: ")).unwrap();
    let (time, tag) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let signed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), format!("{time}.{body}").as_bytes());
    assert_eq!(tag, hex::encode(signed.as_ref()));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["kind"], &body["total"]), (&json!("law.changed"), &json!(1)));
    assert_eq!(body["changes"][0]["citation"], "Arden Rev. Stat. § 24-2-203");
    assert_eq!(body["all"], "https://law.example/api/v1/watches/changes");
    let state = || reports(&server, &key)[0]["delivery"]["state"].clone();
    wait_until("the delivery is recorded", || state() == "delivered");
    assert_eq!(reports(&server, &key)[0]["delivery"]["attempts"], 3);

    // A body that says nothing changes nothing. Without an address, nothing is sent.
    post(&server, &key, "/api/v1/watches/webhook", &json!({})).expect_error(422, "validation_error");
    assert_eq!(post(&server, &key, "/api/v1/watches/webhook", &json!({ "url": null })).json()["url"], Value::Null);
    editions.serve_only(&server, &editions.old);
    thread.wake();
    wait_for_swap(&server, 2);
    assert_eq!(reports(&server, &key)[0]["delivery"], Value::Null);
    assert!(requests.try_recv().is_err());
}

#[test]
fn nothing_is_sent_into_the_operators_network() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Public);
    let key = server.create_full_key();
    let (thread, events) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 0);
    watch(&server, &key, &json!({ "citation": "Arden Rev. Stat. § 24-2-203" }));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    post(&server, &key, "/api/v1/watches/webhook", &json!({ "url": format!("http://localhost:{port}/") }))
        .expect_error(422, "validation_error");
    let internal = json!({ "url": format!("https://localhost:{port}/") });
    assert_eq!(post(&server, &key, "/api/v1/watches/webhook", &internal).status, 200);
    editions.serve_only(&server, &editions.new);
    thread.wake();
    wait_until("it is given up", || {
        reports(&server, &key).first().is_some_and(|report| report["delivery"]["state"] == "givenUp")
    });
    let why = reports(&server, &key)[0]["delivery"]["why"].as_str().unwrap().to_owned();
    assert_eq!(why, "its address is not one of the public internet; tried 11 times");
    assert!(listener.accept().is_err(), "nobody connected");
    assert!(events.lock().unwrap().iter().any(|event| event.starts_with("GivenUp")));
}

#[test]
fn an_edition_that_is_gone_is_reported_as_unknown() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Off);
    let key = server.create_full_key();
    let (thread, _) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 0);
    watch(&server, &key, &json!({ "citation": "Arden Rev. Stat. § 24-2-203" }));
    drop(thread);
    editions.serve_only(&server, &editions.new);
    std::fs::remove_dir_all(editions.data.path().join("snapshots").join(&editions.old)).unwrap();
    let (_thread, events) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 1);
    let found = reports(&server, &key);
    assert_eq!((found.len(), &found[0]["total"]), (1, &json!(0)));
    assert!(found[0]["unknown"].as_str().unwrap().contains("not here any more"), "{found:?}");
    assert!(events.lock().unwrap()[0].starts_with("Unknown"));
}

#[test]
fn people_watch_and_read_on_their_page() {
    let editions = TwoEditions::build();
    let server = server_of(&editions, WebhookPolicy::Off);
    let (thread, _) = reporting(&server, editions.data.path());
    wait_for_swap(&server, 0);
    let key = server.create_full_key();
    let deposit = node_of(&server, &key, "Arden Rev. Stat. § 24-2-203", "");
    let path = format!("/settings/watches?node={deposit}");
    let unknown = Browser::new(&server).get(&path);
    assert_eq!(unknown.status, 303);
    assert!(
        unknown.header("location").starts_with("/settings/sign-in?return=%2Fxa%2Fars%2F"),
        "{}",
        unknown.header("location")
    );
    let mut browser = Browser::approved(&server, "jane");
    let link = format!(r#"<a href="{path}" rel="nofollow">Watch</a>"#);
    assert!(browser.get("/xa/ars/t24/c2/s24-2-203").text().contains(&link), "the page of the law leads there");
    let page = browser.get(&path).text();
    assert!(page.contains(r#"value="Arden Rev. Stat. § 24-2-203""#), "{page}");
    for what in ["Arden Rev. Stat. § 24-2-203", "stamping of plats"] {
        assert_eq!(browser.post("/settings/watches", &[("what", what)]).status, 303);
    }
    assert_eq!(browser.post("/settings/watches", &[("what", "")]).status, 422);
    let page = browser.get("/settings/watches").text();
    assert!(page.contains("Search: ") && page.contains("Nothing yet."), "{page}");
    assert!(browser.get("/settings").text().contains("2 things."));

    editions.serve_only(&server, &editions.new);
    thread.wake();
    wait_for_swap(&server, 1);
    let page = browser.get("/settings/watches").text();
    assert!(page.contains("Reworded") && page.contains("Renumbered from Arden"), "{page}");
    let watch =
        page.split(r#"name="watch" value=""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let mut other = Browser::approved(&server, "mallory");
    other.get("/settings/watches");
    assert_eq!(other.post("/settings/watches/remove", &[("watch", &watch)]).status, 422, "it is not hers");
    assert_eq!(browser.post("/settings/watches/remove", &[("watch", &watch)]).status, 303);
    assert!(browser.get("/settings").text().contains("1 thing."));
}

/// Watches every node of both editions, and compares each watch with a look at all changes.
#[test]
fn a_watched_node_is_told_of_the_same_changes_as_a_look_at_all_of_them() {
    let editions = TwoEditions::build();
    let open = |id: &str| {
        let snapshot = Snapshot::verify(&editions.data.path().join("snapshots").join(id), |_| ()).unwrap();
        Arc::new(Corpus::new(Arc::new(snapshot)).unwrap())
    };
    let (old, new) = (open(&editions.old), open(&editions.new));
    let all: Vec<LawChange> = compare(old.snapshot(), new.snapshot(), |_| ())
        .unwrap()
        .into_iter()
        .flat_map(|body| body.changes)
        .filter(|change| change.kind != ChangeKind::Notes)
        .collect();
    let swapped = SwapChanges::between(editions.data.path(), Arc::clone(&old), Arc::clone(&new)).unwrap();
    let ids: BTreeSet<NodeId> = [&old, &new]
        .into_iter()
        .flat_map(|corpus| {
            let outline = &corpus.snapshot().outline;
            (0..outline.len()).map(|node| outline.id(NodeOrdinal(node)).unwrap())
        })
        .collect();
    assert!(ids.len() > 300 && all.len() > 5);
    let watches: Vec<WatchRecord> = ids
        .iter()
        .zip(1..)
        .map(|(id, number)| WatchRecord {
            id: WatchId(number),
            key: KeyId(1),
            created_at: UnixMillis(0),
            subject: WatchSubject::Node(id.0),
            name: None,
        })
        .collect();
    let swap = ReportedSwap { number: 1, snapshot: editions.new.clone() };
    let matched = swapped.report(KeyId(1), &swap, &watches, (UnixMillis(0), "2026-01-01".parse::<Day>().unwrap()));
    assert_eq!(matched.report.unknown, None);
    let reported = |watch: &WatchRecord| -> BTreeSet<(String, String)> {
        let changes = matched.report.changes.iter().filter(|change| change.watches.contains(&watch.id));
        changes.map(|change| (change.change["nodeId"].to_string(), change.change["kind"].to_string())).collect()
    };
    let is_in = |corpus: &Corpus, node: NodeOrdinal, id: NodeId| {
        let outline = &corpus.snapshot().outline;
        std::iter::once(node).chain(outline.ancestors(node)).any(|above| outline.id(above) == Some(id))
    };
    for watch in &watches {
        let WatchSubject::Node(id) = watch.subject else { unreachable!() };
        let concerns = |change: &&LawChange| {
            change.old.is_some_and(|node| is_in(&old, node, NodeId(id)))
                || change.new.is_some_and(|node| is_in(&new, node, NodeId(id)))
        };
        let expected: BTreeSet<(String, String)> = all
            .iter()
            .filter(concerns)
            .map(|change| {
                let (corpus, node) = change.new.map_or_else(|| (&old, change.old.unwrap()), |node| (&new, node));
                let id = corpus.snapshot().outline.id(node).unwrap();
                (json!(id.0).to_string(), json!(change.kind.as_str()).to_string())
            })
            .collect();
        assert!(expected.is_subset(&reported(watch)), "{watch:?}");
        let ended = |above: &(String, String)| {
            ["repealed", "renumbered", "ended", "missing"].contains(&above.1.trim_matches('"'))
        };
        assert!(
            reported(watch).difference(&expected).all(ended),
            "only the end of what a node is in is told besides: {watch:?}"
        );
    }
}
