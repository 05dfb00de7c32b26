//! The `[source.zoning]` table of a plan, as written and as used.

use regex::Regex;
use serde::Deserialize;

use hornbook_corpus::zoning::layer::{LayerStatus, PlaceholderReason, ZoneCitation};

use super::input::{ProvisionResolver, ZoningImportError};

/// The options of a zoning source in a plan.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoningOptions {
    #[serde(default)]
    pub status: LayerStatus,
    /// The property of a feature that contains its zone code.
    pub zone_property: String,
    /// Properties with a better name or category of a feature's zone than the table.
    pub name_property: Option<String>,
    pub category_property: Option<String>,
    /// A property that identifies features better than their id or their position in the file.
    pub id_property: Option<String>,
    /// The file of the zone table, relative to the plan.
    pub zones: Option<String>,
    /// Rows of the zone table that are written in the plan itself.
    #[serde(default)]
    pub zone: Vec<ZoneRow>,
    /// The citation template of the provisions in the table. `{number}` is replaced by the value in the table.
    pub citation: Option<String>,
    #[serde(default)]
    pub normalise: Vec<NormaliseRule>,
    /// Whether a code that differs from exactly one known code only in dashes, spaces, periods and
    /// case is read as that code.
    #[serde(default)]
    pub lenient_codes: bool,
}

/// A row of the zone table.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneRow {
    pub zone: String,
    pub name: Option<String>,
    pub category: Option<String>,
    /// A citation, a number for the `citation` template of the plan, or a source key.
    pub provision: Option<String>,
}

/// A rewriting rule for zone codes: a regular expression, and the replacement of each match.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormaliseRule {
    pub pattern: String,
    pub replace: String,
}

/// The rules of a plan, compiled.
pub(super) struct Normaliser {
    rules: Vec<(Regex, String)>,
}

impl Normaliser {
    pub(super) fn new(options: &ZoningOptions, file: &str) -> Result<Self, ZoningImportError> {
        let compile = |rule: &NormaliseRule| match Regex::new(&rule.pattern) {
            Ok(regex) => Ok((regex, rule.replace.clone())),
            Err(error) => Err(ZoningImportError::Options {
                file: file.to_owned(),
                what: format!("the pattern '{}' is not a regular expression: {error}", rule.pattern),
            }),
        };
        let rules = options.normalise.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Applies all rules in order. A code that the rules would erase stays unchanged.
    pub(super) fn apply(&self, code: &str) -> String {
        let mut text = code.trim().to_owned();
        for (regex, replace) in &self.rules {
            text = regex.replace_all(&text, replace).into_owned();
        }
        let text = text.trim();
        if text.is_empty() { code.trim().to_owned() } else { text.to_owned() }
    }
}

/// How the provisions of a table are cited.
pub(super) struct CitationTemplate<'a> {
    template: Option<&'a str>,
}

const NUMBER: &str = "{number}";

impl<'a> CitationTemplate<'a> {
    pub(super) fn new(options: &'a ZoningOptions, file: &str) -> Result<Self, ZoningImportError> {
        let template = options.citation.as_deref();
        if let Some(text) = template
            && !text.contains(NUMBER)
        {
            return Err(ZoningImportError::Options {
                file: file.to_owned(),
                what: format!(
                    "citation = '{text}' would give all zones the same citation; write {NUMBER} where the table's provision belongs, \
                     as in 'Chicago Zoning Ordinance § {NUMBER}'"
                ),
            });
        }
        Ok(Self { template })
    }

    /// The node of a provision, or a placeholder with the citation as far as it is known.
    pub(super) fn cite(&self, provision: &str, resolve: &ProvisionResolver<'_>) -> ZoneCitation {
        let is_source_key = is_source_key(provision);
        let written = match self.template {
            Some(template) if !is_source_key => template.replace(NUMBER, provision),
            _ => provision.to_owned(),
        };
        // The table may contain complete citations even if the plan has a template.
        match resolve(&written).or_else(|| resolve(provision)) {
            Some(found) => ZoneCitation::Linked { node: found.id, citation: found.citation },
            None => ZoneCitation::Placeholder {
                // A source key is not a citation that a reader could look up.
                citation: (!is_source_key).then_some(written),
                reason: PlaceholderReason::ProvisionNotHeld,
                near: Vec::new(),
            },
        }
    }
}

/// Whether a provision is written as a source key, such as `xa/port-arden/zoning/s12`, which no
/// citation resembles.
fn is_source_key(provision: &str) -> bool {
    provision.contains('/') && !provision.contains(char::is_whitespace)
}
