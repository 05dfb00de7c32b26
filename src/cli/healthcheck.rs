//! `hornbook healthcheck`: checks whether a server is ready.

use std::time::Duration;

use clap::Args;
use hornbook::http::fetch_readiness;
use serde_json::json;

use crate::cli::output::{print, print_json};
use crate::cli::{CommandResult, GlobalOptions, flag};

/// Check whether the running server is ready
///
/// Requests /readyz at server.listen, with TLS if it is configured. The exit code is 0 if the
/// server is ready, else 1. Use it in containers, service managers and scripts.
#[derive(Debug, Args)]
pub(crate) struct Healthcheck {
    /// Address and port of the server [default: server.listen]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,

    /// Timeout in seconds
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    within: u64,
}

impl Healthcheck {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let listen = self.listen.map(|listen| flag("--listen", "server.listen", listen));
        let config = options.configuration_with(listen)?;
        let (listen, is_encrypted) = (config.server.listen, config.tls.certificate.is_some());
        let said = fetch_readiness(listen, is_encrypted, Duration::from_secs(self.within.max(1)));
        let is_ready = said.as_ref().is_ok_and(|said| said.status == 200);
        let word = match &said {
            Ok(said) => said.state.clone(),
            Err(error) => error.to_string(),
        };
        if options.json {
            let snapshot = said.ok().and_then(|said| said.snapshot);
            let answer = json!({ "ready": is_ready, "said": word, "address": listen, "snapshot": snapshot });
            print_json(&answer)?;
        } else if is_ready {
            print(&format!("{listen} is ready\n"))?;
        }
        match is_ready {
            true => Ok(()),
            false => Err(format!("{listen} is not ready: {word}; see the log of the server").into()),
        }
    }
}
