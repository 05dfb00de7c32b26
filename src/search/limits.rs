//! How much a query may hold, and how far its results can be paged.

/// A longer query is refused.
pub const QUERY_CHARS_MAX: usize = 1024;

/// A query with more phrases in quotation marks is refused.
pub const PHRASES_MAX: usize = 8;

/// A query with more words or phrases to leave out is refused.
pub const EXCLUSIONS_MAX: usize = 8;

/// So many values a filter may have.
pub const FILTER_VALUES_MAX: usize = 10;

/// The last result that can be paged to.
pub const RESULTS_MAX: u32 = 10_000;
