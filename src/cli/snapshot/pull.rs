//! `hornbook snapshot pull`: follows the channel of a publisher.

use std::path::{Path, PathBuf};

use clap::Args;
use hornbook::admin::cli::reload_if_running;
use hornbook::sources::{HttpOrigin, OriginLimits};
use hornbook::tls_client::Trust;
use hornbook_accounts::actor::Actor;
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::loss::refuse_loss;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{InstalledSnapshot, PublicKey, PullTotals, fetch, offer};
use serde_json::json;

use super::RELOAD_HINT;
use super::install::trusted_keys;
use crate::cli::output::{CommandError, print, print_json};
use crate::cli::table::bytes;
use crate::cli::{CommandResult, GlobalOptions};

/// Fetch the newest edition that a publisher offers
///
/// Reads the signed list in the folder at URL, and fetches only the blocks that no installed snapshot has. An older
/// edition than the last one is refused, and so is the list of another channel. After an interruption the next pull goes
/// on. The snapshot in use stays in use unless --swap is given.
#[derive(Debug, Args)]
pub(crate) struct Pull {
    /// The folder of the channel [default: snapshots.origin]
    url: Option<String>,

    /// Put the new edition into use, and make a running server switch to it
    #[arg(long)]
    swap: bool,

    /// With --swap: accept that a code body loses more than a tenth of its provisions
    #[arg(long, requires = "swap")]
    accept_loss: bool,

    /// A public key to accept, in addition to snapshots.trusted_keys; may be repeated
    #[arg(long, value_name = "KEY", value_parser = PublicKey::parse)]
    trust: Vec<PublicKey>,

    /// PEM file with the certificates to trust, instead of the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Pull {
    pub(super) fn run(self, data: &DataDirectory, options: &GlobalOptions) -> CommandResult {
        let config = options.configuration()?;
        let folder = config.data.dir.clone();
        let url = self.url.clone().or(config.snapshots.origin.map(|url| url.0));
        let url = url.ok_or("name the folder of a channel: hornbook snapshot pull URL, or set snapshots.origin")?;
        let trusted = trusted_keys(options, &self.trust)?;
        let tls = self.ca.clone().map_or(Trust::System, Trust::File);
        let progress = ProgressDisplay::for_stderr();
        let mut origin = HttpOrigin::new(&url, &tls, OriginLimits::default(), progress)?;
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let channel = offer(&mut origin, &folder, &trusted, SystemClock::start().now().wall)?;
        let installed: Vec<InstalledSnapshot> =
            data.list()?.into_iter().map(|stored| InstalledSnapshot { id: stored.id, dir: stored.path }).collect();
        let mut totals = PullTotals::default();
        let fill = |arriving: &Path| -> Result<(), CommandError> {
            let mut stage = progress.stage("pulling", "bytes", None);
            let fetched = fetch(&mut origin, &channel, &installed, arriving, |bytes| stage.add(bytes));
            stage.finish();
            totals = fetched?;
            Ok(())
        };
        let (path, is_new) = data.receive(&channel.snapshot, fill, |_| ())?;
        let before = data.current();
        let is_swapped = self.swap && before.as_ref() != Some(&channel.snapshot);
        if is_swapped {
            self.swap_to(data, &folder, &channel.snapshot, &path, before.as_deref(), &options.actor)?;
        }
        let is_current = data.current().as_ref() == Some(&channel.snapshot);
        if options.json {
            return print_json(&json!({
                "channel": channel.channel,
                "sequence": channel.sequence,
                "snapshot": channel.snapshot,
                "isNew": is_new,
                "isCurrent": is_current,
                "fetchedBytes": totals.fetched_bytes,
                "localBytes": totals.local_bytes,
            }));
        }
        let what = match (is_new, is_current) {
            (false, _) => "is here already".to_owned(),
            (true, _) => format!(
                "is installed; {} fetched, {} were here",
                bytes(totals.fetched_bytes),
                bytes(totals.local_bytes)
            ),
        };
        let mut out = format!("edition {} of '{}', {}, {what}\n", channel.sequence, channel.channel, channel.snapshot);
        out += &match (is_current, is_swapped) {
            (true, true) => "it is in use\n".to_owned(),
            (true, false) => String::new(),
            (false, _) => {
                format!("'hornbook snapshot activate {}' puts it into use; {RELOAD_HINT}\n", &channel.snapshot[..8])
            }
        };
        print(&out)
    }

    fn swap_to(
        &self,
        data: &DataDirectory,
        folder: &Path,
        id: &str,
        path: &Path,
        before: Option<&str>,
        actor: &Actor,
    ) -> CommandResult {
        if let Some(before) = before.filter(|_| !self.accept_loss) {
            refuse_loss(&folder.join("snapshots").join(before), path)?;
        }
        data.activate(id, |_| ())?;
        // Without a server there is nothing to reload: it loads the snapshot in use when it starts.
        reload_if_running(folder, actor)?;
        Ok(())
    }
}
