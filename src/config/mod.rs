//! The configuration: `hornbook.toml`, then environment variables, then flags. Later sources
//! override earlier ones.
//!
//! `settings` contains the table of all settings and the struct [`Config`], which is generated from
//! its rows. `value` defines the value types. `sources` reads the values, records the origin of
//! each, and rejects invalid ones. Only the command line uses this module; it passes each part of
//! the program the settings that the part needs.

mod error;
mod origin;
mod settings;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::Path;

pub use error::ConfigError;
pub use origin::Origin;
pub use settings::{Config, FormationSection, SETTINGS};
pub use sources::FlagValue;
use table::RawValues;
pub use table::Setting;
pub use value::{
    AgentSignIn, BaseUrl, OnOff, PaymentProvider, SearchDepth, StateBackend, StripeKey, ToolNames, WebhookReach,
    WebhookSecret,
};

/// The setting whose name is most similar to `name`.
pub fn nearest_setting(name: &str) -> String {
    sources::nearest(name, SETTINGS.iter().map(|setting| setting.name.to_owned()))
}

/// A setting with its effective value.
pub struct EffectiveValue {
    pub setting: &'static Setting,
    /// As the configuration file would contain it; empty if there is no value. Secrets are hidden.
    pub value: String,
    pub origin: Origin,
}

impl Config {
    /// Loads the configuration: defaults, then `file` if given, then the environment variables,
    /// then the flags.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: impl IntoIterator<Item = FlagValue>,
    ) -> Result<Self, ConfigError> {
        let mut given = RawValues::no_values_of(SETTINGS);
        if let Some(path) = file {
            given.read_file_values(path)?;
        }
        given.read_environment_values(environment)?;
        given.read_flag_values(flags)?;
        let config = Self::from_given(given)?;
        config.check_combinations()?;
        Ok(config)
    }

    /// Checks the rules that involve more than one setting.
    fn check_combinations(&self) -> Result<(), ConfigError> {
        let (certificate, private_key) = ("tls.certificate", "tls.private_key");
        match (&self.tls.certificate, &self.tls.private_key) {
            (Some(_), None) => Err(ConfigError::Incomplete { given: certificate, missing: private_key }),
            (None, Some(_)) => Err(ConfigError::Incomplete { given: private_key, missing: certificate }),
            _ => Ok(()),
        }?;
        let payments = &self.payments;
        let is_stripe = payments.provider == PaymentProvider::Stripe;
        let is_stripe = is_stripe.then_some("payments.provider is stripe");
        one_of_two(
            ("payments.stripe_secret_key", payments.stripe_secret_key.is_some()),
            ("payments.stripe_secret_key_file", payments.stripe_secret_key_file.is_some()),
            is_stripe,
        )?;
        one_of_two(
            ("payments.stripe_webhook_secret", payments.stripe_webhook_secret.is_some()),
            ("payments.stripe_webhook_secret_file", payments.stripe_webhook_secret_file.is_some()),
            is_stripe,
        )?;
        let operator = &self.operator;
        one_of_two(
            ("operator.webhook_secret", operator.webhook_secret.is_some()),
            ("operator.webhook_secret_file", operator.webhook_secret_file.is_some()),
            operator.webhook.is_some().then_some("operator.webhook is set"),
        )?;
        let billing = &self.billing;
        one_of_two(
            ("billing.usage_webhook_secret", billing.usage_webhook_secret.is_some()),
            ("billing.usage_webhook_secret_file", billing.usage_webhook_secret_file.is_some()),
            billing.usage_webhook.is_some().then_some("billing.usage_webhook is set"),
        )
    }

    /// Every setting with its effective value and the origin of the value.
    pub fn effective(&self) -> impl Iterator<Item = EffectiveValue> {
        SETTINGS.iter().map(|setting| {
            let (value, origin) = self.given.shown(setting);
            EffectiveValue { setting, value, origin }
        })
    }
}

/// A secret is given either as a value or as a file, not both. `needed` is the reason why one is
/// required.
fn one_of_two(
    itself: (&'static str, bool),
    file: (&'static str, bool),
    needed: Option<&'static str>,
) -> Result<(), ConfigError> {
    match (itself.1, file.1, needed) {
        (true, true, _) => Err(ConfigError::MutuallyExclusive { one: itself.0, other: file.0 }),
        (false, false, Some(because)) => Err(ConfigError::OneRequired { because, one: itself.0, other: file.0 }),
        _ => Ok(()),
    }
}
