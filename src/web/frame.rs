//! The frame of every page: head, header with navigation, footer. A page provides its title and the
//! content of `main`.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{Asset, ICON, SEARCH, SITE, STYLE};
use super::visitor::Visitor;
use crate::api::operation::CHECK_PAGE_PATH;
use crate::api::subject::DOCS_PATH;

/// The section of the site that the navigation marks as current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SiteSection {
    Search,
    Contents,
    Check,
    Coverage,
    Zoning,
    Api,
    Operator,
    Account,
    /// Pages that the navigation does not list.
    Other,
}

/// Where the script of the search box gets completions.
pub(super) const SUGGEST_PATH: &str = "/suggest";

/// The entries of the navigation.
const NAVIGATION: &[(SiteSection, &str, &str)] = &[
    (SiteSection::Search, "/", "Search"),
    (SiteSection::Contents, "/browse", "Contents"),
    (SiteSection::Check, CHECK_PAGE_PATH, "Check"),
    (SiteSection::Coverage, "/coverage", "Coverage"),
    (SiteSection::Zoning, "/zoning", "Zoning"),
    (SiteSection::Api, DOCS_PATH, "API"),
];

/// A whole page, before it is rendered.
pub(super) struct Page<'p> {
    /// The title of the window and of the page.
    pub(super) title: &'p str,
    pub(super) section: SiteSection,
    /// Additional elements for the head: descriptions, links, structured data.
    pub(super) head: Markup,
    pub(super) scripts: &'p [&'p Asset],
    /// Whether the header contains a search box. The search page has its own box.
    pub(super) has_search_box: bool,
    pub(super) main: Markup,
}

impl Page<'_> {
    pub(super) fn new(title: &str, section: SiteSection, main: Markup) -> Page<'_> {
        Page { title, section, head: html! {}, scripts: &[], has_search_box: true, main }
    }

    pub(super) fn html(&self, visitor: &Visitor) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Hornbook" }
                    link rel="stylesheet" href=(STYLE.path());
                    link rel="icon" type="image/svg+xml" href=(ICON.path());
                    script src=(SITE.path()) {}
                    @if self.has_search_box { script src=(SEARCH.path()) defer {} }
                    @for script in self.scripts { script src=(script.path()) defer {} }
                    (self.head)
                }
                body {
                    a.skip href="#main" { "Skip to the text" }
                    (self.header(visitor))
                    main #main tabindex="-1" { (self.main) }
                    (footer())
                }
            }
        };
        page.into_string()
    }

    fn header(&self, visitor: &Visitor) -> Markup {
        html! {
            header.site {
                a.brand href="/" { (mark()) "Hornbook" }
                @if self.has_search_box {
                    form.quick role="search" action="/" method="get" {
                        label.unseen for="quick" { "Search the law" }
                        input #quick type="search" name="q" placeholder="Search, or type a citation" autocomplete="off"
                            maxlength="1024" aria-keyshortcuts="/" data-suggest=(SUGGEST_PATH);
                    }
                }
                nav aria-label="Site" {
                    @for (section, path, name) in NAVIGATION { (entry(*section, path, name, self.section)) }
                    span.own { (self.own_entries(visitor)) }
                }
            }
        }
    }

    /// The visitor's own entries, at the end of the navigation.
    fn own_entries(&self, visitor: &Visitor) -> Markup {
        let own = |section, path: &str, name: &str| entry(section, path, name, self.section);
        html! {
            @if visitor.is_operator() { (own(SiteSection::Operator, "/operator", "Operator")) }
            @match visitor {
                Visitor::Anonymous => (own(SiteSection::Account, "/settings", "Sign in")),
                Visitor::Person(_) => (own(SiteSection::Account, "/settings", "Account")),
            }
        }
    }
}

/// An entry of the navigation.
fn entry(section: SiteSection, path: &str, name: &str, shown: SiteSection) -> Markup {
    html! { a href=(path) aria-current=[(section == shown).then_some("page")] { (name) } }
}

fn footer() -> Markup {
    html! {
        footer.site {
            p { "Law as its publishers released it. Not legal advice; check the official source before you rely on it." }
            fieldset #theme hidden {
                legend.unseen { "Colors" }
                @for (value, name) in [("system", "System"), ("light", "Light"), ("dark", "Dark")] {
                    label { input type="radio" name="theme" value=(value); span { (name) } }
                }
            }
        }
    }
}

/// The book of the icon, in the colour of the text.
fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" {
            path fill="currentColor" d="M4 2h13a4 4 0 0 1 4 4v16H7a3 3 0 0 1-3-3zm3 16a1.5 1.5 0 0 0 0 3h12v-3zM8 6v1.5h9V6zm0 3v1.5h9V9z" {}
        }
    }
}

/// A block of structured data. The data are escaped, so they cannot end the block.
pub(super) fn data_block(json: &serde_json::Value) -> Markup {
    let text = json.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    html! { script type="application/ld+json" { (PreEscaped(text)) } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_of_others_cannot_end_its_block() {
        let block = data_block(&json!({ "name": "</script><script>alert(1)</script><!--" })).into_string();
        assert_eq!(block.matches("</script>").count(), 1, "{block}");
        assert!(!block.contains("<!--"), "{block}");
    }

    #[test]
    fn a_page_has_one_main_part_and_marks_where_it_is() {
        let page = Page::new("Coverage & gaps", SiteSection::Coverage, html! { h1 { "Coverage" } });
        let text = page.html(&Visitor::Anonymous);
        assert_eq!(text.matches("<main").count(), 1);
        assert_eq!(text.matches("aria-current=\"page\"").count(), 1);
        assert!(text.contains("<title>Coverage &amp; gaps · Hornbook</title>"));
        assert!(!text.contains("<style") && !text.contains(" style="), "no inline styles");
    }
}
