//! Replaces `encoder` in programs built without the feature `encoder`: refuses plans that need it.

use std::path::Path;

use hornbook_corpus::manifest::Fingerprint;
use hornbook_corpus::vectors::SpaceName;

use crate::encoded_passages::{EncodedPassages, PassageOrigins};
use crate::encoder_error::EncoderError;
use crate::error::BuildError;
use crate::plan::PlannedEncoder;
use crate::progress::ProgressDisplay;

/// Has no values, because no encoder can be opened.
#[derive(Debug)]
pub(crate) enum Encoder {}

impl Encoder {
    pub(crate) fn open(_: &PlannedEncoder, _: &[&Path]) -> Result<Self, EncoderError> {
        Err(EncoderError::NotBuiltIn)
    }

    pub(crate) fn space(&self) -> &SpaceName {
        match *self {}
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        match *self {}
    }

    pub(crate) fn write(
        &self,
        _: &Path,
        _: PassageOrigins<'_>,
        _: bool,
        _: ProgressDisplay,
    ) -> Result<EncodedPassages, BuildError> {
        match *self {}
    }
}
