//! The first damage that was noticed in an open snapshot, and the guard around libraries that trust the files they read.
//!
//! Whoever reads and finds that a check fails records it here, and refuses to hand out what it read. Whoever serves the
//! snapshot asks here whether it is still whole. A snapshot that was found damaged stays so until another is opened.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// Reads a file with a library that trusts it: damaged bytes trip assertions inside such a library. For whoever reads that is
/// damage like any other. The error is what the library said.
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("no message").to_owned()
    })
}
