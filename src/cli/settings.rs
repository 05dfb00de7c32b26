//! Converts the configuration into one struct for each part of the program.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use hornbook::api::deep_search::DeepSettings;
use hornbook::api::visitors::VisitorRates;
use hornbook::config::{
    AgentSignIn, BaseUrl, Config, OnOff, PaymentProvider, SearchDepth, StateBackend, StripeKey, ToolNames,
    WebhookReach, WebhookSecret,
};
use hornbook::http::{HttpSettings, Proxies, Timeouts, Tls, TlsFiles};
use hornbook::mcp::{MCP_PATH, McpSettings, ToolNameStyle};
use hornbook::oauth::CROSS_ORIGIN_PATHS;
use hornbook::payments::Secret;
use hornbook::payments::stripe::Stripe;
use hornbook::payments::webhook::WEBHOOK_PATH;
use hornbook::state_location::StateLocation;
#[cfg(feature = "postgres")]
use hornbook::tls_client::Trust;
use hornbook::web::page_context::{PageSettings, PolicyPages};
use hornbook::webhook::WebhookTarget;
use hornbook_accounts::people::PasswordCost;
use hornbook_accounts::watches::WebhookPolicy;
use hornbook_base::clock::MILLIS_PER_DAY;
use hornbook_search::DepthChoice;

pub(super) fn accounts(config: &Config) -> hornbook_accounts::Settings {
    hornbook_accounts::Settings {
        tariff: config.tariff(),
        durability: config.ledger.durability,
        rollup_after_days: config.ledger.rollup_after_days,
        retry_horizon_sec: config.ledger.retry_horizon_sec,
        lease_millis: i64::from(config.state.lease_sec) * 1000,
        draft_days: config.formation.draft_days.get(),
        session_idle_millis: i64::from(config.people.session_idle_hours.get()) * 3_600_000,
        session_millis: i64::from(config.people.session_days.get()) * MILLIS_PER_DAY,
        password_work: PasswordCost::DEFAULT,
        webhooks: match config.watches.webhooks {
            WebhookReach::Off => WebhookPolicy::Off,
            WebhookReach::Public => WebhookPolicy::Public,
            WebhookReach::Any => WebhookPolicy::Any,
        },
        reports_usage: config.billing.usage_webhook.is_some(),
    }
}

/// Where the state of accounts is.
pub(super) fn state_location(config: &Config) -> Result<StateLocation, Box<dyn Error>> {
    location_of(&config.state.backend, config)
}

/// The place that a value of `state.backend` means, with the certificates of this configuration.
#[cfg(feature = "postgres")]
pub(super) fn location_of(backend: &StateBackend, config: &Config) -> Result<StateLocation, Box<dyn Error>> {
    match backend {
        StateBackend::Embedded => Ok(StateLocation::File),
        StateBackend::Database(address) => {
            let trust = config.state.ca.clone().map_or(Trust::System, Trust::File);
            Ok(StateLocation::Database { address: Box::new(address.parse()?), trust })
        }
    }
}

#[cfg(not(feature = "postgres"))]
pub(super) fn location_of(backend: &StateBackend, _config: &Config) -> Result<StateLocation, Box<dyn Error>> {
    match backend {
        StateBackend::Embedded => Ok(StateLocation::File),
        StateBackend::Database(_) => {
            Err("state.backend names a database, but this hornbook was built without the feature 'postgres'".into())
        }
    }
}

pub(super) fn mcp(config: &Config) -> McpSettings {
    let Config { mcp, server, .. } = config;
    let origins = mcp.origins.iter().chain(&server.cross_origins);
    McpSettings {
        names: match mcp.names {
            ToolNames::Dotted => ToolNameStyle::Dotted,
            ToolNames::Snake => ToolNameStyle::Snake,
        },
        hosts: mcp.hosts.iter().map(|host| host.0.clone()).collect(),
        origins: origins.cloned().collect(),
        free_per_minute: Some(mcp.free_per_minute).filter(|messages| *messages > 0),
        sign_in_metadata: None,
        needs_key: mcp.sign_in == AgentSignIn::Required,
    }
}

/// The paths that the pages of `mcp.origins` may call.
fn agent_paths() -> Vec<&'static str> {
    [MCP_PATH].into_iter().chain(CROSS_ORIGIN_PATHS).collect()
}

pub(super) fn deep(config: &Config) -> DeepSettings {
    DeepSettings {
        default_depth: match config.search.depth {
            SearchDepth::Fast => DepthChoice::Fast,
            SearchDepth::Deep => DepthChoice::Deep,
            SearchDepth::Auto => DepthChoice::Auto,
        },
        permits: config.search.deep_permits.get() as usize,
    }
}

pub(super) fn pages(config: &Config) -> PageSettings {
    let web = &config.web;
    let visitors = VisitorRates {
        reads_per_minute: web.reads_per_minute,
        searches_per_minute: web.searches_per_minute,
        all_reads_per_minute: web.all_reads_per_minute,
        all_searches_per_minute: web.all_searches_per_minute,
    };
    let people = &config.people;
    let address = |page: &Option<BaseUrl>| page.as_ref().map(|page| page.0.clone());
    PageSettings {
        visitors,
        is_indexed: web.indexing == OnOff::On,
        sign_up: people.sign_up,
        policies: PolicyPages { terms: address(&people.terms), privacy: address(&people.privacy) },
    }
}

/// Also loads the certificate.
pub(super) fn http(config: &Config) -> Result<HttpSettings, Box<dyn Error>> {
    let Config { server, tls, metrics, .. } = config;
    let files = tls.certificate.clone().zip(tls.private_key.clone());
    let files = files.map(|(certificate, private_key)| TlsFiles { certificate, private_key });
    Ok(HttpSettings {
        listen: server.listen,
        metrics: metrics.listen,
        pulls: Some(config.data.dir.clone()),
        connections_max: server.connections_max.get() as usize,
        connections_per_address_max: server.connections_per_address_max.get() as usize,
        accept_queue_max: server.accept_queue_max.get(),
        timeouts: Timeouts {
            head: server.head_seconds.0,
            idle: server.idle_seconds.0,
            unread: server.unread_seconds.0,
            read_rate_min: server.read_bytes_per_second_min.get(),
        },
        unread_bytes_per_address_max: server.unread_bytes_per_address_max.get() as usize,
        proxies: Proxies { networks: server.proxies.clone(), uses_proxy_protocol: server.proxy_protocol == OnOff::On },
        tls: files.map(Tls::load).transpose()?.map(Arc::new),
        https_only_days: config.tls.https_only_days,
        open_per_minute: Some(server.open_per_minute).filter(|requests| *requests > 0),
        cross_origins: server.cross_origins.clone(),
        reserved_path: WEBHOOK_PATH,
        path_origins: (agent_paths(), config.mcp.origins.clone()),
    })
}

/// Stripe and its webhook secret. None if the operator confirms payments. Reads the secrets' files.
pub(super) fn stripe(config: &Config) -> Result<Option<(Stripe, Secret)>, Box<dyn Error>> {
    let payments = &config.payments;
    if payments.provider != PaymentProvider::Stripe {
        return Ok(None);
    }
    let key_file = ("payments.stripe_secret_key_file", payments.stripe_secret_key_file.as_deref());
    let key = secret(payments.stripe_secret_key.clone(), key_file, StripeKey::from_file_text)?;
    let webhook_file = ("payments.stripe_webhook_secret_file", payments.stripe_webhook_secret_file.as_deref());
    let webhook = secret(payments.stripe_webhook_secret.clone(), webhook_file, WebhookSecret::of_file)?;
    let stripe = Stripe::new(&payments.stripe_api.0, Secret::new(key.reveal()))?;
    Ok(Some((stripe, Secret::new(webhook.reveal()))))
}

/// The webhook that receives notices for the operator, if any.
pub(super) fn notices(config: &Config) -> Result<Option<WebhookTarget>, Box<dyn Error>> {
    let operator = &config.operator;
    let Some(url) = &operator.webhook else { return Ok(None) };
    let file = ("operator.webhook_secret_file", operator.webhook_secret_file.as_deref());
    let secret = secret(operator.webhook_secret.clone(), file, WebhookSecret::of_file)?;
    Ok(Some(WebhookTarget::new(&url.0, secret.reveal()).map_err(|error| format!("operator.webhook: {error}"))?))
}

/// The webhook of a biller outside that receives what accounts used, if any.
pub(super) fn usage_reports(config: &Config) -> Result<Option<WebhookTarget>, Box<dyn Error>> {
    let billing = &config.billing;
    let Some(url) = &billing.usage_webhook else { return Ok(None) };
    let file = ("billing.usage_webhook_secret_file", billing.usage_webhook_secret_file.as_deref());
    let secret = secret(billing.usage_webhook_secret.clone(), file, WebhookSecret::of_file)?;
    let target = WebhookTarget::new(&url.0, secret.reveal());
    Ok(Some(target.map_err(|error| format!("billing.usage_webhook: {error}"))?))
}

/// A secret from its value or from its file. Errors never contain the contents of the file.
fn secret<T>(
    itself: Option<T>,
    (setting, file): (&str, Option<&Path>),
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Box<dyn Error>> {
    match (itself, file) {
        (Some(secret), _) => Ok(secret),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("cannot read {} of {setting}: {error}", path.display()))?;
            parse(&text).map_err(|wanted| format!("{} of {setting} must contain {wanted}", path.display()).into())
        }
        (None, None) => Err(format!("{setting} is not set").into()),
    }
}
