//! The configuration: `hornbook.toml`, then the environment, then flags; what comes later wins.
//!
//! [`SETTINGS`] is the one table: name, kind, default and meaning of every setting. Reading files, environment names,
//! `config show`, and the refusal of unknown names with the nearest known one all follow from it. A setting that is a
//! secret can come from a file named in `HORNBOOK_..._FILE`, and is never shown.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::accounts::changes::CREDITS_MAX;
use crate::accounts::tier::{FreeTier, PackName, Tariff};
use crate::accounts::{Durability, Settings};
use crate::http::{HttpSettings, Logged, Patience, Proxies, TlsFiles};
use crate::log::Form;

/// What a setting may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Number,
    /// An amount of credits that one ledger entry can hold.
    Credits,
    Choice(&'static [&'static str]),
    Secret,
}

pub struct Setting {
    /// `section.name`, as in the file; in the environment `HORNBOOK_SECTION_NAME`.
    pub name: &'static str,
    pub kind: Kind,
    /// Empty for none.
    pub default: &'static str,
    pub meaning: &'static str,
}

const fn setting(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Setting {
    Setting { name, kind, default, meaning }
}

const PROFILES: Kind = Kind::Choice(&["monthly", "grant"]);
const ON_OFF: Kind = Kind::Choice(&["on", "off"]);
const MODES: Kind = Kind::Choice(&["strict", "window"]);

/// Every setting. A limit or price without a default here is the contract's, or the profile's.
pub const SETTINGS: &[Setting] = &[
    setting("data.dir", Kind::Text, "data", "directory of the state, the snapshots and the admin socket"),
    setting("server.listen", Kind::Text, "127.0.0.1:8080", "address and port to listen on"),
    setting("server.base_url", Kind::Text, "", "address under which clients see the service; empty: where it listens"),
    setting("server.connections_max", Kind::Number, "12000", "connections at once; more are closed"),
    setting("server.connections_per_address_max", Kind::Number, "10000", "connections at once from one address"),
    setting("server.head_seconds", Kind::Number, "10", "seconds for the head of a request; more is a 408"),
    setting("server.idle_seconds", Kind::Number, "60", "seconds without a byte before a connection is closed"),
    setting("server.proxies", Kind::Text, "", "addresses or networks of proxies that may name the client, by commas"),
    setting("server.proxy_protocol", ON_OFF, "off", "on: connections of those proxies begin with the PROXY protocol"),
    setting("tls.certificate", Kind::Text, "", "PEM file of the certificate and its issuers; empty: no TLS"),
    setting("tls.private_key", Kind::Text, "", "PEM file of the certificate's private key"),
    setting("metrics.listen", Kind::Text, "", "address and port of metrics, such as 127.0.0.1:9090; empty: none"),
    setting("log.format", Kind::Choice(&["text", "json"]), "text", "how lines of the log are written"),
    setting("log.requests", Kind::Choice(&["all", "errors", "none"]), "all", "which requests are logged"),
    setting("server.cross_origins", Kind::Text, "", "origins whose web pages may call, parted by commas"),
    setting("server.permits", Kind::Number, "", "searches that may run at once; empty: one per core"),
    setting(
        "ledger.durability",
        MODES,
        "strict",
        "strict: a 200 waits for its debit; window: at most 50 ms may be forgotten",
    ),
    setting("ledger.rollup_after_days", Kind::Number, "", "usage older than this becomes daily rows; empty keeps all"),
    setting("free.profile", PROFILES, "monthly", "free tier: units that renew monthly, or credits granted once"),
    setting("free.per_minute", Kind::Number, "", "calls a minute of a free key"),
    setting("free.per_day", Kind::Number, "", "calls a day of a free key"),
    setting("free.monthly_units", Kind::Number, "", "free units a month"),
    setting("free.credits_on_approval", Kind::Credits, "", "credits given once on approval"),
    setting("free.monthly_units_after_formation", Kind::Number, "", "free units a month once a company was formed"),
    setting("pack_starter.price_cents", Kind::Number, "", "price in US cents"),
    setting("pack_starter.credits", Kind::Credits, "", "credits"),
    setting("pack_starter.per_minute", Kind::Number, "", "calls a minute"),
    setting("pack_starter.per_day", Kind::Number, "", "calls a day"),
    setting("pack_pro.price_cents", Kind::Number, "", "price in US cents"),
    setting("pack_pro.credits", Kind::Credits, "", "credits"),
    setting("pack_pro.per_minute", Kind::Number, "", "calls a minute"),
    setting("pack_pro.per_day", Kind::Number, "", "calls a day"),
    setting("pack_bulk.price_cents", Kind::Number, "", "price in US cents"),
    setting("pack_bulk.credits", Kind::Credits, "", "credits"),
    setting("pack_bulk.per_minute", Kind::Number, "", "calls a minute"),
    setting("pack_bulk.per_day", Kind::Number, "", "calls a day"),
    setting("payments.provider", Kind::Choice(&["operator", "stripe"]), "operator", "who says that a purchase is paid"),
    setting("payments.stripe_secret_key", Kind::Secret, "", "secret key of the Stripe account"),
    setting("payments.stripe_webhook_secret", Kind::Secret, "", "secret that signs Stripe's webhooks"),
];

impl Setting {
    fn environment_name(&self) -> String {
        format!("HORNBOOK_{}", self.name.replace('.', "_").to_uppercase())
    }

    fn check(&self, value: &str, from: &Origin) -> Result<(), ConfigError> {
        let wanted = match self.kind {
            Kind::Number if value.parse::<u32>().is_err() => format!("a whole number up to {}", u32::MAX),
            Kind::Credits if value.parse().map_or(true, |credits: u32| credits > CREDITS_MAX) => {
                format!("a whole number of credits up to {CREDITS_MAX}")
            }
            Kind::Choice(choices) if !choices.contains(&value) => format!("one of {}", choices.join(", ")),
            _ => return Ok(()),
        };
        let shown = if self.kind == Kind::Secret { "..." } else { value };
        Err(ConfigError::Value { name: self.name, value: shown.to_owned(), from: from.clone(), wanted })
    }
}

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

#[derive(Debug)]
pub enum ConfigError {
    Unknown {
        name: String,
        from: Origin,
        nearest: String,
    },
    Value {
        name: &'static str,
        value: String,
        from: Origin,
        wanted: String,
    },
    Twice {
        name: &'static str,
        first: String,
        second: String,
    },
    /// Not TOML. The line itself is not repeated: it may hold a secret.
    Parse {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    NotText {
        name: String,
    },
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, from, nearest } => {
                write!(f, "{from} sets {name}, which does not exist; did you mean {nearest}?")
            }
            Self::Value { name, value, from, wanted } => {
                write!(f, "{from} sets {name} to '{value}'; it takes {wanted}")
            }
            Self::Twice { name, first, second } => write!(f, "{name} is set by both {first} and {second}; keep one"),
            Self::Parse { path, line, problem } => {
                write!(f, "cannot read {}: line {line}: {problem}; correct it", path.display())
            }
            Self::NotText { name } => write!(f, "${name} is not valid UTF-8; set it to text, or unset it"),
            Self::Read { path, source } => {
                write!(f, "cannot read {}: {source}; check path and permissions", path.display())
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Effective values with their origins. Does not print secrets.
pub struct Config {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Config {
    /// Defaults, then `file` if given, then these environment variables, then `name=value` flags.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let defaults = SETTINGS.iter().filter(|setting| !setting.default.is_empty());
        let values = defaults.map(|setting| (setting.name, (setting.default.to_owned(), Origin::Default))).collect();
        let mut config = Self { values };
        if let Some(path) = file {
            config.take_file(path)?;
        }
        config.take_environment(environment)?;
        for (name, value) in flags {
            config.set(&name, value, Origin::Flag)?;
        }
        Ok(config)
    }

    fn take_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            ConfigError::Parse { path: path.to_owned(), line, problem: error.message().to_owned() }
        })?;
        for (section, content) in table {
            match content {
                toml::Value::Table(entries) => {
                    for (name, value) in entries {
                        self.set(&format!("{section}.{name}"), as_text(&value), Origin::File(path.to_owned()))?;
                    }
                }
                other => self.set(&section, as_text(&other), Origin::File(path.to_owned()))?,
            }
        }
        Ok(())
    }

    fn take_environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        let mut by_name: BTreeMap<&'static str, String> = BTreeMap::new();
        for (variable, value) in variables {
            // Others' variables may hold anything.
            let variable = variable.to_string_lossy().into_owned();
            if !variable.starts_with("HORNBOOK_") {
                continue;
            }
            let Ok(value) = value.into_string() else { return Err(ConfigError::NotText { name: variable }) };
            let (setting, from_file) = find_variable(&variable)?;
            if let Some(first) = by_name.insert(setting.name, variable.clone()) {
                return Err(ConfigError::Twice { name: setting.name, first, second: variable });
            }
            let value = if from_file { read_secret(Path::new(&value))? } else { value };
            self.set(setting.name, value, Origin::Environment(variable))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: String, from: Origin) -> Result<(), ConfigError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            let nearest = nearest(name, SETTINGS.iter().map(|setting| setting.name.to_owned()));
            return Err(ConfigError::Unknown { name: name.to_owned(), from, nearest });
        };
        setting.check(&value, &from)?;
        self.values.insert(setting.name, (value, from));
        Ok(())
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|(value, _)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.text(name).and_then(|value| value.parse().ok())
    }

    pub fn data_dir(&self) -> PathBuf {
        self.text("data.dir").unwrap_or("data").into()
    }

    /// The part that concerns accounts.
    pub fn accounts(&self) -> Settings {
        let durability =
            if self.text("ledger.durability") == Some("window") { Durability::Window } else { Durability::Strict };
        Settings { tariff: self.tariff(), durability, rollup_after_days: self.number("ledger.rollup_after_days") }
    }

    /// The part that concerns connections.
    pub fn http(&self) -> Result<HttpSettings, ConfigError> {
        let number = |name| self.number(name).map_or(usize::MAX, |number| number as usize);
        let origins = self.text("server.cross_origins").unwrap_or_default().split(',').map(str::trim);
        let seconds = |name| Duration::from_secs(self.number(name).unwrap_or(u32::MAX).max(1).into());
        Ok(HttpSettings {
            listen: self.address("server.listen")?.ok_or_else(|| self.no_address("server.listen"))?,
            metrics: self.address("metrics.listen")?,
            connections_max: number("server.connections_max"),
            connections_per_address_max: number("server.connections_per_address_max"),
            patience: Patience { head: seconds("server.head_seconds"), idle: seconds("server.idle_seconds") },
            proxies: self.proxies()?,
            tls: None,
            cross_origins: origins.filter(|origin| !origin.is_empty()).map(str::to_owned).collect(),
        })
    }

    /// Where certificate and key lie, if there is to be TLS.
    pub fn tls(&self) -> Result<Option<TlsFiles>, ConfigError> {
        let path = |name| self.text(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        match (path("tls.certificate"), path("tls.private_key")) {
            (None, None) => Ok(None),
            (Some(certificate), Some(private_key)) => Ok(Some(TlsFiles { certificate, private_key })),
            (Some(_), None) => Err(self.wrong("tls.private_key", "the file of the key, as tls.certificate is set")),
            (None, Some(_)) => {
                Err(self.wrong("tls.certificate", "the file of the certificate, as tls.private_key is set"))
            }
        }
    }

    fn proxies(&self) -> Result<Proxies, ConfigError> {
        let announce = self.text("server.proxy_protocol") == Some("on");
        let proxies = Proxies::parse(self.text("server.proxies").unwrap_or_default(), announce);
        proxies.map_err(|_| self.wrong("server.proxies", "addresses or networks by commas, such as 10.0.0.0/8, ::1"))
    }

    pub fn log_form(&self) -> Form {
        if self.text("log.format") == Some("json") { Form::Json } else { Form::Text }
    }

    pub fn logged(&self) -> Logged {
        match self.text("log.requests") {
            Some("none") => Logged::None,
            Some("errors") => Logged::Errors,
            _ => Logged::All,
        }
    }

    fn address(&self, name: &'static str) -> Result<Option<SocketAddr>, ConfigError> {
        let value = self.text(name).unwrap_or_default();
        if value.is_empty() {
            return Ok(None);
        }
        value.parse().map(Some).map_err(|_| self.no_address(name))
    }

    fn no_address(&self, name: &'static str) -> ConfigError {
        self.wrong(name, "an address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    }

    fn wrong(&self, name: &'static str, wanted: &str) -> ConfigError {
        let (value, from) = self.values.get(name).cloned().unwrap_or((String::new(), Origin::Default));
        ConfigError::Value { name, value, from, wanted: wanted.to_owned() }
    }

    /// How many searches may run at once, where that was chosen.
    pub fn permits(&self) -> Option<usize> {
        self.number("server.permits").map(|permits| permits as usize)
    }

    fn tariff(&self) -> Tariff {
        let mut tariff = Tariff::CONTRACT;
        tariff.free = if self.text("free.profile") == Some("grant") { FreeTier::GRANT } else { FreeTier::MONTHLY };
        self.replace("free.per_minute", &mut tariff.free.limits.per_minute);
        self.replace("free.per_day", &mut tariff.free.limits.per_day);
        self.replace("free.monthly_units", &mut tariff.free.monthly_units);
        self.replace("free.credits_on_approval", &mut tariff.free.credits_on_approval.0);
        self.replace("free.monthly_units_after_formation", &mut tariff.monthly_units_after_formation);
        for name in PackName::ALL {
            let pack = tariff.pack_mut(name);
            let section = format!("pack_{}", name.tier());
            self.replace(&format!("{section}.price_cents"), &mut pack.price_cents);
            self.replace(&format!("{section}.credits"), &mut pack.credits.0);
            self.replace(&format!("{section}.per_minute"), &mut pack.limits.per_minute);
            self.replace(&format!("{section}.per_day"), &mut pack.limits.per_day);
        }
        tariff
    }

    fn replace(&self, name: &str, target: &mut u32) {
        if let Some(number) = self.number(name) {
            *target = number;
        }
    }

    /// Every setting with its effective value and origin, secrets masked.
    pub fn show(&self) -> Value {
        let row = |setting: &Setting| {
            let found = self.values.get(setting.name);
            let value = found.map(|(value, _)| if setting.kind == Kind::Secret { "********" } else { value });
            let origin = found.map_or(Origin::Default, |(_, origin)| origin.clone());
            json!({ "name": setting.name, "value": value, "from": origin.to_string(), "meaning": setting.meaning })
        };
        SETTINGS.iter().map(row).collect()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show().fmt(f)
    }
}

fn find_variable(variable: &str) -> Result<(&'static Setting, bool), ConfigError> {
    for setting in SETTINGS {
        let name = setting.environment_name();
        if variable == name {
            return Ok((setting, false));
        }
        if setting.kind == Kind::Secret && variable.strip_prefix(&name) == Some("_FILE") {
            return Ok((setting, true));
        }
    }
    let nearest = nearest(variable, SETTINGS.iter().map(Setting::environment_name));
    let from = Origin::Environment(variable.to_owned());
    Err(ConfigError::Unknown { name: variable.to_owned(), from, nearest })
}

fn read_secret(path: &Path) -> Result<String, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn as_text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    known.min_by_key(|candidate| edits(name, candidate)).unwrap_or_default()
}

/// How many letters must be changed, added or removed to get from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<T: From<String>>(pairs: &[(&str, &str)]) -> Vec<(T, T)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned().into(), (*value).to_owned().into())).collect()
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hornbook.toml");
        let text = "[free]\nprofile = \"grant\"\nper_minute = 11\nper_day = 12\nmonthly_units = 13\n[pack_pro]\ncredits = 6000\n";
        std::fs::write(&file, text).unwrap();
        let environment =
            pairs(&[("HORNBOOK_FREE_PER_MINUTE", "21"), ("HORNBOOK_FREE_PER_DAY", "22"), ("PATH", "/bin")]);
        let config = Config::load(Some(&file), environment, pairs(&[("free.per_minute", "31")])).unwrap();
        let tariff = config.accounts().tariff;
        assert_eq!(
            (tariff.free.limits.per_minute, tariff.free.limits.per_day, tariff.free.monthly_units),
            (31, 22, 13)
        );
        assert_eq!((tariff.free.credits_on_approval.0, tariff.pack(PackName::Pro).credits.0), (500, 6000));
        assert_eq!(Config::load(None, [], []).unwrap().accounts().tariff, Tariff::CONTRACT);
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let message = |environment: &[(&str, &str)], flags: &[(&str, &str)]| {
            Config::load(None, pairs(environment), pairs(flags)).unwrap_err().to_string()
        };
        assert!(message(&[], &[("free.per_minut", "1")]).ends_with("did you mean free.per_minute?"));
        assert!(message(&[("HORNBOOK_FRE_PER_DAY", "1")], &[]).ends_with("did you mean HORNBOOK_FREE_PER_DAY?"));
        assert!(message(&[], &[("free.per_minute", "many")]).contains("takes a whole number"));
        assert!(message(&[], &[("pack_pro.credits", "3000000000")]).contains("up to 1000000000"));
        assert!(message(&[], &[("ledger.durability", "maybe")]).contains("one of strict, window"));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hornbook.toml");
        std::fs::write(&file, "[ledgr]\ndurability = \"window\"\n").unwrap();
        let error = Config::load(Some(&file), [], []).unwrap_err().to_string();
        assert!(error.ends_with("did you mean ledger.durability?"), "{error}");
    }

    #[test]
    fn what_concerns_connections_is_checked_before_anything_listens() {
        let with = |flags: &[(&str, &str)]| Config::load(None, [], pairs(flags)).unwrap();
        for (flag, value, told) in [
            ("server.listen", "8080", "an address and a port"),
            ("server.listen", "", "an address and a port"),
            ("metrics.listen", "localhost:9090", "an address and a port"),
            ("server.proxies", "10.0.0.0/8, everybody", "addresses or networks"),
        ] {
            let error = with(&[(flag, value)]).http().unwrap_err().to_string();
            assert!(error.contains(flag) && error.contains(told), "{error}");
        }
        let http = with(&[("server.proxies", "10.0.0.0/8, ::1"), ("server.proxy_protocol", "on")]).http().unwrap();
        assert!(http.proxies.announce && http.metrics.is_none());
        assert!(with(&[("tls.certificate", "a.pem")]).tls().unwrap_err().to_string().contains("tls.private_key"));
        assert!(with(&[("tls.private_key", "a.pem")]).tls().unwrap_err().to_string().contains("tls.certificate"));
        assert!(with(&[("tls.certificate", "a"), ("tls.private_key", "b")]).tls().unwrap().is_some());
        assert_eq!(with(&[]).tls().unwrap(), None);
    }

    #[test]
    fn secrets_come_from_files_and_are_never_shown() {
        let directory = tempfile::tempdir().unwrap();
        let secret = directory.path().join("secret");
        std::fs::write(&secret, "sk_very_secret\n").unwrap();
        let variable = "HORNBOOK_PAYMENTS_STRIPE_SECRET_KEY";
        let from_file = pairs(&[(&format!("{variable}_FILE"), secret.to_str().unwrap())]);
        let config = Config::load(None, from_file.clone(), []).unwrap();
        assert_eq!(config.text("payments.stripe_secret_key"), Some("sk_very_secret"));
        let shown = format!("{config:?} {}", config.show());
        assert!(shown.contains("********") && !shown.contains("sk_very"));
        let both = from_file.into_iter().chain(pairs(&[(variable, "other")]));
        assert!(Config::load(None, both, []).unwrap_err().to_string().contains("keep one"));
        assert!(Config::load(None, pairs(&[("HORNBOOK_DATA_DIR_FILE", "x")]), []).is_err());
    }

    #[test]
    fn every_default_passes_its_own_check() {
        for setting in SETTINGS.iter().filter(|setting| !setting.default.is_empty()) {
            setting.check(setting.default, &Origin::Default).unwrap();
        }
        let mut names: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SETTINGS.len());
    }
}
