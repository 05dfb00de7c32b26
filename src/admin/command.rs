//! Every administrative command, once: its help on the command line and its form on the socket.

use std::path::PathBuf;

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use crate::accounts::formation;
use crate::accounts::ids::{CheckoutId, OrderId, PurchaseId};
use crate::accounts::people::Role;
use crate::accounts::records::OrderStage;
use crate::accounts::scope::ScopeSet;
use crate::accounts::tier::PackName;

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdminCommand {
    /// Show what waits for the operator: purchases, payments, orders, accounts
    ///
    /// Purchases that are to be confirmed, payments that do not fit, orders that are not completed, accounts that are not
    /// approved; each with the command that comes next.
    Inbox {
        /// Take a problem with a payment off the list
        #[arg(long, value_name = "CHECKOUT")]
        done: Option<CheckoutId>,
    },
    /// Create, approve, disable, list and show accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, rotate, revoke and list API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Give credits to an account
    Grant {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// How many credits
        credits: u32,
        /// Why, for the ledger
        #[arg(long)]
        reason: String,
    },
    /// Record, approve, cancel and refund purchases of credit packs
    #[command(subcommand)]
    Purchase(PurchaseCommand),
    /// Open and advance company formation orders
    #[command(subcommand)]
    Order(OrderCommand),
    /// Show, verify, correct and condense the ledger
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Make the running server switch to the snapshot that data/current points to
    ///
    /// The snapshot is verified first. A bad one is refused with the reason, and the server keeps the one it has. No request
    /// fails meanwhile, and each answer comes from one snapshot. Renewed TLS certificates are loaded too. SIGHUP does the same.
    Reload,
    /// Show the newest administrative acts: when, by whom, what, on what
    Audit {
        /// How many acts
        #[arg(long, default_value_t = 50)]
        count: usize,
    },
    /// Copy the state of accounts to a new file and verify the copy
    ///
    /// Works while the server runs and while it does not.
    Backup {
        /// The file to write, which must not exist yet
        to: PathBuf,
    },
    /// Replace the state of accounts by a backup; the server must be stopped
    ///
    /// Shows first which accounts and keys the restore brings back, loses or changes, and asks. Keys that are revoked now
    /// stay revoked, and accounts that are disabled now stay disabled, as far as the present state can be read.
    Restore {
        /// The backup file
        from: PathBuf,
        /// Do not ask; for scripts
        #[arg(long)]
        yes: bool,
    },
}

impl AdminCommand {
    /// Whether it may take longer than a commit. Slow commands wait for each other, and no other waits for them.
    pub(super) fn is_slow(&self) -> bool {
        match self {
            Self::Backup { .. } | Self::Restore { .. } | Self::Reload => true,
            Self::Ledger(command) => matches!(command, LedgerCommand::Verify | LedgerCommand::RollUp { .. }),
            _ => false,
        }
    }
}

/// An account by its id or, where only one account has it, by its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountRef(pub String);

/// A key by its id or, if only one key has it, by its prefix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyRef(pub String);

impl From<String> for AccountRef {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<String> for KeyRef {
    fn from(text: String) -> Self {
        Self(text)
    }
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccountCommand {
    /// Create an account; its keys work once it is approved
    Create {
        /// Name or e-mail address of its owner
        name: String,
        /// Approve it at once
        #[arg(long)]
        approve: bool,
    },
    /// Approve an account, so that its keys work
    ///
    /// The first approval gives the credits of the free tier, if its profile has any.
    Approve {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
    },
    /// Disable an account; its keys stop working at once
    Disable {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
    },
    /// Make a link with which the owner of an account chooses how to sign in, once
    ///
    /// Whoever opens it within three days chooses a name and a password; where the account has them already, a new password.
    /// Use it to invite people, and for forgotten passwords. An earlier link of the account ends.
    Link {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// Let the owner run the service from its pages
        #[arg(long)]
        operator: bool,
    },
    /// Say what the person of an account may do on the pages
    Role {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// customer, or operator: may run the service
        #[arg(value_parser = Role::parse)]
        role: Role,
    },
    /// List all accounts
    List,
    /// Show an account, its keys and its newest ledger entries
    Show {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
    },
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyCommand {
    /// Create a key; its text is shown only once
    Create {
        /// The account that the key belongs to, by id or by its name if only one has it
        account: AccountRef,
        /// A name to tell the account's keys apart
        #[arg(long, default_value = "default")]
        name: String,
        /// What the key may be used for: comma-separated scopes
        #[arg(long, default_value_t = ScopeSet::ALL)]
        scopes: ScopeSet,
        /// Days until the key expires [default: it does not expire]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires_in_days: Option<u32>,
        /// Create a key that begins with hb_test_
        #[arg(long)]
        test: bool,
    },
    /// Replace a key by a new one with the same scopes
    Rotate {
        /// The key to replace, by id or by its prefix, such as hb_live_ab12
        key: KeyRef,
        /// Seconds for which the old key still works
        #[arg(long, default_value_t = 86_400)]
        overlap_sec: u64,
    },
    /// Revoke a key; it stops working at once
    Revoke {
        /// The key, by id or by its prefix, such as hb_live_ab12
        key: KeyRef,
    },
    /// List the keys of an account, or of all accounts
    List {
        /// The account [default: all]
        account: Option<AccountRef>,
    },
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurchaseCommand {
    /// Record that an account wants to buy a pack
    Request {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// The pack: starter, pro or bulk
        #[arg(value_parser = PackName::parse)]
        pack: PackName,
    },
    /// Record the payment of a purchase, which gives the credits and raises the tier
    Approve {
        /// The purchase
        purchase: PurchaseId,
        /// Id of the payment, so that the same payment never counts twice
        #[arg(long)]
        reference: Option<String>,
    },
    /// Cancel a purchase that will not be paid
    Cancel {
        /// The purchase
        purchase: PurchaseId,
    },
    /// Take back the credits of a paid purchase
    Refund {
        /// The purchase
        purchase: PurchaseId,
        /// Why, for the ledger
        #[arg(long)]
        reason: String,
    },
    /// List all purchases
    List,
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderCommand {
    /// Open an order; its tracking token is shown only once
    Create {
        /// The account that ordered
        account: AccountRef,
        /// Name of the company to be formed
        entity_name: String,
        /// Type of the company
        #[arg(long, default_value = "llc", value_parser = formation::entity_type)]
        entity_type: String,
        /// State in which it is formed, such as DE
        #[arg(long, value_parser = formation::state)]
        jurisdiction: String,
    },
    /// Move an order to a later stage
    ///
    /// Completion raises the account's allotment for good and removes the intake.
    Advance {
        /// The order
        order: OrderId,
        /// The stage that is reached
        #[arg(value_parser = OrderStage::parse)]
        stage: OrderStage,
    },
    /// Record the payment of an order, which moves it to the stage setup
    ConfirmPayment {
        /// The order
        order: OrderId,
        /// Id of the payment, so that the same payment never counts twice
        #[arg(long)]
        reference: Option<String>,
    },
    /// Remove an order that will not be paid, with its intake
    Discard {
        /// The order
        order: OrderId,
    },
    /// Show an order with every move: when and by whom
    Show {
        /// The order
        order: OrderId,
        /// Show the intake too: names and addresses of people. This is recorded in the audit log
        #[arg(long)]
        intake: bool,
    },
    /// Give up the drafts and intakes whose key is lost for good
    ///
    /// They were sealed with state.key of the data directory. A new key is made when it is needed.
    GiveUpSealed {
        /// Do it; without this nothing is changed
        #[arg(long)]
        yes: bool,
    },
    /// List all orders
    List,
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerCommand {
    /// Show the newest entries of an account
    Show {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// How many entries
        #[arg(long, default_value_t = 20)]
        count: usize,
    },
    /// Check every link, balance and sum of the ledger, and print the totals
    Verify,
    /// Correct a balance, in either direction, but never below zero
    Adjust {
        /// The account, by id or by its name if only one has it
        account: AccountRef,
        /// Credits to add, or to take away if negative
        #[arg(allow_hyphen_values = true)]
        credits: i64,
        /// Why, for the ledger
        #[arg(long)]
        reason: String,
    },
    /// Condense old usage entries into one row per day
    RollUp {
        /// Age in days from which entries are condensed
        older_than_days: u32,
    },
}
