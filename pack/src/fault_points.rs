//! Named steps at which tests abort the process, as a kill or a power failure would. None of this is compiled outside
//! tests.

#[cfg(not(test))]
pub(crate) fn reached(_step: &str) {}

/// Aborts the process at the step that the test which started it requests, such as `block written 17` for its 17th
/// time.
#[cfg(test)]
pub(crate) fn reached(step: &str) {
    use std::cell::RefCell;
    use std::collections::HashMap;
    thread_local! {
        static TIMES: RefCell<HashMap<String, u32>> = RefCell::default();
    }
    let Some(wanted) = std::env::var_os(END_AT) else { return };
    let times = TIMES.with_borrow_mut(|times| {
        let times = times.entry(step.to_owned()).or_default();
        *times += 1;
        *times
    });
    if wanted == step || *wanted == *format!("{step} {times}") {
        std::process::abort();
    }
}

#[cfg(test)]
pub(crate) const END_AT: &str = "HORNBOOK_TEST_END_AT";
