//! The CPU time and peak memory of this process, for the final report.

/// Linux counts CPU time for user space in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// User and system time of all threads; zero if the system does not provide it.
pub(crate) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program name in parentheses and may contain anything, so fields are
    // counted after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

/// The peak resident memory so far; zero if the system does not provide it.
pub(crate) fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn usage_is_reported() {
        let before = super::cpu_seconds();
        while super::cpu_seconds() < before + 0.02 {
            std::hint::spin_loop();
        }
        assert!(super::peak_memory_bytes() > 100_000);
    }
}
