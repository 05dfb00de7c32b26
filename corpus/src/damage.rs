//! The first damage that was noticed in an open snapshot.
//!
//! Whoever reads and finds that a check fails records it here, and refuses to hand out what it read. Whoever serves the
//! snapshot asks here whether it is still whole. A snapshot that was found damaged stays so until another is opened.

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<OnceLock<String>>);

impl Damage {
    /// Keeps the message of the first damage; later ones are not kept.
    pub fn record(&self, what: &dyn Display) {
        self.0.get_or_init(|| what.to_string());
    }

    pub fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}
