//! `watch-changes` and `watch-webhook`: what changed among the things that a key watches, and where it is sent.

use std::sync::Arc;

use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::watches::{Delivery, WatchReport, WatchedChange};
use hornbook_corpus::day::Day;
use hornbook_editions::ListedChange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::{act, read};
use super::changes::SINCE;
use super::me::accounts_error;
use super::paging::{LIMIT, PAGE, Paging};
use super::watches::watch_error;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, CostUnit, MeteredCall, Method, Operation, PreparedWork, Route};
use crate::api::page_links::PageLinks;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered, route};
use crate::api::subject::Subject;

pub(in crate::api) const WEBHOOK_EXAMPLE: &str = r#"{"url": null}"#;

/// Where reports are to be sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewWatchWebhook")]
pub(in crate::api) struct WebhookRequest {
    /// An address that begins with `https://`; null: reports are sent nowhere.
    // A body that says nothing must not end the sending.
    #[serde(deserialize_with = "Option::deserialize")]
    url: Option<String>,
}

/// Where reports are sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchWebhook")]
pub(in crate::api) struct WebhookReply {
    url: Option<String>,
    /// The secret that signs the reports, as the documentation describes. It is shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchReports")]
pub struct WatchReportsReply {
    pub page: u32,
    pub page_size: u32,
    /// The number of reports.
    pub total: usize,
    /// One report for each swap of editions that changed something watched, the newest first.
    pub reports: Vec<WatchReportReply>,
    /// Where the reports of this key are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
}

/// What one swap of editions changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchReport")]
pub struct WatchReportReply {
    pub at: String,
    /// The snapshot that was served before.
    pub from: String,
    /// The snapshot that was served from then on.
    pub to: String,
    /// The number of changes. At most 1,000 are listed.
    pub total: u32,
    pub changes: Vec<WatchedChangeReply>,
    /// Why the changes are not known, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// How far the report has come to the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryReply>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchedChange")]
pub struct WatchedChangeReply {
    /// The watches that it concerns.
    pub watches: Vec<String>,
    #[serde(flatten)]
    pub change: ListedChange,
    /// The web page of the provision, if the served edition has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchDelivery")]
pub struct DeliveryReply {
    /// `waiting`, `delivered` or `givenUp`.
    pub state: String,
    pub attempts: u32,
    /// When it is sent next, or when it was delivered or given up.
    pub at: String,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<Delivery> for DeliveryReply {
    fn from(Delivery { state, attempts, at, why }: Delivery) -> Self {
        Self { state: state.as_str().to_owned(), attempts, at: at.to_string(), why }
    }
}

impl WatchReportReply {
    pub(crate) fn of(corpus: &Corpus, pages: &PageLinks, report: WatchReport) -> Result<Self, ApiError> {
        let change = |WatchedChange { watches, change }: WatchedChange| -> Result<WatchedChangeReply, ApiError> {
            let change: ListedChange = serde_json::from_value(change)
                .map_err(|error| ApiError::internal(format!("read a reported change: {error}")))?;
            let snapshot = corpus.snapshot();
            let node = snapshot.ordinal(change.node.node_id);
            let url = node.map(|node| pages.page_of(snapshot, node)).transpose()?;
            Ok(WatchedChangeReply { watches: watches.iter().map(ToString::to_string).collect(), change, url })
        };
        Ok(Self {
            at: report.at.to_string(),
            from: report.from,
            to: report.to,
            total: report.total,
            changes: report.changes.into_iter().map(change).collect::<Result<_, _>>()?,
            unknown: report.unknown,
            delivery: report.delivery.map(DeliveryReply::from),
        })
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "watch-changes",
    subject: Subject::Watching,
    summary: "What changed among the things that this key watches",
    details: Some(
        "One report for each time that a newer edition was served and changed something watched, the newest first; the \
         newest 50 are kept. `since` compares with the day of the report.",
    ),
    route: route("/api/v1/watches/changes", "/api/v1/watches/changes"),
    tool: None,
    parameters: &[SINCE.rule, PAGE.rule, LIMIT.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<WatchReportsReply>(),
    model_text: None,
    access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let paging = Paging::of(call).map_err(|violation| ApiError::invalid(vec![violation]))?;
    let since: Option<Day> = call.get(&SINCE);
    let (accounts, key, corpus) = (Arc::clone(call.accounts), call.caller.key, Arc::clone(call.corpus));
    let pages = PageLinks::new(call.link_base, None);
    Ok(PreparedWork::heavy(move |_| {
        let mut all = accounts.watch_reports(key).map_err(|error| accounts_error(&error))?;
        // Days are compared as they are written: 2025-01-31.
        all.retain(|report| since.is_none_or(|since| report.at.to_string()[..10] > since.to_string()[..]));
        let total = all.len();
        let shown = all.into_iter().skip(paging.skipped()).take(paging.limit as usize);
        let reports = shown.map(|report| WatchReportReply::of(&corpus, &pages, report)).collect::<Result<_, _>>()?;
        let webhook = accounts.watch_webhook(key).map_err(|error| accounts_error(&error))?.map(|webhook| webhook.url);
        let reply = WatchReportsReply { page: paging.page, page_size: paging.limit, total, reports, webhook };
        Ok(Reply { pages: Some(paging.pages(total)), ..Reply::json(&reply)? })
    }))
}

pub(in crate::api) const WEBHOOK: Operation = Operation {
    name: "watch-webhook",
    subject: Subject::Watching,
    summary: "Set the address that the reports of this key are sent to, or none",
    details: Some(
        "Each report is one POST with JSON, signed with the secret in the answer, and sent again for 17 hours until it is \
         answered with 2xx. The operator must allow it (`watches.webhooks`).",
    ),
    route: Some(Route { method: Method::Post, path: "/api/v1/watches/webhook", example: "/api/v1/watches/webhook" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<WebhookRequest>(),
        takes_documents: false,
        is_stored: true,
        example: WEBHOOK_EXAMPLE,
    }),
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<WebhookReply>(),
    model_text: None,
    access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, prepare_webhook),
};

fn prepare_webhook(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let WebhookRequest { url } = read(call.body, WEBHOOK_EXAMPLE)?;
    let (accounts, key, act) = (Arc::clone(call.accounts), call.caller.key, act(call));
    Ok(PreparedWork::external(move || {
        let set = accounts.set_watch_webhook(key, url, &act, &mut SystemEntropy);
        let Some(webhook) = set.map_err(|error| watch_error(&error))? else {
            return Reply::json(&WebhookReply { url: None, secret: None });
        };
        let secret = accounts.webhook_secret(&webhook, &mut SystemEntropy).map_err(|error| watch_error(&error))?;
        Reply::json(&WebhookReply { url: Some(webhook.url), secret: Some(secret) })
    }))
}
