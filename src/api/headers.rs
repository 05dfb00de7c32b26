//! The headers of API responses, in one table. The server sets them by these constants, OpenAPI and the
//! documentation describe them, and web pages of allowed origins may read them.

/// A response header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its name, as documents write it.
    pub name: &'static str,
    /// Its name in lower case, as HTTP/2 sends it.
    pub field: &'static str,
    pub kind: HeaderKind,
    pub on: HeaderScope,
    pub meaning: &'static str,
    /// Its index in [`HEADERS`].
    pub index: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderKind {
    Integer,
    Text,
}

impl HeaderKind {
    /// The name of the type in JSON Schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Text => "string",
        }
    }
}

/// Which responses have a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderScope {
    Every,
    /// A 200 for a metered call, or a 204 with its price.
    Paid,
    /// A response of any status to a metered call that was counted against the key's rate limit.
    RateLimited,
    /// The 200 and the 304 of an operation whose answers have a version.
    Versioned,
    /// A 200 that is one page of several.
    Paged,
    /// An error that states how long to wait before the next try.
    RetryLater,
    Unauthorized,
    MethodNotAllowed,
}

const fn lower_case<const N: usize>(name: &str) -> [u8; N] {
    let bytes = name.as_bytes();
    let mut lower = [0; N];
    let mut at = 0;
    while at < N {
        lower[at] = bytes[at].to_ascii_lowercase();
        at += 1;
    }
    lower
}

macro_rules! header_table {
    ($($constant:ident $name:literal $kind:ident $on:ident $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Header = Header {
                name: $name,
                field: {
                    const LOWER_CASE: [u8; $name.len()] = lower_case($name);
                    match str::from_utf8(&LOWER_CASE) {
                        Ok(field) => field,
                        Err(_) => panic!("a header's name is ASCII"),
                    }
                },
                kind: HeaderKind::$kind,
                on: HeaderScope::$on,
                meaning: $meaning,
                index: HeaderIndex::$constant as usize,
            };
        )*

        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of the constants")]
        enum HeaderIndex {
            $($constant),*
        }

        /// All headers, in the order in which documents list them.
        pub const HEADERS: &[Header] = &[$($constant),*];
    };
}

header_table! {
    REQUEST_ID "X-Request-Id" Text Every "Identifies the request in the log.";
    CORPUS_SNAPSHOT "X-Corpus-Snapshot" Text Every "The snapshot that the answer comes from; send it back to be answered from the same one.";
    CREDITS_REMAINING "X-Credits-Remaining" Integer Paid "Credits left in the wallet after the call.";
    RESEARCH_ALLOTMENT_REMAINING "X-Research-Allotment-Remaining" Integer Paid "Free units left this month.";
    CREDITS_COST "X-Credits-Cost" Integer Paid "What the call cost; 0 for a retry that was not charged again.";
    BUDGET_REMAINING "X-Budget-Remaining" Integer Paid
        "Credits left in the budget of the key, or of the key that created it, whichever is less; absent without a budget.";
    BUDGET_NOTICE "X-Budget-Notice" Text Paid "From 80 % of a budget on: how much of it is spent.";
    IDEMPOTENCY_REPLAYED "Idempotency-Replayed" Text Paid
        "`true` if an earlier call with the same `Idempotency-Key` paid for this one.";
    RATE_LIMIT_LIMIT "X-RateLimit-Limit" Integer RateLimited "Calls per minute that the key's tier allows.";
    RATE_LIMIT_REMAINING "X-RateLimit-Remaining" Integer RateLimited
        "Calls left in this minute or this day, whichever is fewer.";
    RATE_LIMIT_RESET "X-RateLimit-Reset" Integer RateLimited "Seconds until there is room for one more call.";
    RATE_LIMIT "RateLimit" Text RateLimited "What is left in both windows, in the format of the IETF draft.";
    RATE_LIMIT_POLICY "RateLimit-Policy" Text RateLimited "The limits of both windows, in the format of the IETF draft.";
    SERVER_TIMING "Server-Timing" Text Paid "How long the stages of the call took, in milliseconds.";
    ETAG "ETag" Text Versioned "The version of the answer; send it as `If-None-Match` to get a free 304 while it is current.";
    LINK "Link" Text Paged
        "Addresses of the first, previous, next and last page; left out where they would be too long.";
    RETRY_AFTER "Retry-After" Integer RetryLater "Seconds to wait before trying again.";
    WWW_AUTHENTICATE "WWW-Authenticate" Text Unauthorized "The scheme of authentication: Bearer.";
    ALLOW "Allow" Text MethodNotAllowed "The methods that the path allows.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fields_are_their_lower_case() {
        for (place, header) in HEADERS.iter().enumerate() {
            assert_eq!((header.field, header.index), (header.name.to_ascii_lowercase().as_str(), place));
            assert!(HEADERS[..place].iter().all(|other| other.field != header.field), "{}", header.name);
        }
    }
}
