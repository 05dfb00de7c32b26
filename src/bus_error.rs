//! SIGBUS: what the system sends when a mapped file became shorter, or its disk fails, while the program reads it.
//!
//! The bytes are gone, so nothing can be answered from them. The program says so in one line on stderr and exits with
//! status 74 (`EX_IOERR` of sysexits.h), so that systemd or a container runtime starts it again. The state file is not
//! mapped and survives any sudden end. One of the few places with `unsafe`: a signal handler cannot be installed without.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

const EXIT_STATUS: c_int = 74;

const MESSAGE: &str = "hornbook: a file that is in use became shorter or cannot be read any more (SIGBUS), so this process \
                       ends now. Accounts and ledger are safe. Run 'hornbook verify' to see which file of the snapshot \
                       it is, put the whole file back or build again, and start hornbook again.\n";

/// Several threads can fail at once; one of them reports it.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

extern "C" fn end_process(_signal: c_int) {
    // Another thread is about to end the process: this one fails again until it does.
    if IS_REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    #[expect(unsafe_code, reason = "nothing of the standard library may be called in a signal handler")]
    // SAFETY: both calls are async-signal-safe (POSIX lists them), take no lock and allocate nothing; the pointer and the
    // length are those of a static text. An atomic swap is safe here too.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(EXIT_STATUS);
    }
}

/// Makes SIGBUS end the process with a message. The standard library's own handler for it would only restore the
/// default, which ends the process without a word; stack overflows arrive as SIGSEGV and stay with the standard library.
pub(crate) fn install() {
    let handler: extern "C" fn(c_int) = end_process;
    #[expect(unsafe_code, reason = "there is no safe way to install a handler for SIGBUS")]
    // SAFETY: `sigaction` is plain data for which all zeros are a valid value (no flags, empty mask); the handler has the
    // signature that sa_sigaction has without SA_SIGINFO, lives as long as the program, and is async-signal-safe as argued
    // above. SA_ONSTACK uses the alternative stack that the standard library gives every thread it starts.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
    };
    debug_assert_eq!(result, 0, "SIGBUS can be handled");
}
