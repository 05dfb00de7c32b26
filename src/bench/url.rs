//! A target that is a server, measured over HTTP.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hornbook_search::Mode;

use super::queries::BenchQuery;
use super::{BenchError, BenchTarget, BoxFuture, Sample, SampleResult, Worker};
use crate::client::{ClientError, ClientResponse, Request, RequestLimits, ReusedConnection, ServerAddress};
use crate::percent;
use crate::tls_client::Trust;

/// These limits are large enough for a server under load, and for the zoning layer of a city.
const LIMITS: RequestLimits =
    RequestLimits { connect: Duration::from_secs(30), total: Duration::from_secs(30), body_bytes_max: 1 << 30 };

pub struct Url {
    server: ServerAddress,
    key: Option<String>,
    paths: Vec<String>,
    /// For each status other than 200, the message of the first such response.
    messages: Mutex<BTreeMap<u16, String>>,
}

impl Url {
    /// `base` is the URL without a path; the paths are requested in order, again and again.
    pub fn new(base: &str, trust: &Trust, key: Option<String>, paths: Vec<String>) -> Result<Self, BenchError> {
        if let Some(bad) = paths.iter().find(|path| !path.starts_with('/') || path.contains(char::is_whitespace)) {
            return Err(BenchError(format!("'{bad}' is not a path; write it as /api/v1/coverage, percent-encoded")));
        }
        let server = ServerAddress::parse(base, trust).map_err(|error| match error {
            ClientError::Url(why) if why.ends_with("without a path") => {
                BenchError(format!("{why}; pass the path in --path"))
            }
            error => BenchError(error.to_string()),
        })?;
        Ok(Self { server, key, paths, messages: Mutex::default() })
    }

    /// Stores the server's message for a status, unless one is stored already.
    fn store_message(&self, status: u16, body: &[u8]) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.entry(status).or_insert_with(|| {
            let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
            body["message"].as_str().unwrap_or_default().to_owned()
        });
    }
}

/// The paths of the API calls that search for these queries.
pub fn search_paths(queries: &[BenchQuery], mode: Mode, limit: u32) -> Vec<String> {
    let path = |query: &BenchQuery| {
        let jurisdiction = query.jurisdiction.as_ref().map(|code| format!("&jurisdiction={}", percent::encoded(code)));
        format!(
            "/api/v1/search?q={}&mode={}&limit={limit}{}",
            percent::encoded(&query.text),
            query.mode.unwrap_or(mode).name(),
            jurisdiction.unwrap_or_default()
        )
    };
    queries.iter().map(path).collect()
}

impl BenchTarget for Url {
    fn worker(&self) -> BoxFuture<'_, Result<Box<dyn Worker + '_>, BenchError>> {
        Box::pin(async {
            let unable =
                |why: &dyn fmt::Display| BenchError(format!("cannot connect to {}: {why}", self.server.address()));
            let mut connection = ReusedConnection::new(self.server.clone(), LIMITS);
            connection.connect().await.map_err(|error| match error {
                ClientError::Certificate(_) => unable(&format_args!(
                    "{error}; pass the file of a trusted certificate in --ca, or accept any certificate with --insecure"
                )),
                error => unable(&error),
            })?;
            Ok(Box::new(Client { connection, target: self }) as Box<dyn Worker>)
        })
    }

    fn threads(&self, _workers: usize) -> usize {
        1
    }

    fn failure_message(&self, failure: &str) -> Option<String> {
        let status: u16 = failure.parse().ok()?;
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.get(&status).filter(|message| !message.is_empty()).cloned()
    }
}

struct Client<'t> {
    connection: ReusedConnection,
    target: &'t Url,
}

impl Worker for Client<'_> {
    fn send(&mut self, index: usize) -> BoxFuture<'_, Sample> {
        Box::pin(self.ask(index))
    }
}

impl Client<'_> {
    async fn get(&mut self, path: &str) -> Result<ClientResponse, Cow<'static, str>> {
        let mut request = Request::get(path);
        if let Some(key) = &self.target.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.connection.send(request).await.map_err(|error| match error {
            ClientError::Broken(_) => "the connection was closed".into(),
            ClientError::Timeout => "timed out".into(),
            ClientError::Request | ClientError::TooLong(_) => error.to_string().into(),
            _ => "cannot connect".into(),
        })
    }

    async fn ask(&mut self, index: usize) -> Sample {
        let path = &self.target.paths[index % self.target.paths.len()];
        match self.get(path).await {
            Ok(answer) => {
                if answer.status != 200 {
                    self.target.store_message(answer.status, &answer.body);
                }
                let stages = answer.header("server-timing").map(timings).unwrap_or_default();
                let result = match answer.status {
                    200 => SampleResult::Answered,
                    503 => SampleResult::Refused,
                    status => SampleResult::Failed(Cow::Owned(status.to_string())),
                };
                Sample { result, stages }
            }
            Err(why) => SampleResult::Failed(why).into(),
        }
    }
}

/// Parses a `Server-Timing` header such as `keyword;dur=0.3, vector;dur=0.1`; durations are in milliseconds.
fn timings(header: &str) -> Vec<(Cow<'static, str>, Duration)> {
    let stage = |entry: &str| {
        let mut parts = entry.split(';').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let millis: f64 = parts.find_map(|part| part.strip_prefix("dur="))?.trim_matches('"').parse().ok()?;
        Some((Cow::Owned(name.to_owned()), Duration::try_from_secs_f64(millis / 1000.0).ok()?))
    };
    header.split(',').filter_map(stage).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    use super::*;

    /// A server that answers by path, keeps connections open, and closes the connection on `/break`.
    fn server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                while let Some(path) = lines.next().map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned()) {
                    let headers: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
                    let key = headers.iter().any(|line| line == "authorization: Bearer k");
                    let head = match path.as_str() {
                        "/ok" if key => "200 OK\r\nServer-Timing: keyword;dur=1.5",
                        "/busy" => "503 Service Unavailable",
                        "/break" => break,
                        _ => "404 Not Found",
                    };
                    let body = r#"{"error":"e","message":"there is nothing"}"#;
                    write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
                }
            }
        });
        address
    }

    #[test]
    fn statuses_are_told_apart_and_a_broken_connection_is_opened_again() {
        let paths = ["/ok", "/busy", "/gone", "/break", "/ok"].map(str::to_owned).to_vec();
        let target = Url::new(&server(), &Trust::System, Some("k".to_owned()), paths).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut worker = runtime.block_on(target.worker()).unwrap();
        let mut results = (0..7).map(|index| runtime.block_on(worker.send(index)));
        let first = results.next().unwrap();
        assert_eq!(first.result, SampleResult::Answered);
        assert_eq!(first.stages, [(Cow::Owned("keyword".to_owned()), Duration::from_micros(1500))]);
        let failed = |why: &'static str| SampleResult::Failed(Cow::Borrowed(why));
        let rest: Vec<SampleResult> = results.map(|sample| sample.result).collect();
        let expected = [
            SampleResult::Refused,
            failed("404"),
            failed("the connection was closed"),
            SampleResult::Answered,
            SampleResult::Answered,
        ];
        assert_eq!(rest[..5], expected);
        drop(worker);
        assert_eq!(target.failure_message("404").as_deref(), Some("there is nothing"));
        assert_eq!(target.failure_message("429"), None);
    }

    #[test]
    fn an_unreachable_server_is_reported() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let target = Url::new(&format!("http://{gone}"), &Trust::System, None, vec!["/".to_owned()]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(target.worker()).err().unwrap().to_string();
        assert!(error.contains(&gone.to_string()) && error.contains("check that the server is running"), "{error}");
    }

    #[test]
    fn timings_are_parsed_and_invalid_entries_are_skipped() {
        let read = timings("understand;dur=0.012, keyword;desc=\"words\";dur=1.5, miss, bad;dur=x, neg;dur=-1");
        let names: Vec<(&str, u128)> = read.iter().map(|(name, took)| (&**name, took.as_nanos())).collect();
        assert_eq!(names, [("understand", 12_000), ("keyword", 1_500_000)]);
    }

    #[test]
    fn queries_become_url_paths() {
        let query = BenchQuery { text: "\"a & b\" § 1".to_owned(), jurisdiction: Some("XA".to_owned()), mode: None };
        let expected = "/api/v1/search?q=%22a%20%26%20b%22%20%C2%A7%201&mode=keyword&limit=20&jurisdiction=XA";
        assert_eq!(search_paths(&[query], Mode::Keyword, 20), [expected]);
    }
}
