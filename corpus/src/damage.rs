//! The first damage found in an open snapshot, and a guard around libraries that trust the files they read.
//!
//! If a check fails, the reader records the damage here and does not return the data. The server asks here whether
//! its snapshot is still undamaged. A damaged snapshot stays marked as damaged until another one is opened.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<OnceLock<String>>);

impl Damage {
    /// Records the message of the first damage. Later messages are ignored.
    pub fn record(&self, what: &dyn Display) {
        self.0.get_or_init(|| what.to_string());
    }

    pub fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// Reads a file with a library that trusts its files, and catches panics. Damaged bytes trip assertions inside such
/// a library; for our readers this is damage like any other. The error is the message of the panic.
pub fn catch_panic_as_damage<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("no message").to_owned()
    })
}
