//! What embedding the passages of a snapshot takes and gives, whether or not the program has an encoder.

use std::path::Path;

use crate::graph::Probes;

/// Where vectors can come from without being computed.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "encoder"), expect(dead_code, reason = "only an encoder reads them"))]
pub(crate) struct PassageOrigins<'a> {
    /// An earlier snapshot.
    pub(crate) earlier: Option<&'a Path>,
    /// The log of an interrupted build, which this build continues.
    pub(crate) log: &'a Path,
}

#[derive(Debug)]
pub(crate) struct EncodedPassages {
    /// The number of vectors copied from the earlier snapshot.
    pub(crate) taken_over: u32,
    /// The number of distinct passages that an interrupted build had embedded.
    pub(crate) resumed: u32,
    /// Headings as sample queries.
    pub(crate) probes: Probes,
}
