//! Limits on the content of a query and on paging.

/// The maximum number of characters of a query.
pub const QUERY_CHARS_MAX: usize = 1024;

/// The maximum number of phrases in quotation marks in a query.
pub const PHRASES_MAX: usize = 8;

/// The maximum number of excluded words and phrases in a query.
pub const EXCLUSIONS_MAX: usize = 8;

/// The maximum number of values of a filter.
pub const FILTER_VALUES_MAX: usize = 10;

/// The position of the last result that can be shown.
pub const RESULTS_MAX: u32 = 10_000;
