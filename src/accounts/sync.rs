//! The mutex of the reservation code. `tests/accounts_loom.rs` compiles that code with a mutex that tries every order.

pub(super) use std::sync::{Mutex, MutexGuard};
