//! The supported versions of the protocol: the older ones begin with a handshake, the newest one does not.

/// A version of the Model Context Protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ProtocolVersion {
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl ProtocolVersion {
    /// The newest first, as clients get them.
    pub(super) const ALL: [Self; 4] = [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26];

    /// The version for a client that begins with `initialize` and asks for a version that is not supported.
    pub(super) const NEWEST_WITH_HANDSHAKE: Self = Self::V2025_11_25;

    /// The version of an HTTP request without the version header, which the next version introduced.
    pub(super) const WITHOUT_HEADER: Self = Self::V2025_03_26;

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// Whether each request states its version and nothing is negotiated. The older versions begin with
    /// `initialize`.
    pub(super) fn is_stateless(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether one list may contain several messages. Only one version allows this.
    pub(super) fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether results may link to resources.
    pub(super) fn has_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// The names of all versions, as clients get them.
    pub(super) fn names() -> [&'static str; 4] {
        Self::ALL.map(Self::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_reads_back_and_others_do_not() {
        for version in ProtocolVersion::ALL {
            assert_eq!(ProtocolVersion::parse(version.as_str()), Some(version));
        }
        for bad in ["", "2024-11-05", "2026-07-28 ", "v2026-07-28", "DRAFT-2026-v1"] {
            assert_eq!(ProtocolVersion::parse(bad), None, "{bad}");
        }
        assert!(ProtocolVersion::ALL.is_sorted_by(|newer, older| newer > older));
    }
}
