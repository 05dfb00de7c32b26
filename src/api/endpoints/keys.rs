//! `keys`, `key-create` and `key-revoke`: the keys that a key creates for the programs that it starts.

use std::sync::Arc;

use hornbook_accounts::Accounts;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::NewChildKey;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::KeyId;
use hornbook_accounts::records::KeyRecord;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::{act, read};
use super::budget::{BudgetLimits, BudgetReply};
use super::me::accounts_error;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, CostUnit, MeteredCall, Method, Operation, PreparedWork, Route};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, metered, route};
use crate::api::subject::Subject;

/// The maximum number of days until a key expires.
const DAYS_MAX: u32 = 36_500;

/// A key to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewKey")]
pub(in crate::api) struct NewKeyRequest {
    /// A name to tell the keys apart.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Scopes of the calling key, such as `["search", "node"]`; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<String>>,
    /// The days until the key expires. It never outlasts the calling key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = DAYS_MAX))]
    expires_in_days: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetLimits>,
}

/// The key to revoke.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KeyToRevoke")]
pub(in crate::api) struct RevokeRequest {
    /// The id of a key from `GET /api/v1/keys`.
    id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Keys")]
pub(in crate::api) struct KeysReply {
    /// The keys that the calling key created, and those that they created, oldest first.
    keys: Vec<KeyReply>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
pub(in crate::api) struct KeyReply {
    /// The id of the key, such as `key-17`.
    id: String,
    /// The text of the key. It is shown only when the key is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    name: String,
    /// The beginning of its text.
    prefix: String,
    #[schemars(with = "Vec<String>")]
    scopes: ScopeSet,
    /// The key that created it.
    created_by: Option<String>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    /// Its budget, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetReply>,
}

impl KeyReply {
    fn of(accounts: &Accounts, record: &KeyRecord, now: UnixMillis) -> Self {
        Self {
            id: record.id.to_string(),
            key: None,
            name: record.name.to_string(),
            prefix: record.prefix.clone(),
            scopes: record.scopes,
            created_by: record.parent.map(|parent| parent.to_string()),
            created_at: record.created_at.to_string(),
            expires_at: record.expires_at.map(|at| at.to_string()),
            revoked_at: record.revoked_at.map(|at| at.to_string()),
            budget: accounts.key_budget(record.id, now).map(BudgetReply::from),
        }
    }
}

const KEYS_PATH: &str = "/api/v1/keys";

pub(in crate::api) const LIST: Operation = Operation {
    name: "keys",
    subject: Subject::Account,
    summary: "The keys that this key created, with their budgets",
    details: None,
    route: route(KEYS_PATH, "/api/v1/keys"),
    tool: None,
    parameters: &[],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<KeysReply>(),
    model_text: None,
    access: metered(&Scope::ALL, 0, CostUnit::Call, prepare_list),
};

fn prepare_list(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let (accounts, key, now) = (Arc::clone(call.accounts), call.caller.key, call.now.wall);
    Ok(PreparedWork::heavy(move |_| {
        let keys = accounts.keys_below(key);
        Reply::json(&KeysReply { keys: keys.iter().map(|record| KeyReply::of(&accounts, record, now)).collect() })
    }))
}

pub(in crate::api) const CREATE: Operation = Operation {
    name: "key-create",
    subject: Subject::Account,
    summary: "Create a key for a program or agent, with a budget",
    details: Some(
        "The key has at most the scopes and the time of the key that creates it, shares its rate limits, and ends with \
         it. What it spends also counts for the budget of that key. Its text is in the answer and shown only there.",
    ),
    route: Some(Route { method: Method::Post, path: KEYS_PATH, example: "/api/v1/keys" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<NewKeyRequest>(),
        takes_documents: false,
        is_stored: true,
        example: r#"{"name": "my agent", "budget": {"perDay": 100}}"#,
    }),
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<KeyReply>(),
    model_text: None,
    access: metered(&Scope::ALL, 0, CostUnit::Call, prepare_create),
};

fn prepare_create(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let wanted: NewKeyRequest = read(call.body, r#"{"name": "my agent", "budget": {"perDay": 100}}"#)?;
    let scopes = wanted.scopes.map(|scopes| scopes.join(",").parse::<ScopeSet>()).transpose();
    let days = wanted.expires_in_days.filter(|days| !(1..=DAYS_MAX).contains(days));
    if days.is_some() {
        let message = format!("expiresInDays must be a whole number from 1 to {DAYS_MAX}");
        return Err(ApiError::invalid_parameter("expiresInDays", message));
    }
    let (accounts, parent, act) = (Arc::clone(call.accounts), call.caller.key, act(call));
    let wish = NewChildKey {
        name: wanted.name,
        scopes: scopes.map_err(|message| ApiError::invalid_parameter("scopes", message))?,
        expires_at: wanted.expires_in_days.map(|days| act.at.plus_millis(i64::from(days) * MILLIS_PER_DAY)),
        budget: wanted.budget.map(Budget::from).unwrap_or_default(),
    };
    // Also for a call that only asks for the price.
    wish.check().map_err(|error| key_error(&error))?;
    Ok(PreparedWork::external(move || {
        let issued = accounts.create_child_key(parent, wish, &act, &mut SystemEntropy);
        let issued = issued.map_err(|error| key_error(&error))?;
        let key = Some(issued.secret.reveal());
        Reply::json(&KeyReply { key, ..KeyReply::of(&accounts, &issued.record, act.at) })
    }))
}

pub(in crate::api) const REVOKE: Operation = Operation {
    name: "key-revoke",
    subject: Subject::Account,
    summary: "Revoke a key that this key created, and the keys that it created",
    details: None,
    route: Some(Route { method: Method::Post, path: "/api/v1/keys/revoke", example: "/api/v1/keys/revoke" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<RevokeRequest>(),
        takes_documents: false,
        is_stored: true,
        example: r#"{"id": "KEY_ID"}"#,
    }),
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<KeyReply>(),
    model_text: None,
    access: metered(&Scope::ALL, 0, CostUnit::Call, prepare_revoke),
};

fn prepare_revoke(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let RevokeRequest { id } = read(call.body, r#"{"id": "key-17"}"#)?;
    let id: KeyId = id.parse().map_err(|message: String| ApiError::invalid_parameter("id", message))?;
    let (accounts, key, act) = (Arc::clone(call.accounts), call.caller.key, act(call));
    Ok(PreparedWork::external(move || {
        if !accounts.keys_below(key).iter().any(|record| record.id == id) {
            return Err(ApiError::not_found(format!("this key has created no key {id}; GET /api/v1/keys lists them")));
        }
        let revoked = accounts.revoke_key(id, &act).map_err(|error| key_error(&error))?;
        Reply::json(&KeyReply::of(&accounts, &revoked, act.at))
    }))
}

fn key_error(error: &ChangeError) -> ApiError {
    match error {
        ChangeError::Refused(message) => ApiError::invalid_parameter("body", message.clone()),
        other => accounts_error(other),
    }
}
