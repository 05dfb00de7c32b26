//! Watches the frames of an HTTP/2 client on their way to hyper. It reads only frame headers.
//!
//! hyper has no timeout for a frame, and any frame keeps its connection open. Here, a frame, or a request
//! head in several frames, must be complete in time. Only requests keep a connection open. Frames that
//! request nothing (PING, SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE, DATA, unknown types) use up a
//! budget, which grows with time and with the bytes that the client reads.

use std::io;
use std::time::Duration;

use tokio::time::Instant;

const HEADER_BYTES: usize = 9;

/// How many frames that request nothing are allowed at once. A client that reads a megabyte may update
/// its windows 500 times.
const BUDGET_MAX: u32 = 1000;
const BUDGET_PER_SECOND: u32 = 20;
/// The client may send one more frame each time this many bytes were sent to it. It may update two
/// windows, of the connection and of the stream, for each 4 kB.
const SENT_BYTES_PER_FRAME: usize = 2 << 10;

const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

pub(super) struct FrameWatch {
    header: [u8; HEADER_BYTES],
    header_read: usize,
    payload_left: usize,
    /// Whether a request head of several frames is incomplete.
    is_in_head: bool,
    /// When the current incomplete frame or head began.
    incomplete_since: Option<Instant>,
    newest_stream: u32,
    last_request: Instant,
    budget: FrameBudget,
}

impl FrameWatch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            header: [0; HEADER_BYTES],
            header_read: 0,
            payload_left: 0,
            is_in_head: false,
            incomplete_since: None,
            newest_stream: 0,
            last_request: now,
            budget: FrameBudget { left: BUDGET_MAX, refilled: now, sent_bytes: 0 },
        }
    }

    /// Takes what the client sent after the preface. Returns an error if it is a flood.
    pub(super) fn received(&mut self, bytes: &[u8], now: Instant) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.payload_left > 0 {
                let skipped = self.payload_left.min(rest.len());
                self.payload_left -= skipped;
                rest = &rest[skipped..];
            } else {
                let taken = (HEADER_BYTES - self.header_read).min(rest.len());
                self.header[self.header_read..][..taken].copy_from_slice(&rest[..taken]);
                self.header_read += taken;
                rest = &rest[taken..];
                if self.header_read == HEADER_BYTES {
                    self.header_read = 0;
                    self.take_header(now)?;
                }
            }
            let is_whole = self.payload_left == 0 && self.header_read == 0 && !self.is_in_head;
            self.incomplete_since = if is_whole { None } else { self.incomplete_since.or(Some(now)) };
        }
        Ok(())
    }

    fn take_header(&mut self, now: Instant) -> io::Result<()> {
        let [length @ .., kind, flags, a, b, c, d] = self.header;
        self.payload_left = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let stream = u32::from_be_bytes([a, b, c, d]) & (u32::MAX >> 1);
        if matches!(kind, HEADERS | CONTINUATION) {
            self.is_in_head = flags & END_HEADERS == 0;
        }
        if kind == HEADERS && stream > self.newest_stream {
            self.newest_stream = stream;
            self.last_request = now;
            return Ok(());
        }
        self.budget.spend(now)
    }

    /// Counts bytes that were sent to the client.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.budget.earn(bytes);
    }

    /// When the current frame or head must be complete.
    pub(super) fn frame_deadline(&self, within: Duration) -> Option<Instant> {
        self.incomplete_since.map(|since| since + within)
    }

    pub(super) fn last_request(&self) -> Instant {
        self.last_request
    }
}

/// How many frames that request nothing are still allowed.
struct FrameBudget {
    left: u32,
    refilled: Instant,
    /// Bytes that were sent to the client and are not counted yet.
    sent_bytes: usize,
}

impl FrameBudget {
    fn spend(&mut self, now: Instant) -> io::Result<()> {
        if self.left == 0 {
            let earned = (now - self.refilled).as_millis() * u128::from(BUDGET_PER_SECOND) / 1000;
            self.left = u32::try_from(earned).map_or(BUDGET_MAX, |earned| earned.min(BUDGET_MAX));
            self.refilled = now;
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| io::Error::other("a flood of HTTP/2 control frames"))?;
        Ok(())
    }

    fn earn(&mut self, bytes: usize) {
        self.sent_bytes += bytes;
        let frames = u32::try_from(self.sent_bytes / SENT_BYTES_PER_FRAME).unwrap_or(u32::MAX);
        self.sent_bytes %= SENT_BYTES_PER_FRAME;
        self.left = self.left.saturating_add(frames).min(BUDGET_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, stream: u32, payload: usize) -> Vec<u8> {
        let length = (payload as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), &vec![0; payload]].concat()
    }

    #[test]
    fn frames_are_recognized_however_reads_split_them() {
        let start = Instant::now();
        let bytes = [
            frame(4, 0, 0, 18),
            frame(HEADERS, 0, 1, 300),
            frame(CONTINUATION, 0, 1, 0),
            frame(CONTINUATION, END_HEADERS, 1, 5),
            frame(HEADERS, END_HEADERS | 1, 3, 10),
            frame(0, 1, 3, 0),
        ]
        .concat();
        for piece in [1, 2, 9, 100, bytes.len()] {
            let mut watch = FrameWatch::new(start);
            for (number, piece) in bytes.chunks(piece).enumerate() {
                watch.received(piece, start + SECOND * number as u32).unwrap();
            }
            assert_eq!((watch.newest_stream, watch.frame_deadline(SECOND)), (3, None), "{piece}");
            assert_eq!(BUDGET_MAX - watch.budget.left, 4, "all but the two requests");
        }
    }

    #[test]
    fn more_bytes_do_not_move_the_deadline_of_an_incomplete_frame_or_head() {
        let start = Instant::now();
        let mut watch = FrameWatch::new(start);
        let head = frame(HEADERS, 0, 1, 3);
        for (number, byte) in head.iter().enumerate() {
            watch.received(&[*byte], start + SECOND * number as u32).unwrap();
            assert_eq!(watch.frame_deadline(5 * SECOND), Some(start + 5 * SECOND));
        }
        // The frame is complete, the head is not.
        watch.received(&frame(CONTINUATION, 0, 1, 0), start + 20 * SECOND).unwrap();
        assert_eq!(watch.frame_deadline(5 * SECOND), Some(start + 5 * SECOND));
        // Complete, and the first byte of the next frame.
        let end = [frame(CONTINUATION, END_HEADERS, 1, 0), vec![0]].concat();
        watch.received(&end, start + 30 * SECOND).unwrap();
        assert_eq!(watch.frame_deadline(5 * SECOND), Some(start + 35 * SECOND));
    }

    #[test]
    fn only_requests_count_as_use() {
        let start = Instant::now();
        let mut watch = FrameWatch::new(start);
        watch.received(&frame(HEADERS, END_HEADERS | 1, 1, 10), start + SECOND).unwrap();
        for kind in [0, HEADERS, 2, 3, 4, PING, 8, 200] {
            watch.received(&frame(kind, END_HEADERS, 1, 8), start + 9 * SECOND).unwrap();
        }
        assert_eq!(watch.last_request(), start + SECOND);
    }

    #[test]
    fn a_flood_ends_the_connection_and_a_steady_few_or_updates_of_windows_do_not() {
        let start = Instant::now();
        let ping = frame(PING, 0, 0, 8);
        for kind in [0, 2, 3, 4, PING, 8, 9, 200] {
            let mut flooded = FrameWatch::new(start);
            let taken = (0..5000).take_while(|_| flooded.received(&frame(kind, 4, 1, 0), start).is_ok()).count();
            assert_eq!(taken, 1000, "frames of kind {kind}");
        }
        let mut steady = FrameWatch::new(start);
        for number in 0..20_000 {
            steady.received(&ping, start + SECOND * number / BUDGET_PER_SECOND).unwrap();
        }
        let mut reading = FrameWatch::new(start);
        for _ in 0..20_000 {
            reading.sent(4 << 10);
            reading.received(&[frame(8, 0, 0, 4), frame(8, 0, 1, 4)].concat(), start).unwrap();
        }
    }
}
