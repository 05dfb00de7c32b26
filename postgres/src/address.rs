//! The address of a database: a `postgres://` URL, and the rule when TLS is needed.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A silent connection is probed after this time, and given up when nothing was acknowledged for as long.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Where the database is and as whom to sign in. Its text contains no password.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(crate) config: Config,
    shown: String,
}

#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("a database address looks like postgres://user:password@host:5432/database ({0})")]
    Unreadable(#[source] tokio_postgres::Error),
    #[error("the database address names no {0}; it looks like postgres://user:password@host:5432/database")]
    Incomplete(&'static str),
    #[error(
        "the database address asks for sslmode=prefer, which sends passwords in clear when the server lacks TLS; use \
         sslmode=require, or sslmode=disable in a network that nobody else reads"
    )]
    UnsafeTls,
}

impl PostgresAddress {
    /// Whether connections use TLS. Without `sslmode`, they do unless all hosts are this machine.
    pub fn uses_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

impl FromStr for PostgresAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut config: Config = text.parse().map_err(AddressError::Unreadable)?;
        if config.get_hosts().is_empty() {
            return Err(AddressError::Incomplete("host"));
        }
        let user = config.get_user().ok_or(AddressError::Incomplete("user"))?.to_owned();
        let database = config.get_dbname().ok_or(AddressError::Incomplete("database"))?.to_owned();
        if config.get_ssl_mode() == SslMode::Prefer {
            if text.contains("sslmode=prefer") {
                return Err(AddressError::UnsafeTls);
            }
            let all_local = config.get_hosts().iter().all(is_this_machine);
            config.ssl_mode(if all_local { SslMode::Disable } else { SslMode::Require });
        }
        let hosts: Vec<String> = config.get_hosts().iter().map(host_name).collect();
        let shown = format!("postgres://{user}@{}/{database}", hosts.join(","));
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_MAX);
        }
        config.keepalives_idle(SILENCE_MAX).tcp_user_timeout(SILENCE_MAX);
        // Of several hosts, the one that takes changes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("hornbook");
        }
        Ok(Self { config, shown })
    }
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) if name == "localhost" => true,
        Host::Tcp(name) => name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()),
        Host::Unix(_) => true,
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let address: PostgresAddress = "postgres://ada:secret@db.example:5433/law".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://ada@db.example/law");
        assert!(!format!("{address:?}").contains("secret"));
    }

    #[test]
    fn tls_is_needed_unless_the_database_is_here_or_it_is_switched_off() {
        let tls = |text: &str| text.parse::<PostgresAddress>().unwrap().uses_tls();
        assert!(tls("postgres://ada@db.example/law"));
        assert!(tls("postgres://ada@localhost,db.example/law"));
        assert!(tls("postgres://ada@127.0.0.1/law?sslmode=require"));
        assert!(!tls("postgres://ada@127.0.0.1/law"));
        assert!(!tls("postgres://ada@[::1],localhost/law"));
        assert!(!tls("postgres:///law?user=ada&host=/run/postgresql"));
        assert!(!tls("postgres://ada@db.example/law?sslmode=disable"));
        assert!("postgres://ada@db.example/law?sslmode=prefer".parse::<PostgresAddress>().is_err());
    }

    #[test]
    fn incomplete_addresses_name_what_is_missing() {
        let error = |text: &str| text.parse::<PostgresAddress>().unwrap_err().to_string();
        assert!(error("postgres://db.example/law").contains("no user"));
        assert!(error("postgres://ada@db.example").contains("no database"));
        assert!(error("mysql://ada@db.example/law").contains("looks like postgres://"));
    }
}
