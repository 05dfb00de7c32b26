//! Reads files of UTF-8 lines with a maximum length.

use std::io::{BufRead, Read};

use rayon::prelude::*;

use super::file::{SourceError, SourceFile};

/// The lines and bytes that are parsed at a time.
const BATCH_LINES_MAX: usize = 4_096;
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Reads lines of limited length. `visit` receives each line without its line end, with its number from 1.
pub fn for_each_line<E: From<SourceError>>(
    file: SourceFile<'_>,
    line_bytes_max: usize,
    mut visit: impl FnMut(u32, &str) -> Result<(), E>,
) -> Result<(), E> {
    let SourceFile { place, reader } = file;
    let mut line = Vec::new();
    for number in 1_u32.. {
        line.clear();
        let mut bounded = Read::take(&mut *reader, line_bytes_max as u64 + 1);
        let count = bounded.read_until(b'\n', &mut line).map_err(|source| SourceError::Io {
            place: format!("{place}:{number}"),
            doing: "read it",
            source,
        })?;
        if count == 0 {
            break;
        }
        let refused = |what: String| SourceError::Refused { place: format!("{place}:{number}"), what };
        if count > line_bytes_max {
            return Err(refused(format!("the line is longer than {line_bytes_max} bytes")).into());
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            refused(format!(
                "byte {} of the line is not UTF-8; convert the file, for example with iconv",
                error.valid_up_to() + 1
            ))
        })?;
        let text = if number == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        visit(number, text)?;
    }
    Ok(())
}

/// Reads lines like `for_each_line`, parses them in batches on all cores, and passes the results to
/// `take` in line order. Empty lines are skipped.
pub fn parse_lines<T: Send, E: From<SourceError>>(
    file: SourceFile<'_>,
    line_bytes_max: usize,
    parse: impl Fn(u32, &str) -> T + Sync,
    mut take: impl FnMut(u32, T) -> Result<(), E>,
) -> Result<(), E> {
    let mut batch: Vec<(u32, String)> = Vec::new();
    let mut bytes = 0;
    let mut work_off = |batch: &mut Vec<(u32, String)>| {
        let parsed: Vec<T> = batch.par_iter().map(|(number, line)| parse(*number, line)).collect();
        batch.drain(..).zip(parsed).try_for_each(|((number, _), parsed)| take(number, parsed))
    };
    let read = for_each_line(file, line_bytes_max, |number, line| {
        if line.trim().is_empty() {
            return Ok(());
        }
        bytes += line.len();
        batch.push((number, line.to_owned()));
        if batch.len() < BATCH_LINES_MAX && bytes < BATCH_BYTES_MAX {
            return Ok(());
        }
        bytes = 0;
        work_off(&mut batch)
    });
    // The lines read so far come before the unreadable one, so they are processed first.
    work_off(&mut batch)?;
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_must_be_utf_8() {
        let lines = |bytes: &[u8], max| {
            let mut seen = Vec::new();
            let file = SourceFile { place: "f".into(), reader: &mut &bytes[..] };
            for_each_line(file, max, |n, line| {
                seen.push((n, line.to_owned()));
                Ok::<_, SourceError>(())
            })
            .map(|()| seen)
            .map_err(|error| error.to_string())
        };
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\nb", 9).unwrap(), [(1, "a".into()), (2, String::new()), (3, "b".into())]);
        assert!(lines(b"ok\n\xff", 9).unwrap_err().starts_with("f:2: byte 1 of the line is not UTF-8"));
        assert!(lines(b"0123456789", 9).unwrap_err().contains("longer than 9 bytes"));
    }
}
