//! The value types: how each is parsed, and which values are valid.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use hornbook_accounts::Durability;
use hornbook_accounts::changes::CREDITS_MAX;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::people::SignUpPolicy;
use hornbook_pack::PublicKey;

use crate::log::{LogFormat, RequestLogging};
use crate::network::Network;
use crate::web_origin::WebOrigin;

/// A type of setting values.
pub(super) trait SettingValue: Sized {
    /// Whether the value must never be printed.
    const IS_SECRET: bool = false;

    /// A description of the valid values.
    fn takes() -> String;

    /// Parses a value. The error is a description of the valid values.
    fn parse(text: &str) -> Result<Self, String>;
}

/// A duration in whole seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seconds(pub Duration);

/// A URL such as `https://law.example.org/hornbook`, without a slash at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseUrl(pub String);

/// A key whose signatures are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrustedKey(pub PublicKey);

/// A line of text for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneLineText(pub String);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnOff {
    On,
    Off,
}

/// A host name as agents send it, without a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName(pub String);

/// Whether people may let agents in without an API key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentSignIn {
    On,
    Off,
    /// No message without a key or a token is answered, so that every client asks its person to sign in.
    Required,
}

/// Where the changes that keys watch may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebhookReach {
    Off,
    Public,
    Any,
}

/// Where the state of accounts is. Its `Debug` output hides the address, which may contain a password.
#[derive(Clone, PartialEq, Eq)]
pub enum StateBackend {
    Embedded,
    /// The address of a database.
    Database(String),
}

impl StateBackend {
    /// Parses a value. The error is a description of the valid values.
    pub fn from_text(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl fmt::Debug for StateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedded => "Embedded",
            Self::Database(_) => "Database(..)",
        })
    }
}

/// The style of the tool names that agents see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolNames {
    Dotted,
    Snake,
}

/// The search depth of calls that do not choose one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchDepth {
    Fast,
    Deep,
    Auto,
}

/// The two kinds of free tier in the contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeTierKind {
    Monthly,
    Grant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentProvider {
    /// The operator approves each purchase.
    Operator,
    /// Customers pay by card with Stripe Checkout.
    Stripe,
}

/// A key for Stripe's API. Its `Debug` output hides the key.
#[derive(Clone, PartialEq, Eq)]
pub struct StripeKey(String);

/// The secret that signs a webhook. Its `Debug` output hides the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(String);

impl StripeKey {
    /// Parses a file that contains only the key. The error describes what the file must contain.
    pub fn from_file_text(text: &str) -> Result<Self, String> {
        Self::parse(text.trim_end_matches(['\r', '\n']))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl WebhookSecret {
    /// Parses a file that contains only the secret. The error describes what the file must contain.
    pub fn of_file(text: &str) -> Result<Self, String> {
        Self::parse(text.trim_end_matches(['\r', '\n']))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StripeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StripeKey(..)")
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

/// Implements [`SettingValue`] for an enum whose variants are written as fixed words.
macro_rules! choice {
    ($Type:ident { $first:ident: $first_word:literal $(, $variant:ident: $word:literal)* }) => {
        impl SettingValue for $Type {
            fn takes() -> String {
                one_of(&[$first_word $(, $word)*])
            }

            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $first_word => Ok(Self::$first),
                    $($word => Ok(Self::$variant),)*
                    _ => Err(Self::takes()),
                }
            }
        }
    };
}

/// Joins words like `all, errors or none`.
fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

choice!(Durability { Strict: "strict", Window: "window" });
choice!(LogFormat { Text: "text", Json: "json" });
choice!(SearchDepth { Fast: "fast", Deep: "deep", Auto: "auto" });
choice!(FreeTierKind { Monthly: "monthly", Grant: "grant" });
choice!(WebhookReach { Off: "off", Public: "public", Any: "any" });
choice!(AgentSignIn { On: "on", Off: "off", Required: "required" });

choice!(ToolNames { Dotted: "dotted", Snake: "snake" });
choice!(RequestLogging { All: "all", Errors: "errors", None: "none" });

choice!(SignUpPolicy { Invited: "invited", Approval: "approval", Open: "open" });

choice!(PaymentProvider { Operator: "operator", Stripe: "stripe" });

impl SettingValue for StateBackend {
    const IS_SECRET: bool = true;

    fn takes() -> String {
        "embedded, or an address such as postgres://user:password@host/database".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_address = text.starts_with("postgres://") || text.starts_with("postgresql://");
        match text {
            "embedded" => Ok(Self::Embedded),
            _ if is_address => Ok(Self::Database(text.to_owned())),
            _ => Err(Self::takes()),
        }
    }
}

impl SettingValue for StripeKey {
    const IS_SECRET: bool = true;

    fn takes() -> String {
        "a secret or restricted key of Stripe, which begins with sk_ or rk_".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_good = (text.starts_with("sk_") || text.starts_with("rk_")) && is_secret(text);
        if is_good { Ok(Self(text.to_owned())) } else { Err(Self::takes()) }
    }
}

impl SettingValue for WebhookSecret {
    const IS_SECRET: bool = true;

    fn takes() -> String {
        format!("a secret of {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} letters, digits and symbols, without spaces")
    }

    fn parse(text: &str) -> Result<Self, String> {
        if is_secret(text) { Ok(Self(text.to_owned())) } else { Err(Self::takes()) }
    }
}

const SECRET_CHARS_MIN: usize = 16;
const SECRET_CHARS_MAX: usize = 256;

fn is_secret(text: &str) -> bool {
    (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

impl SettingValue for OnOff {
    fn takes() -> String {
        "on or off".to_owned()
    }

    /// Also accepts the Booleans of TOML.
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "on" | "true" => Ok(Self::On),
            "off" | "false" => Ok(Self::Off),
            _ => Err(Self::takes()),
        }
    }
}

impl SettingValue for u32 {
    fn takes() -> String {
        format!("a whole number from 0 to {}", Self::MAX)
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| Self::takes())
    }
}

impl SettingValue for NonZeroU32 {
    fn takes() -> String {
        format!("a whole number from 1 to {}", u32::MAX)
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| Self::takes())
    }
}

const SECONDS_MAX: u32 = 86_400;

impl SettingValue for Seconds {
    fn takes() -> String {
        format!("a whole number of seconds from 1 to {SECONDS_MAX}")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let seconds = text.parse().ok().filter(|seconds: &u32| (1..=SECONDS_MAX).contains(seconds));
        seconds.map(|seconds| Self(Duration::from_secs(seconds.into()))).ok_or_else(Self::takes)
    }
}

impl SettingValue for Credits {
    fn takes() -> String {
        format!("a whole number of credits from 0 to {CREDITS_MAX}")
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|credits| *credits <= CREDITS_MAX).map(Self).ok_or_else(Self::takes)
    }
}

impl SettingValue for PathBuf {
    fn takes() -> String {
        "a path".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(Self::takes()) } else { Ok(text.into()) }
    }
}

impl SettingValue for SocketAddr {
    fn takes() -> String {
        "an IP address and a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let complete = |port: u16| format!("an IP address and a port: write \"127.0.0.1:{port}\"");
        let port_alone = || text.trim_start_matches([':', '*']).parse().ok();
        let of_localhost = || text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
        text.parse().map_err(|_| port_alone().or_else(of_localhost).map_or_else(Self::takes, complete))
    }
}

impl SettingValue for BaseUrl {
    fn takes() -> String {
        "a URL without query, such as \"https://law.example.org\"".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest = rest.filter(|rest| !rest.starts_with('/') && has_only_url_chars(rest)).ok_or_else(Self::takes)?;
        if rest.is_empty() { Err(Self::takes()) } else { Ok(Self(text.trim_end_matches('/').to_owned())) }
    }
}

impl SettingValue for TrustedKey {
    fn takes() -> String {
        "a public key of minisign in one line, as 'hornbook snapshot keygen' prints it".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        PublicKey::parse(text).map(Self).map_err(|_| Self::takes())
    }
}

impl SettingValue for WebOrigin {
    fn takes() -> String {
        "an origin, such as \"https://app.example.org\", without a path".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let BaseUrl(url) = BaseUrl::parse(text).map_err(|_| Self::takes())?;
        let is_origin = url == text && url.matches('/').count() == 2;
        Self::of_url(&url).filter(|_| is_origin).ok_or_else(Self::takes)
    }
}

impl SettingValue for HostName {
    fn takes() -> String {
        "a host, such as \"mcp.example.org\", without a port".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_name =
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte));
        let has_port = text.contains(':') && !text.ends_with(']');
        if is_name && !has_port { Ok(Self(text.to_ascii_lowercase())) } else { Err(Self::takes()) }
    }
}

const LINE_CHARS_MAX: usize = 500;

impl SettingValue for OneLineText {
    fn takes() -> String {
        format!("text of at most {LINE_CHARS_MAX} characters in one line")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_good =
            !text.trim().is_empty() && text.chars().count() <= LINE_CHARS_MAX && !text.chars().any(char::is_control);
        if is_good { Ok(Self(text.to_owned())) } else { Err(Self::takes()) }
    }
}

fn has_only_url_chars(rest: &str) -> bool {
    rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/[]%".contains(&byte))
}

impl SettingValue for Network {
    fn takes() -> String {
        "an address or network, such as \"10.0.0.0/8\" or \"::1\"".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| Self::takes())
    }
}

/// Empty text means none.
impl<T: SettingValue> SettingValue for Option<T> {
    const IS_SECRET: bool = T::IS_SECRET;

    fn takes() -> String {
        format!("{}, or \"\" for none", T::takes())
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }
}

/// Comma-separated.
impl<T: SettingValue> SettingValue for Vec<T> {
    fn takes() -> String {
        format!("a comma-separated list, each entry {}", T::takes())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(|entry| T::parse(entry).map_err(|_| Self::takes())).collect()
    }
}
