//! SIGBUS handling. The system sends SIGBUS when a mapped file becomes shorter, or its disk fails,
//! while the program reads it.
//!
//! The bytes are gone, so no answer can be computed from them. The program writes one line to
//! stderr and exits with status 74 (`EX_IOERR` of sysexits.h), so that systemd or a container
//! runtime restarts it. The state file is not mapped and survives any sudden exit. This is one of
//! the few places with `unsafe`: installing a signal handler needs it.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

const EXIT_STATUS: c_int = 74;

const MESSAGE: &str = "hornbook: a file that is in use became shorter or cannot be read any more (SIGBUS), so this process \
                       ends now. Accounts and ledger are safe. Run 'hornbook verify' to see which file of the snapshot \
                       it is, restore the whole file or build again, and start hornbook again.\n";

/// Set by the first thread that reports the error: several threads can get SIGBUS at once.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

extern "C" fn end_process(_signal: c_int) {
    // Another thread is ending the process. This thread returns and gets SIGBUS again until the
    // process has ended.
    if IS_REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    #[expect(unsafe_code, reason = "nothing of the standard library may be called in a signal handler")]
    // SAFETY: both calls are async-signal-safe (POSIX lists them), take no lock and allocate
    // nothing. The pointer and the length are those of a static text. An atomic swap is safe here
    // too.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(EXIT_STATUS);
    }
}

/// Installs a handler for SIGBUS that writes a message and ends the process. The standard library's
/// handler would only restore the default action, which ends the process without a message. Stack
/// overflows raise SIGSEGV, which the standard library still handles.
pub(crate) fn install() {
    let handler: extern "C" fn(c_int) = end_process;
    #[expect(unsafe_code, reason = "there is no safe way to install a handler for SIGBUS")]
    // SAFETY: `sigaction` is plain data for which all zeros are a valid value (no flags, empty
    // mask). The handler has the signature that sa_sigaction has without SA_SIGINFO, lives as long
    // as the program, and is async-signal-safe as argued above. SA_ONSTACK uses the alternative
    // stack that the standard library gives every thread it starts.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
    };
    debug_assert_eq!(result, 0, "SIGBUS can be handled");
}
