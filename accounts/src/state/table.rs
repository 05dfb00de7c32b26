//! The tables of the state file.

/// A table. Keys are big-endian bytes, so that they sort like the numbers. Values are records with a checksum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StateTable {
    /// Single records: schema, ledger head, last ids, checkpoint, number of acts, the sign-in networks of each account.
    Meta,
    /// Account number -> account, JSON.
    Accounts,
    /// Key number -> key, JSON.
    Keys,
    /// Account number -> posted balance and newest ledger entry.
    Wallets,
    /// Account number, month -> allotment units used.
    Allotments,
    /// Key number -> calls per day, last use.
    Counters,
    /// Key number, kind of window, window -> credits that a key with a budget spent.
    Spending,
    /// First entry number -> block of ledger entries.
    Ledger,
    /// Step, day, account -> sums of usage entries that were rolled up.
    ArchivedDays,
    /// Step, entry number -> an entry other than usage, kept whole by a roll-up.
    ArchivedEntries,
    /// Operation code -> name.
    Operations,
    /// Purchase number -> purchase, JSON.
    Purchases,
    /// Order id -> formation order, JSON.
    Orders,
    /// Token digest -> session, JSON.
    Sessions,
    /// Key number, digest -> the debit of an idempotency key.
    Idempotency,
    /// Time, key number, digest -> nothing; the order in which idempotency records expire.
    IdempotencyAges,
    /// Number -> administrative act, JSON.
    Acts,
    /// Checkout id -> a payment provider's page and the reports on its payment, JSON.
    Checkouts,
    /// Reference of a payment -> the purchase or order that it paid for, JSON.
    Payments,
    /// Reference of a payment that is not known yet -> the provider's reports on it, JSON.
    EarlyReports,
    /// Token digest -> draft of a formation order, JSON with the intake sealed.
    Drafts,
    /// Time of expiry, token digest -> account number while the draft is open; the order in which drafts expire.
    DraftAges,
    /// Account number -> its person with name, role and hashed password, JSON.
    People,
    /// Sign-in name -> account number.
    Logins,
    /// Token digest -> one-time link, JSON.
    Links,
    /// Watch number -> what a key watches, JSON.
    Watches,
    /// Swap number, key number -> what a swap of snapshots changed for the watches of a key, JSON.
    WatchReports,
    /// Key number -> the address that its reports are sent to, JSON.
    WatchWebhooks,
    /// Code digest -> what a person allowed an agent, JSON.
    AgentCodes,
    /// Account number, server -> the part of the account that the server may spend.
    Leases,
    /// Server -> how far its journal is in the ledger.
    Servers,
    /// Index, owner, key of a record -> nothing; see [`Index`](super::Index).
    Index,
}

impl StateTable {
    pub const ALL: [Self; 32] = [
        Self::Meta,
        Self::Accounts,
        Self::Keys,
        Self::Wallets,
        Self::Allotments,
        Self::Counters,
        Self::Spending,
        Self::Ledger,
        Self::ArchivedDays,
        Self::ArchivedEntries,
        Self::Operations,
        Self::Purchases,
        Self::Orders,
        Self::Sessions,
        Self::Idempotency,
        Self::IdempotencyAges,
        Self::Acts,
        Self::Checkouts,
        Self::Payments,
        Self::EarlyReports,
        Self::Drafts,
        Self::DraftAges,
        Self::People,
        Self::Logins,
        Self::Links,
        Self::Watches,
        Self::WatchReports,
        Self::WatchWebhooks,
        Self::AgentCodes,
        Self::Servers,
        Self::Leases,
        Self::Index,
    ];

    /// The tables that a copy takes over: not the leases of servers that do not use it, and not the index, which is
    /// made again.
    pub(super) const COPIED: [Self; 30] = {
        let mut copied = [Self::Meta; 30];
        let mut at = 0;
        while at < copied.len() {
            copied[at] = Self::ALL[at];
            at += 1;
        }
        copied
    };

    pub const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Accounts => "accounts",
            Self::Keys => "keys",
            Self::Wallets => "wallets",
            Self::Allotments => "allotments",
            Self::Counters => "counters",
            Self::Spending => "spending",
            Self::Ledger => "ledger",
            Self::ArchivedDays => "archived_days",
            Self::ArchivedEntries => "archived_entries",
            Self::Operations => "operations",
            Self::Purchases => "purchases",
            Self::Orders => "orders",
            Self::Sessions => "sessions",
            Self::Idempotency => "idempotency",
            Self::IdempotencyAges => "idempotency_ages",
            Self::Acts => "acts",
            Self::Checkouts => "checkouts",
            Self::Payments => "payments",
            Self::EarlyReports => "early_reports",
            Self::Drafts => "drafts",
            Self::DraftAges => "draft_ages",
            Self::People => "people",
            Self::Logins => "logins",
            Self::Links => "links",
            Self::Watches => "watches",
            Self::WatchReports => "watch_reports",
            Self::WatchWebhooks => "watch_webhooks",
            Self::AgentCodes => "agent_codes",
            Self::Leases => "leases",
            Self::Servers => "servers",
            Self::Index => "index",
        }
    }
}
