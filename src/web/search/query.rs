//! The address of a page of results: its parameters, and links to other result pages.

use hornbook_search::Mode;

use crate::api::as_of::AS_OF_NAME;
use crate::percent;
use crate::web::page_context::OpenPage;

/// Results per page.
pub(super) const PAGE_SIZE: &str = "20";

/// Results that are sorted otherwise than by rank are all on one page: the best ones, in another order.
pub(super) const SORTED_SIZE: &str = "100";

/// The order of results that a reader chose in place of the best first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// In the order of the codes.
    Code,
    /// By the day from which the wording is in effect, the latest first.
    Newest,
}

impl Sort {
    pub(super) const ALL: [Self; 2] = [Self::Code, Self::Newest];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Newest => "newest",
        }
    }

    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Code => "in the order of the codes",
            Self::Newest => "newest wording first",
        }
    }
}

/// The value of the parameter `status` for law in force.
pub(super) const IN_FORCE: &str = "current";

/// The parameters in the address of a search page. The operation validates the values.
pub(super) struct SearchPageQuery {
    pub(super) text: String,
    pub(super) mode: Option<String>,
    pub(super) depth: Option<String>,
    /// One value, or several separated by commas. The next three fields have the same form.
    pub(super) jurisdiction: Option<String>,
    pub(super) code_body: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) status: Option<String>,
    pub(super) subtree: Option<String>,
    pub(super) min_score: Option<String>,
    pub(super) day: Option<String>,
    pub(super) page: Option<String>,
    pub(super) sort: Option<Sort>,
    /// Whether misspelt words are not corrected.
    pub(super) is_exact: bool,
    /// Whether a citation is searched for as text and does not redirect to its provision.
    pub(super) is_text_search: bool,
}

/// Maximum length of the query in the page title, in characters.
const SHOWN_CHARS: usize = 60;

impl SearchPageQuery {
    pub(super) fn of(opened: &OpenPage<'_>) -> Self {
        let given =
            |name: &str| opened.parameter(name).map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned);
        Self {
            text: given("q").unwrap_or_default(),
            mode: given("mode"),
            depth: given("depth"),
            jurisdiction: opened.parameters("jurisdiction"),
            code_body: opened.parameters("codeBody"),
            tag: opened.parameters("tag"),
            status: opened.parameters("status"),
            subtree: given("subtree"),
            min_score: given("minScore"),
            day: opened.named_day(),
            page: given("page"),
            sort: given("sort").and_then(|name| Sort::ALL.into_iter().find(|sort| sort.name() == name)),
            is_exact: given("exact").is_some_and(|exact| exact == "true"),
            is_text_search: given("as").is_some_and(|way| way == "words"),
        }
    }

    /// The parameters of the operation.
    pub(super) fn parameters(&self) -> Vec<(&'static str, &str)> {
        let (limit, page) = if self.sort.is_some() { (SORTED_SIZE, &None) } else { (PAGE_SIZE, &self.page) };
        // The shell adds the day to every call of the page.
        let filters = self.filters().into_iter().filter(|(name, _)| *name != AS_OF_NAME);
        let optional = [("mode", &self.mode), ("depth", &self.depth), ("page", page)].into_iter().chain(filters);
        let given = optional.filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let exact = self.is_exact.then_some(("exact", "true"));
        let always = [("q", self.text.as_str()), ("limit", limit), ("facets", "true")];
        always.into_iter().chain(given).chain(exact).collect()
    }

    /// The filters that restrict the search to a part of the law.
    fn filters(&self) -> [(&'static str, &Option<String>); 7] {
        [
            ("jurisdiction", &self.jurisdiction),
            ("codeBody", &self.code_body),
            ("subtree", &self.subtree),
            ("tag", &self.tag),
            ("status", &self.status),
            ("minScore", &self.min_score),
            (AS_OF_NAME, &self.day),
        ]
    }

    /// The filters that narrow this search, apart from the day.
    pub(super) fn narrowing(&self) -> Vec<(&'static str, &str)> {
        let filters = self.filters().into_iter().filter(|(name, _)| *name != AS_OF_NAME);
        filters.filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }

    /// The address of the same search in all law of the day.
    pub(super) fn without_filters(&self) -> String {
        let filters = self.narrowing();
        self.address(&self.text, |name, value| value.filter(|_| !filters.iter().any(|(filter, _)| *filter == name)))
    }

    /// Whether the query has words that results must not contain.
    pub(super) fn has_exclusions(&self) -> bool {
        self.text.split_whitespace().any(is_exclusion)
    }

    pub(super) fn text_without_exclusions(&self) -> String {
        self.text.split_whitespace().filter(|word| !is_exclusion(word)).collect::<Vec<_>>().join(" ")
    }

    /// The filters and the order, which have no field in the form of the page.
    pub(super) fn hidden(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let fields = ["jurisdiction", "status", AS_OF_NAME];
        let filters = self.filters().into_iter().filter(move |(name, _)| !fields.contains(name));
        let filters = filters.filter_map(|(name, value)| Some((name, value.as_deref()?)));
        filters.chain(self.sort.map(|sort| ("sort", sort.name())))
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode.as_deref().and_then(|mode| mode.parse().ok()).unwrap_or_default()
    }

    pub(super) fn is_first(&self) -> bool {
        self.sort.is_some() || self.page.as_deref().is_none_or(|page| page == "1")
    }

    /// Whether the query has words only: no filters, the default mode, order and page.
    pub(super) fn is_plain(&self) -> bool {
        self.filters().iter().all(|(_, value)| value.is_none())
            && self.mode() == Mode::Hybrid
            && self.sort.is_none()
            && self.is_first()
    }

    /// The beginning of the query, for the title.
    pub(super) fn title_text(&self) -> String {
        self.text.chars().take(SHOWN_CHARS).collect()
    }

    /// The address of this search.
    pub(super) fn same(&self) -> String {
        if self.text.is_empty() { "/".to_owned() } else { self.with("page", self.page.as_deref()) }
    }

    /// The address of the same search with another value of one parameter; None removes the
    /// parameter. Leads to the first page, unless the page is the changed parameter.
    pub(super) fn with(&self, changed: &str, value: Option<&str>) -> String {
        let text = if changed == "q" { value.unwrap_or_default() } else { &self.text };
        self.address(text, |name, own| match name {
            _ if name == changed => value.map(str::to_owned),
            // Other words may need a correction.
            "exact" if changed == "q" => None,
            _ => own,
        })
    }

    /// The address of a search for a text, with other values of the parameters. The page is none of its own.
    fn address(&self, text: &str, value: impl Fn(&str, Option<String>) -> Option<String>) -> String {
        let exact = self.is_exact.then(|| "true".to_owned());
        let way = self.is_text_search.then(|| "words".to_owned());
        let sort = self.sort.map(|sort| sort.name().to_owned());
        let own = [("mode", self.mode.clone()), ("depth", self.depth.clone())].into_iter();
        let own = own.chain(self.filters().map(|(name, value)| (name, value.clone())));
        let mut address = format!("/?q={}", percent::encoded(text));
        for (name, own) in own.chain([("page", None), ("sort", sort), ("exact", exact), ("as", way)]) {
            if let Some(value) = value(name, own) {
                address += &format!("&{name}={}", percent::encoded(&value));
            }
        }
        address
    }
}

/// Whether a word of a query excludes results.
fn is_exclusion(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}
