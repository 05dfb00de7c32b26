//! The page on which people check a document: they paste it or choose a file, and see it with each finding at its
//! place.

use ::http::{Method, StatusCode};
use bytes::Bytes;
use hornbook_base::sentence::sentence;
use hornbook_check::{Brief, BriefFormat, Found, report_body};
use maud::{Markup, html};

use super::assets::{CHECK, REPORT};
use super::frame::{Page, SiteSection};
use super::page_context::{OpenPage, OperationCall};
use super::response::{self, CachePolicy};
use super::upload::UploadedForm;
use crate::api::body_of_document;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::operation::CHECK_PAGE_PATH;
use crate::api::replies::CheckReply;
use crate::api::visitors::VisitorAction;
use crate::mount::MountResponse;

/// A longer text is not sent back with a refusal. The browser still has it.
const SHOWN_AGAIN_BYTES_MAX: usize = 64 << 10;

/// A document as it was sent.
struct SentDocument {
    name: String,
    format: BriefFormat,
    bytes: Bytes,
}

/// The form, or the report on a document that was sent.
pub(super) async fn answer(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    if *opened.request.method != Method::POST {
        return Ok(page(opened, StatusCode::OK, "Check a document", &form("")));
    }
    if !opened.request.origin.is_of(opened.shell.origin.as_ref()) {
        let message = "this form was sent from another site; send it from this page, or use the API";
        return Err(ApiError::new(ErrorCode::InsufficientScope, message));
    }
    let sent = UploadedForm::read(opened.request.headers, Bytes::copy_from_slice(opened.request.body)).await;
    let checked = match sent.map_err(|why| ApiError::invalid_parameter("body", why)) {
        Ok(sent) => check(&mut opened, &sent).await.map_err(|error| (error, shown_again(&sent).to_owned())),
        Err(error) => Err((error, String::new())),
    };
    match checked {
        Ok((name, report)) => Ok(page(opened, StatusCode::OK, &format!("Check of {name}"), &report)),
        Err((error, text)) if error.code == ErrorCode::ValidationError => {
            let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            let main = html! { p.banner role="alert" { (sentence(&error.message)) } (form(&text)) };
            let answer = page(opened, status, "Check a document", &main);
            Ok(MountResponse { error: Some(error.code.code()), ..answer })
        }
        Err((error, _)) => Err(error),
    }
}

/// The text that the form contains again after a mistake. A refusal stays small.
fn shown_again(sent: &UploadedForm) -> &str {
    let text = sent.text("text");
    if text.len() <= SHOWN_AGAIN_BYTES_MAX { text } else { "" }
}

/// The name of the document, and the report on it.
async fn check(opened: &mut OpenPage<'_>, sent: &UploadedForm) -> Result<(String, Markup), ApiError> {
    let document = document_of(sent)?;
    let body = body_of_document(document.format.media_type(), &document.bytes);
    let body = body.unwrap_or_else(|| Err(ApiError::internal("a format has no body")))?;
    let since = sent.text("since").trim();
    let query: Vec<(&str, &str)> = (!since.is_empty()).then_some(("since", since)).into_iter().collect();
    let call = OperationCall { wish: VisitorAction::Search, body, ..OperationCall::read("check", &query) };
    let reply = opened.call(call).await?;
    let reply: CheckReply = reply.read()?;
    let corpus = opened.corpus.clone();
    // If there is no thread for it in time, the page is refused and costs nothing.
    opened.shell.service.on_document(move || rendered(&document, reply, corpus.snapshot().grammar())).await
}

fn document_of(sent: &UploadedForm) -> Result<SentDocument, ApiError> {
    let text = sent.text("text");
    match &sent.file {
        Some((name, bytes)) => {
            let format = BriefFormat::of_file_name(name).ok_or_else(|| {
                let message = format!(
                    "the name '{name}' does not say what the file is; save it as .docx, .pdf, .html, .md or .txt"
                );
                ApiError::invalid_parameter("body", message)
            })?;
            Ok(SentDocument { name: name.clone(), format, bytes: bytes.clone() })
        }
        None if text.trim().is_empty() => {
            Err(ApiError::invalid_parameter("body", "there is no document; paste its text, or choose a file"))
        }
        None => Ok(SentDocument {
            name: "your text".to_owned(),
            format: BriefFormat::Text,
            bytes: Bytes::copy_from_slice(text.as_bytes()),
        }),
    }
}

fn rendered(
    document: &SentDocument,
    reply: CheckReply,
    grammar: &hornbook_corpus::citation::Grammar,
) -> Result<(String, Markup), ApiError> {
    let brief = Brief::read(&document.bytes, document.format);
    let brief = brief.map_err(|error| ApiError::internal(format!("a checked document cannot be read: {error}")))?;
    let mut report = reply.report;
    let found = Found::in_document(&brief, grammar);
    let found = found.map_err(|error| ApiError::internal(format!("a checked document cannot be read: {error}")))?;
    found.locate(&mut report);
    let main = html! {
        h1 { "Check of " (document.name) }
        @for notice in &reply.notices { p.banner { (sentence(notice)) } }
        (report_body(&brief, &report))
        p { a.button href=(CHECK_PAGE_PATH) { "Check another document" } }
    };
    Ok((document.name.clone(), main))
}

fn page(opened: OpenPage<'_>, status: StatusCode, title: &str, main: &Markup) -> MountResponse {
    let head = html! { link rel="stylesheet" href=(REPORT.path()); };
    let page = Page { scripts: &[&CHECK], head, ..Page::new(title, SiteSection::Check, main.clone()) };
    let html = page.html(&opened.visitor);
    opened.answer(response::page(status, html, CachePolicy::NoStore))
}

fn form(text: &str) -> Markup {
    html! {
        h1 { "Check a document" }
        p.lead {
            "Does it cite law that exists and is in force, and does it quote it word for word? Every citation of a statute or \
             regulation is looked up, and every quotation near one is compared with it."
        }
        form.document action=(CHECK_PAGE_PATH) method="post" enctype="multipart/form-data" {
            label for="text" { "Paste the text" }
            textarea #text name="text" rows="12" maxlength="1000000" spellcheck="false" { (text) }
            label for="file" { "or choose a file (.docx, .pdf with text, .html, .md or .txt, at most 1 MB)" }
            input #file type="file" name="file" accept=".docx,.pdf,.html,.htm,.md,.markdown,.txt";
            label for="since" { "Written on (optional): law that was reworded since then is shown" }
            input #since type="date" name="since";
            button type="submit" { "Check" }
        }
        p.count { "The document is not stored." }
    }
}
