//! The configuration: `hornbook.toml`, then the environment, then flags; later values win.
//!
//! `settings` is the one table, and [`Config`] the typed struct that is made of its rows; `value` has the kinds of values;
//! `sources` reads them, each with its origin, and refuses a bad one where it is read. Only the command line knows this
//! module: it hands each part of the program the settings that concern it.

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
use table::Given;
pub use table::Setting;
pub use value::{PaymentProvider, SearchDepth, StripeKey, Switch, ToolNames, WebhookSecret};

/// The setting whose name is most like this one.
pub fn nearest_setting(name: &str) -> String {
    sources::nearest(name, SETTINGS.iter().map(|setting| setting.name.to_owned()))
}

/// A setting as it is in force.
pub struct EffectiveValue {
    pub setting: &'static Setting,
    /// As it would be written in the file; empty for none. A secret is hidden.
    pub value: String,
    pub origin: Origin,
}

impl Config {
    /// Defaults, then `file` if given, then these environment variables, then flags.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: impl IntoIterator<Item = FlagValue>,
    ) -> Result<Self, ConfigError> {
        let mut given = Given::none_of(SETTINGS);
        if let Some(path) = file {
            given.take_file(path)?;
        }
        given.take_environment(environment)?;
        given.take_flags(flags)?;
        let config = Self::from_given(given)?;
        config.check_together()?;
        Ok(config)
    }

    /// What no value shows alone.
    fn check_together(&self) -> Result<(), ConfigError> {
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
        )
    }

    /// Every setting with its effective value and where that comes from.
    pub fn effective(&self) -> impl Iterator<Item = EffectiveValue> {
        SETTINGS.iter().map(|setting| {
            let (value, origin) = self.given.shown(setting);
            EffectiveValue { setting, value, origin }
        })
    }
}

/// A secret is given by itself or by its file, not by both, and may be needed because of another setting.
fn one_of_two(
    itself: (&'static str, bool),
    file: (&'static str, bool),
    needed: Option<&'static str>,
) -> Result<(), ConfigError> {
    match (itself.1, file.1, needed) {
        (true, true, _) => Err(ConfigError::Both { one: itself.0, other: file.0 }),
        (false, false, Some(because)) => Err(ConfigError::Neither { because, one: itself.0, other: file.0 }),
        _ => Ok(()),
    }
}
