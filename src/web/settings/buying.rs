//! Buys a pack with the operation `purchase`, the same one that programs call.

use hornbook_accounts::tier::PackName;
use serde_json::Value;

use crate::api::call::{Call, CallerIdentity, Outcome, Progress};
use crate::api::call_terms::CallTerms;
use crate::api::error::ApiError;
use crate::api::parameters::Arguments;
use crate::api::replies::PurchaseReply;
use crate::api::reply::{Body, Format};
use crate::web::page_context::{PageContext, row};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;

pub(super) async fn purchase(
    shell: &PageContext,
    seen: &PageRequest<'_>,
    pack: PackName,
) -> Result<PurchaseReply, PageError> {
    let mut arguments = Arguments::default();
    arguments.body.insert("pack".to_owned(), Value::from(pack.tier().name()));
    let progress = Progress::default();
    let call = Call {
        edition: shell.service.corpus().into(),
        operation: row("purchase")?,
        asker: CallerIdentity::Person(seen.person()?),
        arguments,
        format: Some(Format::Json),
        idempotency_key: Ok(None),
        known_versions: None,
        terms: CallTerms::default(),
        progress: &progress,
    };
    let outcome = shell.service.call(call).await;
    seen.request.progress.include(&progress);
    let answer = match outcome {
        Outcome::Answered(answer) => answer,
        Outcome::Failed(failure) => return Err(failure.error.into()),
        Outcome::Unchanged { .. } | Outcome::Priced(_) => {
            return Err(PageError::Failed("purchase answered that nothing changed".to_owned()));
        }
    };
    let Body::Bytes(bytes) = answer.reply.body else {
        return Err(PageError::Failed("the reply of purchase is compressed".to_owned()));
    };
    let read = serde_json::from_slice(&bytes);
    read.map_err(|error| ApiError::internal(format!("cannot read the reply of purchase: {error}")).into())
}
