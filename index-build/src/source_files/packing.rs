//! How a file is packed, by the suffix of its name. Fetching, checking and building all use this table.

/// The compression of a byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
}

/// An archive format that stores several files in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Tar,
    Zip,
}

/// The steps needed to get at the files within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Packing {
    pub compression: Option<Compression>,
    pub container: Option<ArchiveFormat>,
}

/// Suffixes in lower case. The first match counts, so longer suffixes come before shorter ones.
const PACKINGS: [(&str, Packing); 7] = [
    (".tar.gz", packing(Some(Compression::Gzip), Some(ArchiveFormat::Tar))),
    (".tgz", packing(Some(Compression::Gzip), Some(ArchiveFormat::Tar))),
    (".tar.zst", packing(Some(Compression::Zstd), Some(ArchiveFormat::Tar))),
    (".gz", packing(Some(Compression::Gzip), None)),
    (".zst", packing(Some(Compression::Zstd), None)),
    (".tar", packing(None, Some(ArchiveFormat::Tar))),
    (".zip", packing(None, Some(ArchiveFormat::Zip))),
];

const fn packing(compression: Option<Compression>, container: Option<ArchiveFormat>) -> Packing {
    Packing { compression, container }
}

impl Packing {
    /// The packing of a file, and its name without the suffix that shows it. Upper and lower case are the same.
    pub fn of(name: &str) -> (&str, Self) {
        for (end, packing) in PACKINGS {
            let Some((rest, found)) = name.len().checked_sub(end.len()).and_then(|at| name.split_at_checked(at)) else {
                continue;
            };
            if found.eq_ignore_ascii_case(end) {
                return (rest, packing);
            }
        }
        (name, Self::default())
    }

    /// The suffixes of packed files, for messages and documents.
    pub fn ends() -> impl Iterator<Item = &'static str> {
        PACKINGS.iter().map(|(end, _)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_end_counts_in_any_letters() {
        for (name, rest, expected) in [
            ("code.tar.gz", "code", packing(Some(Compression::Gzip), Some(ArchiveFormat::Tar))),
            ("CODE.TGZ", "CODE", packing(Some(Compression::Gzip), Some(ArchiveFormat::Tar))),
            ("a.xml.gz", "a.xml", packing(Some(Compression::Gzip), None)),
            ("a.ZIP", "a", packing(None, Some(ArchiveFormat::Zip))),
            ("zip", "zip", Packing::default()),
            ("§gz", "§gz", Packing::default()),
            ("", "", Packing::default()),
        ] {
            assert_eq!(Packing::of(name), (rest, expected), "{name}");
        }
        for (row, (end, _)) in PACKINGS.iter().enumerate() {
            let later = PACKINGS[row + 1..].iter().find(|(later, _)| later.ends_with(end));
            assert_eq!(later, None, "{end} hides a longer end");
        }
    }
}
