//! Every administrative command, once: its words on the command line and its form on the socket.

use std::path::PathBuf;

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use crate::accounts::ids::{AccountId, KeyId, OrderId, PurchaseId};
use crate::accounts::records::OrderStage;
use crate::accounts::scope::ScopeSet;
use crate::accounts::tier::PackName;

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdminCommand {
    /// Create, approve, disable and list accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, rotate, revoke and list API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Give credits to an account
    Grant {
        account: AccountId,
        credits: u32,
        #[arg(long)]
        reason: String,
    },
    /// Handle purchases of packs
    #[command(subcommand)]
    Purchase(PurchaseCommand),
    /// Follow company formation orders
    #[command(subcommand)]
    Order(OrderCommand),
    /// Look at, prove and condense the ledger
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Let the running server take up the snapshot that data/current points at now
    ///
    /// The snapshot is verified first: a bad one is refused with the reason, and the server stays with the one it has. No
    /// request fails meanwhile, and each answer is wholly from one snapshot. SIGHUP does the same.
    Reload,
    /// Copy the state to a new file, while the server runs or not, and verify the copy
    Backup { to: PathBuf },
    /// Put a backup in place of the state; the server must be stopped
    Restore {
        from: PathBuf,
        /// Replace the state that is there
        #[arg(long)]
        force: bool,
    },
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccountCommand {
    /// Create an account; its keys work once it is approved
    Create {
        name: String,
        /// Approve it at once
        #[arg(long)]
        approve: bool,
    },
    /// Let an account in; the first approval brings the free tier's grant
    Approve { account: AccountId },
    /// Shut an account out at once
    Disable { account: AccountId },
    /// List every account
    List,
    /// Show one account, its keys and newest ledger entries
    Show { account: AccountId },
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyCommand {
    /// Create a key; its text is shown once
    Create {
        account: AccountId,
        #[arg(long, default_value = "default")]
        name: String,
        /// What it may be used for, separated by commas
        #[arg(long, default_value_t = ScopeSet::ALL)]
        scopes: ScopeSet,
        #[arg(long)]
        expires_in_days: Option<u32>,
        /// Make a key that begins with hb_test_
        #[arg(long)]
        test: bool,
    },
    /// Replace a key by a new one with the same scopes
    Rotate {
        key: KeyId,
        /// How long the old key keeps working
        #[arg(long, default_value_t = 86_400)]
        overlap_sec: u64,
    },
    /// End a key at once
    Revoke { key: KeyId },
    /// List the keys of an account, or all
    List { account: Option<AccountId> },
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurchaseCommand {
    /// Note that an account wants a pack
    Request {
        account: AccountId,
        #[arg(value_parser = PackName::parse)]
        pack: PackName,
    },
    /// The payment arrived: give the credits and raise the tier
    Approve {
        purchase: PurchaseId,
        /// The payment provider's id, so that the same payment never counts twice
        #[arg(long)]
        reference: Option<String>,
    },
    /// It will not be paid
    Cancel { purchase: PurchaseId },
    /// Take the credits of a paid purchase back
    Refund {
        purchase: PurchaseId,
        #[arg(long)]
        reason: String,
    },
    /// List every purchase
    List,
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderCommand {
    /// Open an order; its tracking token is shown once
    Create {
        account: AccountId,
        entity_name: String,
        #[arg(long, default_value = "llc")]
        entity_type: String,
        #[arg(long)]
        jurisdiction: String,
    },
    /// Move an order to a later stage; completing it raises the account's allotment
    Advance {
        order: OrderId,
        #[arg(value_parser = OrderStage::parse)]
        stage: OrderStage,
    },
    /// Show one order
    Show { order: OrderId },
    /// List every order
    List,
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerCommand {
    /// The newest entries of an account
    Show {
        account: AccountId,
        #[arg(long, default_value_t = 20)]
        count: usize,
    },
    /// Prove every link, balance and sum, and print the totals
    Verify,
    /// Correct a balance, in either direction, never below zero
    Adjust {
        account: AccountId,
        #[arg(allow_hyphen_values = true)]
        credits: i64,
        #[arg(long)]
        reason: String,
    },
    /// Turn usage older than so many days into daily rows
    RollUp { older_than_days: u32 },
}
