//! Links between the pages of a list.

use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use crate::api::reply::Pages;

/// The address of a page is `beginning` followed by the page number.
pub(super) fn of(pages: Pages, beginning: &str) -> Markup {
    let Pages { page, last } = pages;
    let to = |page: u32| format!("{beginning}{page}");
    html! {
        @if last > 1 {
            nav.pager aria-label="Pages" {
                @if page > 1 { a rel="prev" href=(to(page - 1)) { "Previous" } }
                span { "Page " (grouped(page)) " of " (grouped(last)) }
                @if page < last { a rel="next" href=(to(page + 1)) { "Next" } }
            }
        }
    }
}
