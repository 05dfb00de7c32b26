//! The mutex of the reservation code. `accounts/tests/interleavings.rs` compiles that code with a mutex that
//! tries every interleaving.

pub(super) use std::sync::{Mutex, MutexGuard};
