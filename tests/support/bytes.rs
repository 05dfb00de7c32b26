//! The notation of bytes in data files: `\r \n \t \0 \xHH \\` for single bytes; `{text*N}` for a
//! text repeated N times; `{end}` for a Host header, `Connection: close` and the end of a head;
//! `{key}` for an `Authorization` header.

pub(crate) fn unescaped(text: &str, key: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let filled = rest.strip_prefix('{').and_then(|rest| expand_braces(rest, key));
        if let Some((bytes, behind)) = filled {
            out.extend_from_slice(&bytes);
            rest = behind;
            continue;
        }
        rest = &rest[first.len_utf8()..];
        if first != '\\' {
            out.extend_from_slice(first.to_string().as_bytes());
            continue;
        }
        let (byte, length) = match rest.as_bytes() {
            [b'r', ..] => (b'\r', 1),
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [b'0', ..] => (0, 1),
            [b'\\', ..] => (b'\\', 1),
            [b'x', ..] => (u8::from_str_radix(&rest[1..3], 16).unwrap(), 3),
            _ => panic!("unknown escape: \\{rest}"),
        };
        out.push(byte);
        rest = &rest[length..];
    }
    out
}

/// The bytes that a pair of braces stands for, and the text after it.
fn expand_braces<'t>(inside: &'t str, key: &str) -> Option<(Vec<u8>, &'t str)> {
    if let Some(behind) = inside.strip_prefix("end}") {
        return Some((b"Host: law.example\r\nConnection: close\r\n\r\n".to_vec(), behind));
    }
    if let Some(behind) = inside.strip_prefix("key}") {
        return Some((format!("Authorization: Bearer {key}\r\n").into_bytes(), behind));
    }
    let star = inside.match_indices('*').find_map(|(star, _)| {
        let (number, behind) = inside[star + 1..].split_once('}')?;
        Some((star, number.parse::<usize>().ok()?, behind))
    });
    let (star, times, behind) = star?;
    Some((unescaped(&inside[..star], key).repeat(times), behind))
}
