//! Which threads must not wait. The workers of an async runtime carry many connections each: one that waits for the
//! disk or for the ledger's writer keeps all of them waiting.
//!
//! The server marks every thread of its runtime when it starts, and lifts the mark around work on threads that are set
//! aside for it. Whatever here may wait asserts in debug builds, and so in every test over HTTP, that it may.

use std::cell::Cell;

thread_local! {
    static MUST_NOT_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that carries other calls too.
pub fn forbid_on_this_thread() {
    MUST_NOT_WAIT.set(true);
}

/// Runs work that may wait, on a thread that is set aside for it.
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

/// To be called by whatever waits or reads the file.
#[track_caller]
pub(crate) fn assert_allowed() {
    debug_assert!(!MUST_NOT_WAIT.get(), "this may wait, and the thread carries other calls too");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "this may wait")]
    fn a_marked_thread_may_wait_only_where_it_is_allowed() {
        forbid_on_this_thread();
        allowed(assert_allowed);
        assert_allowed();
    }
}
