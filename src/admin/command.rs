//! All administrative commands: their help on the command line and their form on the socket.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hornbook_accounts::budget::Budget;
use hornbook_accounts::formation;
use hornbook_accounts::ids::{CheckoutId, OrderId, PurchaseId};
use hornbook_accounts::people::PersonRole;
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::tier::PackName;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdminCommand {
    /// Show what waits for the operator: purchases, payments, orders, accounts
    ///
    /// Lists purchases to confirm, payments with a problem, orders that are not completed and
    /// accounts that are not approved; each with the next command.
    Inbox {
        /// Mark the problems with the payment of this checkout as solved
        #[arg(long, value_name = "CHECKOUT")]
        done: Option<CheckoutId>,
    },
    /// Create, approve, disable, delete, list and show accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, rotate, revoke and list API keys, and set their budgets
    #[command(subcommand)]
    Key(KeyCommand),
    /// Give credits to an account
    Grant {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// The number of credits
        credits: u32,
        /// The reason, recorded in the ledger
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
    /// The snapshot is verified first. A bad one is refused with the reason, and the server keeps
    /// the current one. No request fails meanwhile, and each response comes from one snapshot.
    /// Renewed TLS certificates and changed synonyms (search.synonyms) are loaded too. SIGHUP does the
    /// same.
    Reload,
    /// Show the newest administrative acts: time, actor, action and object
    Audit {
        /// The number of acts
        #[arg(long, default_value_t = 50)]
        count: usize,
    },
    /// Copy the state of accounts to a new file and verify the copy
    ///
    /// Works whether or not the server runs.
    Backup {
        /// The file to write, which must not exist yet
        to: PathBuf,
    },
    /// Replace the state of accounts with a backup; the server must be stopped
    ///
    /// First shows which accounts and keys the restore brings back, loses or changes, and asks for
    /// confirmation. Keys that are revoked now stay revoked, and accounts that are disabled now
    /// stay disabled, as far as the present state can be read.
    Restore {
        /// The backup file
        from: PathBuf,
        /// Do not ask for confirmation; for scripts
        #[arg(long)]
        yes: bool,
    },
}

impl AdminCommand {
    /// Whether the command may take longer than a commit. Slow commands run one after another;
    /// other commands do not wait for them.
    pub(super) fn is_slow(&self) -> bool {
        match self {
            Self::Backup { .. } | Self::Restore { .. } | Self::Reload => true,
            Self::Ledger(command) => matches!(command, LedgerCommand::Verify | LedgerCommand::RollUp { .. }),
            _ => false,
        }
    }
}

/// An account by its id, or by its name if only one account has this name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountRef(pub String);

/// A key by its id, or by its prefix if only one key has this prefix.
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
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
    },
    /// Disable an account; its keys stop working at once
    Disable {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
    },
    /// Make a one-time link with which the owner of an account chooses how to sign in
    ///
    /// The person who opens it within three days chooses a name and a password, or only a new
    /// password if the account already has a name. Use it to invite people, and for forgotten
    /// passwords. It ends earlier links of the account.
    Link {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// Let the owner run the service from the web pages
        #[arg(long)]
        operator: bool,
    },
    /// Set what the person of an account may do on the pages
    Role {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// customer; or operator, who may run the service
        #[arg(value_parser = PersonRole::parse)]
        role: PersonRole,
    },
    /// Delete an account; it cannot come back
    ///
    /// Its name, its person, its keys and its sessions go. Without --yes nothing is deleted; the answer
    /// says what would go and what remains. Credits that are left are lost. Payments, usage and
    /// administrative acts stay on record under the number of the account, because the books must add
    /// up; they do not have its name.
    Delete {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// Delete it
        #[arg(long)]
        yes: bool,
    },
    /// List all accounts
    List,
    /// Show an account, its keys and its newest ledger entries
    Show {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
    },
}

/// The limits of a key's budget.
#[derive(Clone, Copy, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetOptions {
    /// The credits that the key may spend in all [default: no limit]
    #[arg(long, value_name = "CREDITS")]
    budget: Option<u32>,
    /// The credits that it may spend in a month (UTC) [default: no limit]
    #[arg(long, value_name = "CREDITS")]
    monthly_budget: Option<u32>,
    /// The credits that it may spend on a day (UTC) [default: no limit]
    #[arg(long, value_name = "CREDITS")]
    daily_budget: Option<u32>,
}

impl From<BudgetOptions> for Budget {
    fn from(options: BudgetOptions) -> Self {
        let BudgetOptions { budget, monthly_budget, daily_budget } = options;
        Self { total: budget, per_month: monthly_budget, per_day: daily_budget }
    }
}

#[derive(Clone, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyCommand {
    /// Create a key; its text is shown only once
    Create {
        /// The account of the key: its id, or its name if only one account has this name
        account: AccountRef,
        /// A name to tell the account's keys apart
        #[arg(long, default_value = "default")]
        name: String,
        /// The scopes of the key, separated by commas: what it may be used for
        #[arg(long, default_value_t = ScopeSet::ALL)]
        scopes: ScopeSet,
        /// Days until the key expires [default: it does not expire]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires_in_days: Option<u32>,
        #[command(flatten)]
        #[serde(default)]
        budget: BudgetOptions,
        /// Create a key that begins with hb_test_
        #[arg(long)]
        test: bool,
    },
    /// Replace a key with a new one that has the same scopes
    Rotate {
        /// The key to replace: its id, or its prefix, such as hb_live_ab12
        key: KeyRef,
        /// How many seconds the old key keeps working
        #[arg(long, default_value_t = 86_400)]
        overlap_sec: u64,
    },
    /// Set what a key may spend; without a limit, its budget ends
    ///
    /// What the key has spent under its budget so far still counts. The calls of keys that it created
    /// count too. `key list` shows budgets and what is spent of them.
    Budget {
        /// The key: its id, or its prefix, such as hb_live_ab12
        key: KeyRef,
        #[command(flatten)]
        budget: BudgetOptions,
    },
    /// Revoke a key; it stops working at once, and so do the keys that it created
    Revoke {
        /// The key: its id, or its prefix, such as hb_live_ab12
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
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// The pack: starter, pro or bulk
        #[arg(value_parser = PackName::parse)]
        pack: PackName,
    },
    /// Record the payment of a purchase, which gives the credits and raises the tier
    Approve {
        /// The purchase
        purchase: PurchaseId,
        /// Id of the payment, so that the same payment never counts twice; needed if there is a payment page
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
        /// The reason, recorded in the ledger
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
        /// Name of the company to form
        entity_name: String,
        /// Type of the company
        #[arg(long, default_value = "llc", value_parser = formation::entity_type)]
        entity_type: String,
        /// State in which the company is formed, such as DE
        #[arg(long, value_parser = formation::state)]
        jurisdiction: String,
    },
    /// Move an order to a later stage
    ///
    /// The stage completed raises the account's allotment for good and removes the intake.
    Advance {
        /// The order
        order: OrderId,
        /// The stage that the order has reached
        #[arg(value_parser = OrderStage::parse)]
        stage: OrderStage,
    },
    /// Record the payment of an order, which moves it to the stage setup
    ConfirmPayment {
        /// The order
        order: OrderId,
        /// Id of the payment, so that the same payment never counts twice; needed if there is a payment page
        #[arg(long)]
        reference: Option<String>,
    },
    /// Remove an order that will not be paid, with its intake
    Discard {
        /// The order
        order: OrderId,
    },
    /// Show an order and each of its moves: when and by whom
    Show {
        /// The order
        order: OrderId,
        /// Also show the intake, with names and addresses of people. This is recorded in the audit log
        #[arg(long)]
        intake: bool,
    },
    /// Remove the drafts and intakes whose key is lost for good
    ///
    /// They were sealed with state.key of the data directory. A new key is created when it is needed.
    GiveUpSealed {
        /// Remove them; without this nothing is changed
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
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// The number of entries
        #[arg(long, default_value_t = 20)]
        count: usize,
    },
    /// Check every link, balance and sum of the ledger, and print the totals
    Verify,
    /// Correct a balance in either direction, but never below zero
    Adjust {
        /// The account: its id, or its name if only one account has this name
        account: AccountRef,
        /// Credits to add, or to remove if negative
        #[arg(allow_hyphen_values = true)]
        credits: i64,
        /// The reason, recorded in the ledger
        #[arg(long)]
        reason: String,
    },
    /// Condense old usage entries into one row per account and day
    RollUp {
        /// Condense entries older than this number of days
        older_than_days: u32,
    },
}
