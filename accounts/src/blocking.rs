//! Marks the threads that must not block. Each worker of an async runtime serves many connections:
//! if it waits for the disk or for the ledger's writer, all of them wait.
//!
//! The server marks every thread of its runtime when it starts, and removes the mark while a thread
//! reserved for blocking work runs such work. Functions that may block assert in debug builds, and
//! so in every test over HTTP, that they are allowed to.

use std::cell::Cell;

thread_local! {
    static MUST_NOT_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that serves other calls too and must not block.
pub fn forbid_on_this_thread() {
    MUST_NOT_WAIT.set(true);
}

/// Runs work that may block, on a thread reserved for it.
pub fn allowed<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            MUST_NOT_WAIT.set(self.0);
        }
    }
    let _restore = Restore(MUST_NOT_WAIT.replace(false));
    work()
}

/// Every function that blocks or reads the file must call this.
#[track_caller]
pub(crate) fn assert_allowed() {
    debug_assert!(!MUST_NOT_WAIT.get(), "this call may block, but the thread serves other calls too");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "this call may block")]
    fn a_marked_thread_must_not_block() {
        forbid_on_this_thread();
        allowed(assert_allowed);
        assert_allowed();
    }
}
