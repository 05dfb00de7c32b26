//! The configuration handed on: each part of the program gets a struct of its own with what concerns it.

use std::error::Error;
use std::sync::Arc;

use hornbook::accounts;
use hornbook::config::{Config, Switch};
use hornbook::http::{HttpSettings, Proxies, Timeouts, Tls, TlsFiles};

pub(super) fn accounts(config: &Config) -> accounts::Settings {
    accounts::Settings {
        tariff: config.tariff(),
        durability: config.ledger.durability,
        rollup_after_days: config.ledger.rollup_after_days,
        retry_horizon_sec: config.ledger.retry_horizon_sec,
    }
}

/// Reads the certificate too.
pub(super) fn http(config: &Config) -> Result<HttpSettings, Box<dyn Error>> {
    let Config { server, tls, metrics, .. } = config;
    let files = tls.certificate.clone().zip(tls.private_key.clone());
    let files = files.map(|(certificate, private_key)| TlsFiles { certificate, private_key });
    Ok(HttpSettings {
        listen: server.listen,
        metrics: metrics.listen,
        connections_max: server.connections_max.get() as usize,
        connections_per_address_max: server.connections_per_address_max.get() as usize,
        timeouts: Timeouts {
            head: server.head_seconds.0,
            idle: server.idle_seconds.0,
            unread: server.unread_seconds.0,
            read_rate_min: server.read_bytes_per_second_min.get(),
        },
        unread_bytes_per_address_max: server.unread_bytes_per_address_max.get() as usize,
        proxies: Proxies { networks: server.proxies.clone(), announce: server.proxy_protocol == Switch::On },
        tls: files.map(Tls::load).transpose()?.map(Arc::new),
        open_per_minute: Some(server.open_per_minute).filter(|requests| *requests > 0),
        cross_origins: server.cross_origins.iter().map(|origin| origin.0.clone()).collect(),
    })
}
