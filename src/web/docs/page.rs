//! The pages of the documentation: the start page and one for each subject, with the navigation between
//! them.

use maud::{Markup, html};

use super::cards::card;
use super::description::ApiDescription;
use super::elements::operations_of;
use super::parts::parts_of;
use super::schema;
use super::source::DocsSource;
use super::start;
use crate::api::documents::DocumentContext;
use crate::api::subject::{DOCS_PATH, Subject};

/// The title of the start page.
const START: &str = "Start";

/// A page, inside the frame of the site.
pub struct DocsPage {
    /// `None` on the start page.
    pub subject: Option<Subject>,
    pub html: String,
}

/// All pages in the order in which they are read.
pub fn pages(setting: &DocumentContext<'_>) -> Vec<DocsPage> {
    let source = DocsSource { setting, description: ApiDescription::of(setting.base_url) };
    let subjects = Subject::ALL.into_iter().map(Some);
    std::iter::once(None).chain(subjects).map(|subject| page(subject, &source)).collect()
}

fn page(subject: Option<Subject>, source: &DocsSource<'_>) -> DocsPage {
    let page = html! {
        div.docs {
            (contents(subject))
            div {
                @match subject {
                    None => (start::content(source)),
                    Some(subject) => (content(subject, source)),
                }
                (neighbours(subject))
            }
        }
    };
    DocsPage { subject, html: page.into_string() }
}

/// The list of all pages. Below the current one are its parts and operations.
fn contents(current: Option<Subject>) -> Markup {
    html! {
        nav aria-label="Documentation" {
            ul {
                li { a href=(DOCS_PATH) aria-current=[current.is_none().then_some("page")] { (START) } }
                @for subject in Subject::ALL {
                    @let is_current = current == Some(subject);
                    li {
                        a href=(subject.path()) aria-current=[is_current.then_some("page")] { (subject.title()) }
                        @if is_current {
                            ul {
                                @for part in parts_of(subject) { li { a href={ "#" (part.anchor) } { (part.title) } } }
                                @for operation in operations_of(subject) {
                                    li { a href={ "#" (operation.name) } { (operation.name) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn content(subject: Subject, source: &DocsSource<'_>) -> Markup {
    let has_forms = operations_of(subject).any(|operation| operation.route.is_some());
    html! {
        h1 { (subject.title()) }
        p.lead { (subject.summary()) }
        @for part in parts_of(subject) {
            section aria-labelledby=(part.anchor) { h2 id=(part.anchor) { (part.title) } ((part.body)(source)) }
        }
        @if operations_of(subject).next().is_some() {
            section aria-labelledby="operations" {
                h2 #operations { "Operations" }
                @if has_forms { (key_form()) }
                @for operation in operations_of(subject) { (card(operation, source)) }
            }
        }
        @if source.description.objects_of(subject).next().is_some() {
            section aria-labelledby="objects" {
                h2 #objects { "Response objects" }
                @for (name, schema) in source.description.objects_of(subject) {
                    (schema::object(name, schema, &source.description))
                }
            }
        }
    }
}

/// Without scripts, readers can use the shell commands.
fn key_form() -> Markup {
    html! {
        form #key-form .scripts-only {
            label for="key" { "Your key, to call operations from this page" }
            div.row {
                input #key type="password" autocomplete="off" spellcheck="false" placeholder="hb_live_..."
                    aria-describedby="key-note";
                button.quiet type="reset" { "Forget the key" }
            }
            p.also #key-note {
                "It is kept in this tab until you close it, and is sent to this server only, in the header of your \
                 calls. Calls from this page cost the same as all others. " a href="/settings" { "Make a key" }
            }
        }
    }
}

fn neighbours(current: Option<Subject>) -> Markup {
    let place = current.map_or(0, |current| Subject::ALL.iter().take_while(|subject| **subject != current).count() + 1);
    let previous = place.checked_sub(1).map(|before| before.checked_sub(1).and_then(|at| Subject::ALL.get(at)));
    let neighbour = |subject: Option<&Subject>, rel: &str, word: &str| {
        let (path, title) = subject.map_or((DOCS_PATH.to_owned(), START), |subject| (subject.path(), subject.title()));
        html! { a rel=(rel) href=(path) { span.word { (word) } span.heading { (title) } } }
    };
    html! {
        nav.neighbours aria-label="Before and after" {
            @if let Some(previous) = previous { (neighbour(previous, "prev", "Previous")) }
            @if let Some(next) = Subject::ALL.get(place) { (neighbour(Some(next), "next", "Next")) }
        }
    }
}
