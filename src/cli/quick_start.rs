//! `hornbook` without a command: builds the sample corpus contained in the program, creates a demo
//! account, and serves.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hornbook::config::{Config, Origin};
use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::ActContext;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::state::create_data_directory;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

use crate::cli::output::{print, print_ignoring_errors};
use crate::cli::sample;
use crate::cli::serve::OpenService;
use crate::cli::{CommandResult, GlobalOptions};

/// Name of the file with the demo account's key, in the data directory. A later start prints the
/// key again.
const DEMO_KEY_FILE: &str = "demo.key";

pub(super) fn run(options: &GlobalOptions) -> CommandResult {
    let mut config = options.configuration()?;
    open_search(&mut config);
    let data = config.data.dir.clone();
    if !data.join("current").exists() {
        build_sample(&data)?;
    }
    let served = OpenService::open(&config)?;
    let key = demo_key(&served, &data)?;
    served.run(&config, |base| announce(base, key.as_deref(), &data))
}

/// Lets a person on this machine search as often as all visitors may together. A limit that the operator set stays.
fn open_search(config: &mut Config) {
    let is_default = |name| config.effective().any(|set| set.setting.name == name && set.origin == Origin::Default);
    if config.server.listen.ip().is_loopback() && is_default("web.searches_per_minute") {
        config.web.searches_per_minute = config.web.searches_per_minute.max(config.web.all_searches_per_minute);
    }
}

fn build_sample(data: &Path) -> CommandResult {
    create_data_directory(data)?;
    let sources = tempfile::Builder::new().prefix(".sample-").tempdir_in(data)?;
    sample::unpack_into(sources.path())?;
    let built = build(&BuildOptions {
        plan: sources.path().join(sample::PLAN),
        sources: None,
        destination: Destination::DataDirectory(data.to_owned()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::for_stderr(),
    })?;
    print(&format!("{}: built from the sample corpus\n", built.path.display()))
}

/// The key of the demo account. If there is no account yet, creates one and stores the key in a
/// file that only the owner can read.
fn demo_key(served: &OpenService, data: &Path) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let path = data.join(DEMO_KEY_FILE);
    let act = ActContext { actor: Actor::program("quick start"), at: served.clock.now().wall };
    if let Some(issued) = served.accounts.create_demo_account(&act, &mut SystemEntropy)? {
        let key = issued.secret.reveal();
        // A file from an earlier start belongs to state that was deleted.
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        writeln!(file, "{key}")?;
        return Ok(Some(key));
    }
    match fs::read_to_string(&path) {
        Ok(key) => Ok(Some(key.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read the demo key {}: {error}", path.display()).into()),
    }
}

fn announce(base: &str, key: Option<&str>, data: &Path) {
    let key = match key {
        Some(key) => format!(
            "demo key: {key} (stored in {})\n\nTry:\n  curl -H 'Authorization: Bearer {key}' \\\n    '{base}/api/v1/search?q=return+of+the+security+deposit'",
            data.join(DEMO_KEY_FILE).display()
        ),
        None => "accounts already exist; 'hornbook key create ACCOUNT' creates a key".to_owned(),
    };
    print_ignoring_errors(&format!("listening on {base}\n{key}\n"));
}
