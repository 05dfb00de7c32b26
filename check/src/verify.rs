//! Checks one quotation, with or without its citation.

use hornbook_search::{Engine, LawOnDay, SearchError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check_citations::{QuotedSource, source_of};
use crate::check_quotations::{QuotationChecker, QuotationResult};
use crate::compare::{Difference, MarkedQuotation};
use crate::report::{CitedProvision, QuotationVerdict};

/// The answer to one quotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuoteAnswer {
    pub verdict: QuotationVerdict,
    /// The canonical form of the citation, if one was given and could be read.
    pub citation: Option<String>,
    /// An explanation for people, with the next step to take.
    pub message: String,
    /// The provisions that have these words.
    pub found_in: Vec<CitedProvision>,
    /// The comparison with the cited law, if words differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// Compares a quotation with the law that a citation names. Without a citation, finds the provisions that have its
/// words.
pub fn verify_quote(
    engine: &Engine,
    law: &LawOnDay,
    citation: Option<&str>,
    quote: &str,
) -> Result<QuoteAnswer, SearchError> {
    let quote = quote.trim().trim_matches(['“', '”', '"', '‘', '’', '\'']);
    let quoted = MarkedQuotation::new(quote);
    let mut checker = QuotationChecker::new(engine, law);
    let Some(citation) = citation else {
        let QuotationResult { verdict, message, found_in, differences } = checker.find_source(&quoted)?;
        return Ok(QuoteAnswer { verdict, citation: None, message, found_in, differences });
    };
    let answers = engine.resolve_on(law, citation)?;
    let sources: Vec<QuotedSource> = answers.iter().map(|answer| source_of(engine, answer)).collect();
    let named: Vec<&QuotedSource> = sources.iter().collect();
    let (source, result) = checker.compare(&quoted, &named)?;
    let QuotationResult { verdict, message, found_in, differences } = result;
    let citation = source.and_then(|source| source.citation.clone());
    Ok(QuoteAnswer { verdict, citation, message, found_in, differences })
}
