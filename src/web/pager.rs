//! Links between the pages of a list, which all come from one snapshot while the server has it.

use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use crate::api::pinned_snapshot::SNAPSHOT_NAME;
use crate::api::reply::Pages;

/// The snapshot of a list.
#[derive(Clone, Copy)]
pub(super) struct ListEdition<'e> {
    pub(super) snapshot: &'e str,
    /// Whether the link to this page named another one, which the server does not have any more.
    pub(super) is_another: bool,
}

/// The address of a page is `beginning` followed by the page number.
pub(super) fn of(pages: Pages, beginning: &str, edition: ListEdition<'_>) -> Markup {
    let Pages { page, last } = pages;
    let ListEdition { snapshot, is_another } = edition;
    let to = |page: u32| format!("{beginning}{page}&{SNAPSHOT_NAME}={snapshot}");
    html! {
        @if is_another {
            p.also role="note" { "The law was updated since the page before: this one is of another edition. Begin again at page 1 to miss nothing." }
        }
        @if last > 1 {
            nav.pager aria-label="Pages" {
                @if page > 1 { a rel="prev" href=(to(page - 1)) { "Previous" } }
                span { "Page " (grouped(page)) " of " (grouped(last)) }
                @if page < last { a rel="next" href=(to(page + 1)) { "Next" } }
            }
        }
    }
}
