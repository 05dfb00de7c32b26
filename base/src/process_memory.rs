//! The memory of this process, as Linux reports it.

/// Bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessMemory {
    /// All of it that is in memory, mapped files included.
    pub resident: u64,
    /// What is in no file.
    pub anonymous: u64,
}

impl ProcessMemory {
    /// None where the system does not report it.
    pub fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/self/status").ok()?)
    }

    fn parse(status: &str) -> Option<Self> {
        let of = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
        };
        Some(Self { resident: of("VmRSS")?, anonymous: of("RssAnon")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_the_system_is_read() {
        let status = "Name:\ta\nVmRSS:\t    2048 kB\nRssAnon:\t    1024 kB\n";
        assert_eq!(ProcessMemory::parse(status), Some(ProcessMemory { resident: 2 << 20, anonymous: 1 << 20 }));
        assert_eq!(ProcessMemory::parse("VmRSS:\t 1 MB\n"), None);
    }
}
