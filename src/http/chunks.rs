//! Reads a chunked body byte by byte, as RFC 9112 defines it. It refuses what two programs could read
//! differently: extensions, trailers, and lines that end without a carriage return. The joined body is
//! passed on with its length.

use super::rules::{bad, body_too_large};
use crate::api::error::ApiError;

/// A chunk size with more digits is refused as too large.
const SIZE_DIGITS_MAX: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ChunkState {
    /// In the line with the size of a chunk, after this many digits.
    Size {
        digits: usize,
        size: usize,
    },
    /// After the carriage return of that line.
    SizeEnd {
        size: usize,
    },
    Data {
        left: usize,
    },
    /// After the bytes of a chunk.
    DataEnd,
    DataEndLine,
    /// After the last chunk, which is empty.
    Last,
    LastLine,
    Done,
}

/// How far a chunked body has been read.
#[derive(Debug)]
pub(super) struct ChunkDecoder {
    state: ChunkState,
    /// The number of bytes of the body so far.
    pub(super) bytes: usize,
    bytes_max: usize,
}

impl ChunkDecoder {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { state: ChunkState::Size { digits: 0, size: 0 }, bytes: 0, bytes_max }
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == ChunkState::Done
    }

    /// Continues reading, and appends the bytes of the body to `body`. Returns how many bytes of `raw`
    /// were read: all of them, except those after the end of the body.
    pub(super) fn read(&mut self, raw: &[u8], body: &mut Vec<u8>) -> Result<usize, ApiError> {
        let mut at = 0;
        while at < raw.len() && !self.is_done() {
            if let ChunkState::Data { left } = self.state {
                let taken = left.min(raw.len() - at);
                body.extend_from_slice(&raw[at..at + taken]);
                self.bytes += taken;
                at += taken;
                self.state = if taken == left { ChunkState::DataEnd } else { ChunkState::Data { left: left - taken } };
                continue;
            }
            self.state = self.after(raw[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn after(&self, byte: u8) -> Result<ChunkState, ApiError> {
        match (self.state, byte) {
            (ChunkState::Size { digits, size }, byte) if byte.is_ascii_hexdigit() => {
                if digits == SIZE_DIGITS_MAX {
                    return Err(body_too_large(self.bytes_max));
                }
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as usize;
                let size = size << 4 | digit;
                if self.bytes + size > self.bytes_max {
                    return Err(body_too_large(self.bytes_max));
                }
                Ok(ChunkState::Size { digits: digits + 1, size })
            }
            (ChunkState::Size { digits: 1.., size }, b'\r') => Ok(ChunkState::SizeEnd { size }),
            (ChunkState::Size { digits: 1.., .. }, b';' | b' ' | b'\t') => {
                Err(bad("a chunk of the body has an extension; send only its size"))
            }
            (ChunkState::SizeEnd { size: 0 }, b'\n') => Ok(ChunkState::Last),
            (ChunkState::SizeEnd { size }, b'\n') => Ok(ChunkState::Data { left: size }),
            (ChunkState::DataEnd, b'\r') => Ok(ChunkState::DataEndLine),
            (ChunkState::DataEndLine, b'\n') => Ok(ChunkState::Size { digits: 0, size: 0 }),
            (ChunkState::Last, b'\r') => Ok(ChunkState::LastLine),
            (ChunkState::LastLine, b'\n') => Ok(ChunkState::Done),
            (ChunkState::Last, _) => Err(bad("the body has trailers; send them as headers")),
            _ => Err(bad("the body is not valid chunked encoding; send Content-Length instead")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::rules::BODY_BYTES_MAX;

    fn whole(raw: &[u8]) -> Result<(Vec<u8>, usize, bool), u16> {
        let (mut chunks, mut body) = (ChunkDecoder::new(BODY_BYTES_MAX), Vec::new());
        let read = chunks.read(raw, &mut body).map_err(|error| error.code.status())?;
        assert_eq!(chunks.bytes, body.len());
        Ok((body, read, chunks.is_done()))
    }

    #[test]
    fn chunks_are_joined_and_what_follows_is_left() {
        assert_eq!(whole(b"0\r\n\r\n"), Ok((Vec::new(), 5, true)));
        assert_eq!(
            whole(b"3\r\nabc\r\n0A\r\n0123456789\r\n000\r\n\r\nGET /"),
            Ok((b"abc0123456789".to_vec(), 31, true))
        );
        assert_eq!(whole(b"3\r\nab"), Ok((b"ab".to_vec(), 5, false)));
    }

    #[test]
    fn ambiguous_chunks_are_refused() {
        for bad in [
            &b"\r\n"[..],
            b"x\r\n",
            b"-1\r\n",
            b"0x3\r\n",
            b" 3\r\n",
            b"3 \r\n",
            b"3;a=b\r\n",
            b"3\nabc\r\n",
            b"3\r\nabcd",
            b"3\r\nabc\n",
            b"0\r\nHost: a\r\n\r\n",
            b"0\r\n\n",
            b"3\r\r\n",
            b"\xd9\xa3\r\n",
            b"3\r\nabc\r\n\r\n",
        ] {
            assert_eq!(whole(bad), Err(400), "{}", bad.escape_ascii());
        }
        for large in [&b"10001\r\n"[..], b"ffffffffffffffff1\r\n", b"000000000\r\n", b"8000\r\n"] {
            let expected = if large == b"8000\r\n" { Ok((Vec::new(), 6, false)) } else { Err(413) };
            assert_eq!(whole(large), expected, "{}", large.escape_ascii());
        }
        let half = [&b"8001\r\n"[..], &[b'a'; 0x8001], b"\r\n8000"].concat();
        assert_eq!(whole(&half), Err(413), "together they are too long");
    }

    proptest! {
        #[test]
        fn splitting_the_input_does_not_change_the_body(
            body in prop::collection::vec(any::<u8>(), 0..300),
            sizes in prop::collection::vec(1..40_usize, 1..20),
            cuts in prop::collection::vec(1..9_usize, 1..20),
            after in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let (mut raw, mut left, mut size) = (Vec::new(), &body[..], sizes.iter().cycle());
            while !left.is_empty() {
                let (chunk, rest) = left.split_at((*size.next().unwrap()).min(left.len()));
                raw.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                raw.extend_from_slice(chunk);
                raw.extend_from_slice(b"\r\n");
                left = rest;
            }
            raw.extend_from_slice(b"0\r\n\r\n");
            let end = raw.len();
            raw.extend_from_slice(&after);
            let (mut chunks, mut found, mut at, mut cut) = (ChunkDecoder::new(BODY_BYTES_MAX), Vec::new(), 0, cuts.iter().cycle());
            while !chunks.is_done() {
                let to = (at + cut.next().unwrap()).min(raw.len());
                at += chunks.read(&raw[at..to], &mut found).unwrap();
            }
            prop_assert_eq!((at, found), (end, body));
        }
    }
}
