//! What narrows a call to a part of the corpus: a jurisdiction, a code body.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{CodeBodyId, OrdinalRange, ShortCode};

use crate::api::corpus::Corpus;
use crate::api::error::Violation;
use crate::api::parameters::Param;

pub(in crate::api) const JURISDICTION: Param<Option<ShortCode>> =
    Param::optional("jurisdiction", "short code of a jurisdiction; includes its sub-jurisdictions");

pub(in crate::api) const CODE_BODY: Param<Option<CodeBodyId>> =
    Param::optional("codeBody", "id of a code body, from code-bodies");

/// A jurisdiction with its sub-jurisdictions.
pub(super) fn subtree(corpus: &Corpus, code: &ShortCode) -> Result<OrdinalRange, Violation> {
    match corpus.catalogue().jurisdiction(code) {
        Some(jurisdiction) => Ok(jurisdiction.subtree),
        None => {
            let message = format!("there is no jurisdiction {code}; /api/v1/coverage lists them");
            Err(Violation::new(JURISDICTION.rule.name, message))
        }
    }
}

/// The code body that the parameter of this name gives.
pub(super) fn code_body<'s>(corpus: &'s Corpus, id: CodeBodyId, name: &str) -> Result<&'s CodeBody, Violation> {
    corpus
        .catalogue()
        .code_body(id)
        .ok_or_else(|| Violation::new(name, format!("there is no code body {id}; /api/v1/code-bodies lists them")))
}
