//! Properties of charging: several nodes cost one each if found, and an answer that the client
//! already has is free.

use std::collections::HashSet;

use hornbook_corpus::ids::NodeOrdinal;
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use crate::sample::ENGINE;
use crate::test_server::{TestServer, generous_tariff};

/// The largest number of ids in one request.
const IDS_MAX: usize = 50;

/// Cases per property. A case makes one to three requests.
const CASES: u32 = 48;

/// A requested id, in one of the spellings that UUIDs allow.
#[derive(Clone, Debug)]
struct RequestedId {
    id: Uuid,
    exists: bool,
    is_upper: bool,
    spaced: bool,
}

impl RequestedId {
    fn written(&self) -> String {
        let id = if self.is_upper { self.id.to_string().to_uppercase() } else { self.id.to_string() };
        if self.spaced { format!("%20{id}%20") } else { id }
    }
}

/// Few different ids, so that they repeat. About a third of them do not exist.
fn requested_ids() -> impl Strategy<Value = RequestedId> {
    (0..20_u32, any::<bool>(), any::<bool>()).prop_map(|(number, is_upper, spaced)| {
        let is_held = number % 3 != 0;
        let id = match is_held {
            true => ENGINE.snapshot().outline.id(NodeOrdinal(number)).unwrap().0,
            false => Uuid::from_u128(u128::from(number)),
        };
        RequestedId { id, exists: is_held, is_upper, spaced }
    })
}

fn ids_of(list: &Value, field: Option<&str>) -> Vec<String> {
    let id = |entry: &Value| field.map_or(entry, |field| &entry[field]).as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn nodes_returns_each_id_once_and_charges_found_ones() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &hornbook_accounts::scope::Scope::ALL);
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    proptest!(ProptestConfig::with_cases(CASES), |(asked in prop::collection::vec(requested_ids(), 1..60))| {
        let before = left();
        let written: Vec<String> = asked.iter().map(RequestedId::written).collect();
        let answered = server.get(&format!("/api/v1/nodes?ids={}", written.join(",")), &key);
        let mut seen = HashSet::new();
        let once = asked.iter().filter(|wanted| seen.insert(wanted.id));
        let (held, missing): (Vec<&RequestedId>, Vec<&RequestedId>) = once.partition(|wanted| wanted.exists);
        let text = |ids: Vec<&RequestedId>| ids.iter().map(|wanted| wanted.id.to_string()).collect::<Vec<_>>();
        if asked.len() > IDS_MAX {
            let error = answered.expect_error(422, "validation_error");
            prop_assert!(error["details"][0]["message"].as_str().unwrap().contains("50"));
        } else if held.is_empty() {
            answered.expect_error(404, "not_found");
        } else {
            prop_assert_eq!(answered.status, 200);
            prop_assert_eq!(answered.header_number("x-credits-cost"), held.len() as u64);
            let body = answered.json();
            prop_assert_eq!(ids_of(&body["nodes"], Some("id")), text(held.clone()));
            prop_assert_eq!(ids_of(&body["missing"], None), text(missing));
            // A node is the same as in a single request.
            let alone = server.get(&format!("/api/v1/node/{}", held[0].id), &key).json();
            prop_assert_eq!(&body["nodes"][0], &alone);
        }
        let due = if answered.status == 200 { held.len() as u64 + 1 } else { 0 };
        prop_assert_eq!(u64::from(before - left()), due, "a refusal is free");
    });
}

/// Values of `If-None-Match`: the exact version, a list with it, its weak form, `*`, or other
/// values. The second field says whether it matches.
fn if_none_match_values() -> impl Strategy<Value = (fn(&str) -> String, bool)> {
    prop_oneof![
        Just((str::to_owned as fn(&str) -> String, true)),
        Just(((|tag| format!("W/{tag}")) as fn(&str) -> String, true)),
        Just(((|tag| format!("\"other\", {tag} , \"third\"")) as fn(&str) -> String, true)),
        Just(((|_| "*".to_owned()) as fn(&str) -> String, true)),
        Just(((|tag| tag.replacen('"', "\"x", 1)) as fn(&str) -> String, false)),
        Just(((|tag| tag.trim_matches('"').to_owned()) as fn(&str) -> String, false)),
        Just(((|_| "\"\"".to_owned()) as fn(&str) -> String, false)),
    ]
}

#[test]
fn a_matching_etag_gives_a_free_304() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &hornbook_accounts::scope::Scope::ALL);
    let bearer = format!("Bearer {key}");
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    let total = ENGINE.snapshot().outline.len();
    proptest!(ProptestConfig::with_cases(CASES), |(
        node in 0..total,
        format in prop::sample::select(&["json", "md", "txt"][..]),
        (held, is_known) in if_none_match_values(),
    )| {
        let id = ENGINE.snapshot().outline.id(NodeOrdinal(node)).unwrap();
        let path = format!("/api/v1/node/{id}?format={format}");
        let first = server.get(&path, &key);
        let tag = first.header("etag").to_owned();
        prop_assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong version: {}", tag);
        let before = left();
        let again = server.get_with(&path, &[("Authorization", &bearer), ("If-None-Match", &held(&tag))]);
        // For the compressed form the tag is weak.
        prop_assert_eq!(again.header("etag").trim_start_matches("W/"), tag.as_str());
        prop_assert_eq!(u64::from(before - left()), u64::from(!is_known));
        if is_known {
            prop_assert_eq!((again.status, again.body.len()), (304, 0));
        } else {
            prop_assert_eq!((again.status, &again.body), (200, &first.body), "different bytes with the same ETag");
        }
        // Another format is another version.
        let other = if format == "md" { "txt" } else { "md" };
        let other = server.get(&format!("/api/v1/node/{id}?format={other}"), &key);
        prop_assert_ne!(other.header("etag"), tag.as_str());
    });
}
