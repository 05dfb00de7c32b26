//! The log: one line per event, as text or JSON, written by a separate thread.
//!
//! Logging never blocks: when the queue is full, lines are dropped and counted. No line contains a
//! token, the words of a search, or more of an API key than its public prefix.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use hornbook_base::clock::UnixMillis;
use hornbook_base::decimal;
use hornbook_base::invisible::{escaped, escaped_json};
use serde_json::Value;

/// The maximum number of lines in the queue.
const WAITING_MAX: usize = 16 << 10;

/// How long the thread waits after the first line for more lines to write with it. Waking the
/// thread for every line would cost each request more than formatting its line.
const BATCH_DELAY: Duration = Duration::from_millis(5);

/// Initial capacity of a line; most lines are shorter.
const LINE_BYTES: usize = 384;

/// The format of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    Text,
    Json,
}

/// Which requests are logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestLogging {
    All,
    /// Requests answered with status 400 or higher, and requests charged although the client disconnected.
    Errors,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogLevel {
    Info,
    Warning,
    Error,
}

impl LogLevel {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Names and values that follow the message, in this order.
pub type LogFields<'f> = &'f [(&'static str, Value)];

pub struct Log {
    form: LogFormat,
    queue: SyncSender<LogMessage>,
    lost: AtomicU64,
}

enum LogMessage {
    Line(String),
    /// Answered when all earlier lines are written.
    Flush(SyncSender<()>),
}

impl Log {
    pub fn start(form: LogFormat, out: impl Write + Send + 'static) -> Self {
        let (queue, waiting) = sync_channel(WAITING_MAX);
        std::thread::spawn(move || write_lines(&waiting, out));
        Self { form, queue, lost: AtomicU64::new(0) }
    }

    pub fn write(&self, at: UnixMillis, level: LogLevel, message: &str, fields: LogFields<'_>) {
        self.write_with(at, level, message, |line| {
            for (name, value) in fields {
                line.value(name, value);
            }
        });
    }

    /// Like `write`, for frequent lines: `tell` adds the fields one by one, without allocating a list of them.
    pub fn write_with(&self, at: UnixMillis, level: LogLevel, message: &str, tell: impl FnOnce(&mut LogLine)) {
        let mut line = LogLine::begin(self.form, at, level, message);
        tell(&mut line);
        let line = line.end();
        if self.queue.try_send(LogMessage::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of lines dropped because the queue was full.
    pub fn dropped_lines(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until all earlier lines are written.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.queue.send(LogMessage::Flush(done)).is_ok() {
            // An error means that the thread has ended and nothing more can be written.
            let _ = written.recv();
        }
    }
}

fn write_lines(waiting: &Receiver<LogMessage>, mut out: impl Write) {
    while let Ok(message) = waiting.recv() {
        if matches!(message, LogMessage::Line(_)) {
            std::thread::sleep(BATCH_DELAY);
        }
        // Lines that arrive together are written together. A failed write does not stop the server.
        let mut text = Vec::new();
        let mut flushes = Vec::new();
        for message in std::iter::once(message).chain(waiting.try_iter().take(WAITING_MAX - 1)) {
            match message {
                LogMessage::Line(line) => text.extend_from_slice(line.as_bytes()),
                LogMessage::Flush(done) => flushes.push(done),
            }
        }
        let _ = out.write_all(&text).and_then(|()| out.flush());
        for done in flushes {
            let _ = done.send(());
        }
    }
}

/// A line under construction: `2026-05-14T12:00:00.000Z info answered operation=search status=200`,
/// or the same as a JSON object.
pub struct LogLine {
    form: LogFormat,
    text: String,
}

impl LogLine {
    fn begin(form: LogFormat, at: UnixMillis, level: LogLevel, message: &str) -> Self {
        let mut line = Self { form, text: String::with_capacity(LINE_BYTES) };
        let (before, between, behind) = match form {
            LogFormat::Text => ("", " ", " "),
            LogFormat::Json => ("{\"at\":\"", "\",\"level\":\"", "\",\"message\":"),
        };
        line.text.push_str(before);
        let _ = write!(line.text, "{at}");
        for part in [between, level.name(), behind] {
            line.text.push_str(part);
        }
        match form {
            LogFormat::Text => line.text.push_str(&one_line(message)),
            LogFormat::Json => line.quote(message),
        }
        line
    }

    fn end(mut self) -> String {
        self.text.push_str(if self.form == LogFormat::Json { "}\n" } else { "\n" });
        self.text
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        match self.form == LogFormat::Text && !value.is_empty() && value.bytes().all(is_plain) {
            true => self.text.push_str(value),
            false => self.quote(value),
        }
    }

    /// Adds a value that consists of letters, digits, dots and colons only.
    pub fn plain(&mut self, name: &str, value: impl Display) {
        self.name(name);
        let quote = if self.form == LogFormat::Json { "\"" } else { "" };
        self.text.push_str(quote);
        let _ = write!(self.text, "{value}");
        self.text.push_str(quote);
    }

    pub fn number(&mut self, name: &str, value: impl Into<u64>) {
        self.name(name);
        decimal::push(&mut self.text, value.into());
    }

    /// Adds microseconds as milliseconds.
    pub fn millis(&mut self, name: &str, micros: u64) {
        self.name(name);
        decimal::push_millis(&mut self.text, micros);
    }

    /// Adds named durations: microseconds as milliseconds.
    pub fn millis_by_name(&mut self, name: &str, micros: &[(&'static str, u32)]) {
        self.name(name);
        for (place, (name, micros)) in micros.iter().enumerate() {
            self.text.push_str(if place == 0 { "{\"" } else { ",\"" });
            self.text.push_str(name);
            self.text.push_str("\":");
            decimal::push_millis(&mut self.text, u64::from(*micros));
        }
        self.text.push_str(if micros.is_empty() { "{}" } else { "}" });
    }

    fn value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.text(name, text),
            value => {
                self.name(name);
                self.text.push_str(&escaped_json(&value.to_string()));
            }
        }
    }

    fn name(&mut self, name: &str) {
        let (before, behind) = match self.form {
            LogFormat::Text => (" ", "="),
            LogFormat::Json => (",\"", "\":"),
        };
        for part in [before, name, behind] {
            self.text.push_str(part);
        }
    }

    fn quote(&mut self, text: &str) {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
            for part in ["\"", text, "\""] {
                self.text.push_str(part);
            }
        } else {
            self.text.push_str(&escaped_json(&Value::from(text).to_string()));
        }
    }
}

/// Replaces line breaks and hidden characters, so that text from outside cannot start a new line, reverse
/// the line or control the terminal.
fn one_line(text: &str) -> Cow<'_, str> {
    const BREAKS: &[char] = &['\n', '\r', '\t'];
    if text.contains(BREAKS) { escaped(&text.replace(BREAKS, " ")).into_owned().into() } else { escaped(text) }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'=')
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use hornbook_base::invisible::is_hidden;
    use serde_json::json;

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(form: LogFormat) -> String {
        let memory = Memory::default();
        let log = Log::start(form, memory.clone());
        let fields = [("status", json!(200)), ("key", json!("hb_live_ab")), ("why", json!("a \"b\"\nc"))];
        log.write(UnixMillis(0), LogLevel::Info, "answered\nnot", &fields);
        log.flush();
        String::from_utf8(memory.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let text = logged(LogFormat::Text);
        let expected = "1970-01-01T00:00:00.000Z info answered not status=200 key=hb_live_ab why=\"a \\\"b\\\"\\nc\"\n";
        assert_eq!(text, expected);
        let json = logged(LogFormat::Json);
        assert_eq!(json.lines().count(), 1);
        let line: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&line["message"], &line["why"]), (&json!("answered\nnot"), &json!("a \"b\"\nc")));
    }

    /// A log that is read on a terminal must not obey what a client sent.
    #[test]
    fn hidden_characters_are_escaped() {
        let sent = "a\u{202e}b\u{9b}c\u{1b}[2J\u{7f}\u{200b}";
        let line = |form| {
            let memory = Memory::default();
            let log = Log::start(form, memory.clone());
            let fields = [("text", json!(sent)), ("list", json!([sent, { "name": sent }]))];
            log.write(UnixMillis(0), LogLevel::Info, sent, &fields);
            log.flush();
            String::from_utf8(memory.0.lock().unwrap().clone()).unwrap()
        };
        for form in [LogFormat::Text, LogFormat::Json] {
            let line = line(form);
            assert!(!line.trim_end_matches('\n').contains(is_hidden), "{form:?}: {line:?}");
        }
        let text = line(LogFormat::Text);
        assert!(text.contains(" a<U+202E>b<U+009B>c<U+001B>[2J<U+007F><U+200B> text="), "{text}");
        assert!(text.contains(r#" text="a\u202eb\u009bc\u001b[2J\u007f\u200b" "#), "{text}");
        let json: Value = serde_json::from_str(&line(LogFormat::Json)).unwrap();
        assert_eq!(
            (&json["message"], &json["text"], &json["list"][1]["name"]),
            (&json!(sent), &json!(sent), &json!(sent))
        );
    }

    #[test]
    fn write_with_and_write_give_the_same_line() {
        for form in [LogFormat::Text, LogFormat::Json] {
            let memory = Memory::default();
            let log = Log::start(form, memory.clone());
            log.write_with(UnixMillis(0), LogLevel::Info, "a", |line| {
                line.text("plain", "x");
                line.text("empty", "");
                line.text("odd", "a \"b\"\n\u{e9}");
                line.plain("address", "::1");
                line.number("count", 7_u32);
                line.millis("ms", 12_345);
                line.millis_by_name("stages", &[("queue", 1500), ("work", 7)]);
                line.millis_by_name("none", &[]);
            });
            let stages = json!({ "queue": 1.5, "work": 0.007 });
            let fields = [
                ("plain", json!("x")),
                ("empty", json!("")),
                ("odd", json!("a \"b\"\n\u{e9}")),
                ("address", json!("::1")),
                ("count", json!(7)),
                ("ms", json!(12.345)),
                ("stages", stages),
                ("none", json!({})),
            ];
            log.write(UnixMillis(0), LogLevel::Info, "a", &fields);
            log.flush();
            let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
            // The same number may be written with more digits.
            let text = text.replace("1.500", "1.5");
            let (reported, made) = text.trim_end().split_once('\n').unwrap();
            assert_eq!(reported, made);
        }
    }

    #[test]
    fn lines_are_written_in_batches() {
        #[derive(Clone, Default)]
        struct Counting(Arc<Mutex<(usize, usize)>>);
        impl Write for Counting {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                let (writes, lines) = &mut *self.0.lock().unwrap();
                *writes += 1;
                *lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let counting = Counting::default();
        let log = Log::start(LogFormat::Text, counting.clone());
        let all = WAITING_MAX / 2;
        for _ in 0..all {
            log.write(UnixMillis(0), LogLevel::Info, "a", &[]);
        }
        log.flush();
        let (writes, lines) = *counting.0.lock().unwrap();
        assert_eq!(lines, all);
        assert!(writes * 50 < all, "{writes} writes of {all} lines");
    }

    #[test]
    fn a_stuck_output_does_not_block_logging() {
        struct Stuck;
        impl Write for Stuck {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                loop {
                    std::thread::park();
                }
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let log = Log::start(LogFormat::Text, Stuck);
        for _ in 0..3 * WAITING_MAX {
            log.write(UnixMillis(0), LogLevel::Info, "a", &[]);
        }
        assert!(log.dropped_lines() >= WAITING_MAX as u64);
    }
}
