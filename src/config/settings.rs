//! The table of settings. To add a setting, add a row. The row generates the field of [`Config`],
//! the names in the file and in the environment, the check of the value, and the line of `hornbook
//! config show`.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use hornbook_accounts::Durability;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::people::SignUpPolicy;
use hornbook_accounts::tier::{FreeTier, PackName, Tariff};

use super::table::{DefaultValue, RawValues, settings};
use super::value::{
    AgentSignIn, BaseUrl, FreeTierKind, HostName, OnOff, OneLineText, PaymentProvider, SearchDepth, Seconds,
    StateBackend, StripeKey, ToolNames, TrustedKey, WebhookReach, WebhookSecret,
};
use crate::log::{LogFormat, RequestLogging};
use crate::network::Network;
use crate::web_origin::WebOrigin;

settings! {
    data: Data {
        dir: PathBuf = DefaultValue::Text("data"), "directory of the state, the snapshots and the admin socket";
    }
    state: StateSection {
        backend: StateBackend = DefaultValue::Text("embedded"),
            "where accounts, money and orders are stored: embedded, in a file of the data directory; or a database that several servers share, as postgres://user:password@host/database";
        ca: Option<PathBuf> = DefaultValue::None,
            "PEM file with the authority that signed the database's certificate; none: those that the system trusts";
        lease_sec: u32 = DefaultValue::Text("60"),
            "seconds for which a server may charge calls to credits that it leased from the database, without asking it; 0: each call waits for the database";
    }
    corpus: CorpusSection {
        scrub_hours: u32 = DefaultValue::Text("24"),
            "hours between two background checks of every byte of the served snapshot; 0: never";
    }
    snapshots: SnapshotsSection {
        origin: Option<BaseUrl> = DefaultValue::None, "URL of the folder of a channel, from which 'hornbook snapshot pull' fetches new editions";
        trusted_keys: Vec<TrustedKey> = DefaultValue::None,
            "public keys of minisign whose signatures on packs and channels are accepted";
        share: Option<PathBuf> = DefaultValue::None,
            "folder of a channel ('hornbook snapshot pack --channel') that other boxes may pull from this server, at /channel; none: no folder";
    }
    server: Server {
        listen: SocketAddr = DefaultValue::Text("127.0.0.1:8080"), "address and port to listen on";
        base_url: Option<BaseUrl> = DefaultValue::Derived(listening_url, "from server.listen"),
            "URL under which clients reach the service";
        connections_max: NonZeroU32 = DefaultValue::Text("12000"), "maximum number of open connections; further ones are closed";
        connections_per_address_max: NonZeroU32 = DefaultValue::Text("2000"),
            "maximum number of open connections from one IPv4 address or one IPv6 /64 network";
        accept_queue_max: NonZeroU32 = DefaultValue::Text("65535"),
            "connections that may wait to be accepted; the system allows at most net.core.somaxconn";
        head_seconds: Seconds = DefaultValue::Text("10"), "timeout for receiving the head of a request, which is then answered with 408";
        idle_seconds: Seconds = DefaultValue::Text("60"), "timeout for a connection without requests";
        unread_seconds: Seconds = DefaultValue::Text("30"), "timeout for a client that does not read its response";
        read_bytes_per_second_min: NonZeroU32 = DefaultValue::Text("4096"),
            "minimum speed at which a client must read a response, in bytes per second; a slower client counts as one that does not read";
        unread_bytes_per_address_max: NonZeroU32 = DefaultValue::Text("67108864"),
            "maximum bytes of responses that one address may leave unread; above it, its next request is answered with 503";
        unread_bytes_per_account_max: NonZeroU32 = DefaultValue::Text("67108864"),
            "maximum bytes of responses that one account may leave unread; above it, its next call is answered with 503";
        open_per_minute: u32 = DefaultValue::Text("300"),
            "requests per minute from one address (IPv6: one /64) that need no API key, not counting probes; 0: no limit";
        permits: NonZeroU32 = DefaultValue::Derived(cores, "one per core"), "maximum number of heavy calls that run at the same time";
        cross_origins: Vec<WebOrigin> = DefaultValue::None, "origins whose web pages may call the service";
        proxies: Vec<Network> = DefaultValue::None, "addresses or networks of proxies that are trusted to report the client's address";
        proxy_protocol: OnOff = DefaultValue::Text("off"), "on: connections from these proxies begin with a PROXY protocol header";
    }
    search: SearchSection {
        depth: SearchDepth = DefaultValue::Text("auto"),
            "search depth of calls that do not choose one, if the snapshot has a sentence encoder: fast, deep, or deep only for questions (auto)";
        synonyms: Option<PathBuf> = DefaultValue::None,
            "file with synonyms of your own: what people say, '>', what your law says, a row a line; read at start and by 'hornbook reload'; 'hornbook search --synonyms FILE' tries it";
        deep_permits: NonZeroU32 = DefaultValue::Derived(half_the_cores, "one per two cores"), "maximum number of deep searches that run at the same time";
    }
    mcp: McpSection {
        names: ToolNames = DefaultValue::Text("dotted"),
            "style of the tool names that agents see: dotted (law.search), or snake (search_law) for clients that do not accept dots; calls may use both";
        hosts: Vec<HostName> = DefaultValue::None,
            "hosts under which agents may reach the service, in addition to this machine's names and the host of server.base_url";
        origins: Vec<WebOrigin> = DefaultValue::None,
            "origins whose web pages may act as agents, in addition to this machine's and that of server.base_url";
        free_per_minute: u32 = DefaultValue::Text("600"),
            "free messages per minute, such as handshakes and lists, for each key or address; 0: no limit";
        sign_in: AgentSignIn = DefaultValue::Text("on"),
            "on: people may let agents in on a page, without an API key, if server.base_url is https or this machine and has no path; required: also, nothing is answered without a key, for clients that sign in only if their first message is refused; off";
    }
    web: WebSection {
        reads_per_minute: u32 = DefaultValue::Text("60"),
            "pages of law per minute that people without an account may read from one address; 0: none";
        searches_per_minute: u32 = DefaultValue::Text("10"),
            "searches per minute that people without an account may make from one address; 0: only the samples";
        all_reads_per_minute: u32 = DefaultValue::Text("6000"),
            "pages of law per minute that all people without an account may read together; 0: no limit";
        all_searches_per_minute: u32 = DefaultValue::Text("600"),
            "searches per minute that all people without an account may make together; 0: no limit";
        indexing: OnOff = DefaultValue::Text("off"), "on: robots.txt and sitemaps allow search engines to index the pages of law";
    }
    people: PeopleSection {
        sign_up: SignUpPolicy = DefaultValue::Text("invited"),
            "who may create an account on the pages: only people the operator invited (invited), anybody after approval (approval), or anybody immediately (open)";
        terms: Option<BaseUrl> = DefaultValue::None, "page with the operator's terms of use, which the sign-up page links to";
        privacy: Option<BaseUrl> = DefaultValue::None, "page on what the operator does with personal data, which the sign-up page links to";
        session_idle_hours: NonZeroU32 = DefaultValue::Text("168"), "hours without use after which a browser is signed out";
        session_days: NonZeroU32 = DefaultValue::Text("30"), "days after which a browser is signed out, used or not";
    }
    tls: TlsSection {
        certificate: Option<PathBuf> = DefaultValue::None, "PEM file of the certificate and its issuers; none: no TLS";
        private_key: Option<PathBuf> = DefaultValue::None, "PEM file of the certificate's private key";
        https_only_days: u32 = DefaultValue::Text("365"),
            "days for which a browser must use TLS after a visit over TLS (Strict-Transport-Security); 0: the header is not sent";
    }
    metrics: MetricsSection {
        listen: Option<SocketAddr> = DefaultValue::None, "address and port of the Prometheus metrics; none: no metrics";
    }
    log: LogSection {
        format: LogFormat = DefaultValue::Text("text"), "format of log lines";
        requests: RequestLogging = DefaultValue::Text("all"),
            "which requests are logged; errors: those answered with 400 or more, or charged to a client that disconnected";
    }
    ledger: Ledger {
        durability: Durability = DefaultValue::Text("strict"),
            "strict: a response waits until its debit is on disk; window: a crash may lose the debits of the last 50 ms";
        rollup_after_days: Option<u32> = DefaultValue::None, "usage entries older than this many days are merged into daily rows; none: all entries are kept";
        retry_horizon_sec: u32 = DefaultValue::Text("600"),
            "seconds during which a request with a repeated Idempotency-Key is answered again without a charge";
    }
    free: Free {
        profile: FreeTierKind = DefaultValue::Text("monthly"), "free tier: units that renew monthly, or credits granted once";
        per_minute: u32 = DefaultValue::Profile(|free| free.limits.per_minute), "calls per minute with a free key";
        per_day: u32 = DefaultValue::Profile(|free| free.limits.per_day), "calls per day with a free key";
        monthly_units: u32 = DefaultValue::Profile(|free| free.monthly_units), "free units per month";
        credits_on_approval: Credits = DefaultValue::Profile(|free| free.credits_on_approval.0),
            "credits granted once, when an account is approved";
        monthly_units_after_formation: u32 = DefaultValue::Tariff(|tariff| tariff.monthly_units_after_formation),
            "free units per month after a company was formed";
    }
    pack_starter: PackStarter {
        price_cents: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Starter).price_cents), "price in US cents";
        credits: Credits = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Starter).credits.0), "credits in the pack";
        per_minute: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Starter).limits.per_minute), "calls per minute";
        per_day: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Starter).limits.per_day), "calls per day";
    }
    pack_pro: PackPro {
        price_cents: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Pro).price_cents), "price in US cents";
        credits: Credits = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Pro).credits.0), "credits in the pack";
        per_minute: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Pro).limits.per_minute), "calls per minute";
        per_day: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Pro).limits.per_day), "calls per day";
    }
    pack_bulk: PackBulk {
        price_cents: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Bulk).price_cents), "price in US cents";
        credits: Credits = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Bulk).credits.0), "credits in the pack";
        per_minute: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Bulk).limits.per_minute), "calls per minute";
        per_day: u32 = DefaultValue::Tariff(|tariff| tariff.pack(PackName::Bulk).limits.per_day), "calls per day";
    }
    formation: FormationSection {
        draft_days: NonZeroU32 = DefaultValue::Text("14"),
            "days after which a submitted intake that nobody accepted is deleted";
        service_fee_cents: u32 = DefaultValue::Tariff(|tariff| tariff.formation_fee_cents),
            "service fee of an order in US cents, in addition to the state's fee";
        how_to_pay: Option<OneLineText> = DefaultValue::None,
            "payment instructions on the review page of an order; none: the page says that the operator gets in touch";
    }
    payments: Payments {
        provider: PaymentProvider = DefaultValue::Text("operator"),
            "who confirms that a purchase is paid; stripe: customers pay by card on a page of Stripe Checkout";
        stripe_secret_key: Option<StripeKey> = DefaultValue::None, "secret key of the Stripe account, or a restricted one";
        stripe_secret_key_file: Option<PathBuf> = DefaultValue::None, "file with that key";
        stripe_webhook_secret: Option<WebhookSecret> = DefaultValue::None,
            "signing secret of Stripe's webhook endpoint, which begins with whsec_";
        stripe_webhook_secret_file: Option<PathBuf> = DefaultValue::None, "file with that secret";
        stripe_api: BaseUrl = DefaultValue::Text("https://api.stripe.com"),
            "URL of Stripe's API, the only address that is called for payments";
    }
    billing: BillingSection {
        usage_webhook: Option<BaseUrl> = DefaultValue::None,
            "URL of a biller outside that receives a POST each hour with what each account used; it decides about no call, and each report is sent until it is taken; none: no reports";
        usage_webhook_secret: Option<WebhookSecret> = DefaultValue::None, "secret that signs these reports";
        usage_webhook_secret_file: Option<PathBuf> = DefaultValue::None, "file with that secret";
    }
    watches: WatchesSection {
        webhooks: WebhookReach = DefaultValue::Text("off"),
            "where the changes that keys watch may be sent: nowhere (off), over TLS to addresses of the public internet (public), or also within this network and unencrypted (any)";
    }
    operator: OperatorSection {
        webhook: Option<BaseUrl> = DefaultValue::None,
            "URL that receives a POST for each task that waits for the operator, with its kind and id; none: use 'hornbook inbox'";
        webhook_secret: Option<WebhookSecret> = DefaultValue::None, "secret that signs these notices";
        webhook_secret_file: Option<PathBuf> = DefaultValue::None, "file with that secret";
    }
}

/// The listen address as a URL. None if the system chooses the port, because it is not known yet.
fn listening_url(given: &RawValues) -> Option<String> {
    let listen: SocketAddr = given.effective("server.listen").0.parse().ok()?;
    let scheme = if given.effective("tls.certificate").0.is_empty() { "http" } else { "https" };
    (listen.port() != 0).then(|| format!("{scheme}://{listen}"))
}

fn cores(_: &RawValues) -> Option<String> {
    Some(std::thread::available_parallelism().map_or(1, usize::from).to_string())
}

fn half_the_cores(given: &RawValues) -> Option<String> {
    let cores: usize = cores(given)?.parse().ok()?;
    Some((cores / 2).max(1).to_string())
}

impl Config {
    /// All prices and limits.
    pub fn tariff(&self) -> Tariff {
        use hornbook_accounts::rate_limit::RateLimits;
        use hornbook_accounts::tier::Pack;
        let pack = |price_cents, credits, per_minute, per_day| Pack {
            price_cents,
            credits,
            limits: RateLimits { per_minute, per_day },
        };
        let Self { free, pack_starter, pack_pro, pack_bulk, .. } = self;
        Tariff {
            free: FreeTier {
                limits: RateLimits { per_minute: free.per_minute, per_day: free.per_day },
                monthly_units: free.monthly_units,
                credits_on_approval: free.credits_on_approval,
            },
            monthly_units_after_formation: free.monthly_units_after_formation,
            formation_fee_cents: self.formation.service_fee_cents,
            packs: [
                pack(pack_starter.price_cents, pack_starter.credits, pack_starter.per_minute, pack_starter.per_day),
                pack(pack_pro.price_cents, pack_pro.credits, pack_pro.per_minute, pack_pro.per_day),
                pack(pack_bulk.price_cents, pack_bulk.credits, pack_bulk.per_minute, pack_bulk.per_day),
            ],
        }
    }
}
