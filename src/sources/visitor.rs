//! A polite HTTP client for publishers: one connection at a time, a pause between requests, obedience to
//! `robots.txt`, and a user agent that identifies us.

use std::time::{Duration, Instant};

use hornbook_base::clock::Clock;

use super::address::DownloadUrl;
use super::error::{FetchError, Trouble};
use super::http_time::retry_after;
use super::least_rate::{LeastRate, TransferWindow};
use super::robots::{ROBOTS_BYTES_MAX, Robots};
use crate::client::{ClientError, Request, RequestLimits, ReusedConnection, ServerAddress, StreamedResponse};
use crate::tls_client::Trust;

const REDIRECTS_MAX: usize = 5;
/// The timeout for a connection and for the head of a response.
const CONNECT_MAX: Duration = Duration::from_secs(30);
const HEAD_MAX: Duration = Duration::from_secs(120);

/// The settings of requests to publishers.
#[derive(Clone, Debug)]
pub struct Manners {
    /// Between the end of a response and the next request to the same host; longer if the host asks for it.
    pub pause: Duration,
    /// The operator's contact, sent with every request.
    pub contact: Option<String>,
    pub heed_robots: bool,
    /// The timeout for a server that sends nothing.
    pub patience: Duration,
    /// The minimum rate of a server.
    pub least_rate: LeastRate,
    pub trust: Trust,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            pause: Duration::from_secs(1),
            contact: None,
            heed_robots: true,
            patience: Duration::from_secs(60),
            least_rate: LeastRate::default(),
            trust: Trust::System,
        }
    }
}

pub(crate) struct SourceVisitor<'c> {
    manners: Manners,
    pub(crate) clock: &'c dyn Clock,
    host: Option<Host>,
}

/// The current host.
struct Host {
    server: String,
    connection: ReusedConnection,
    /// The end of the last response.
    left: Option<Instant>,
    robots: Robots,
}

/// A response, and its address after redirects.
pub(crate) struct FetchedResponse {
    pub(crate) address: DownloadUrl,
    pub(crate) pieces: StreamedResponse,
    window: TransferWindow,
}

impl<'c> SourceVisitor<'c> {
    pub(crate) fn new(manners: Manners, clock: &'c dyn Clock) -> Self {
        Self { manners, clock, host: None }
    }

    /// Requests an address and follows redirects on its host. Error statuses are errors.
    pub(crate) async fn get(
        &mut self,
        address: &DownloadUrl,
        headers: &[(&'static str, String)],
    ) -> Result<FetchedResponse, Trouble> {
        self.arrive(address).await?;
        let found = self.follow(address, headers, true).await?;
        self.judged(found)
    }

    /// The body of a small page, as text.
    pub(crate) async fn page(&mut self, address: &DownloadUrl, bytes_max: usize) -> Result<String, Trouble> {
        let mut found = self.get(address, &[]).await?;
        self.text(&mut found, bytes_max).await
    }

    /// The length of a file, if the server states it: asks for its first byte alone.
    pub(crate) async fn length(&mut self, address: &DownloadUrl) -> Result<Option<u64>, Trouble> {
        let found = self.get(address, &[("range", "bytes=0-0".to_owned())]).await?;
        let total = match found.pieces.status {
            206 => {
                found.pieces.header("content-range").and_then(|range| range.rsplit_once('/')).map(|(_, total)| total)
            }
            _ => found.pieces.header("content-length"),
        };
        let total = total.and_then(|total| total.parse().ok());
        self.close();
        Ok(total)
    }

    /// The next piece of a body, within the timeouts.
    pub(crate) async fn next_piece(&mut self, found: &mut FetchedResponse) -> Result<Option<bytes::Bytes>, Trouble> {
        let asked = Instant::now();
        let piece = found.pieces.next(self.manners.patience).await;
        let now = Instant::now();
        if let Some(host) = &mut self.host {
            host.left = Some(now);
        }
        let piece = piece.map_err(|source| passing(&found.address, source))?;
        let least = self.manners.least_rate;
        match &piece {
            // Our own processing time does not count against the server.
            Some(bytes) if !found.window.is_fast_enough(least, now - asked, bytes.len()) => {
                Err(Trouble::Passing(FetchError::Slow { address: found.address.clone(), least }, None))
            }
            _ => Ok(piece),
        }
    }

    /// Closes the connection, because its last response was not read to the end or failed.
    pub(crate) fn close(&mut self) {
        if let Some(host) = &mut self.host {
            host.connection.close();
        }
    }

    /// Switches to the host of an address and reads its rules.
    async fn arrive(&mut self, address: &DownloadUrl) -> Result<(), Trouble> {
        if !address.is_safe() {
            return Err(Trouble::Final(FetchError::Unencrypted(address.clone())));
        }
        if self.host.as_ref().is_some_and(|host| host.server == address.server()) {
            return Ok(());
        }
        let server = ServerAddress::parse(&address.server(), &self.manners.trust)
            .map_err(|source| FetchError::Client { address: address.clone(), source })?;
        let limits = RequestLimits { connect: CONNECT_MAX, total: HEAD_MAX, body_bytes_max: ROBOTS_BYTES_MAX };
        let connection = ReusedConnection::new(server, limits);
        self.host = Some(Host { server: address.server(), connection, left: None, robots: Robots::default() });
        if self.manners.heed_robots {
            let robots = self.robots(&address.with_path("/robots.txt")).await;
            match (robots, &mut self.host) {
                (Ok(robots), Some(host)) => host.robots = robots,
                (Err(trouble), _) => {
                    // Without its rules nothing is requested from a host; the next attempt asks for them again.
                    self.host = None;
                    return Err(trouble);
                }
                (Ok(_), None) => {}
            }
        }
        Ok(())
    }

    async fn robots(&mut self, address: &DownloadUrl) -> Result<Robots, Trouble> {
        let mut found = match self.follow(address, &[], false).await {
            Ok(found) => found,
            // This host has no readable rules.
            Err(Trouble::Final(FetchError::Redirect { .. })) => return Ok(Robots::default()),
            Err(trouble) => return Err(trouble),
        };
        match found.pieces.status {
            200..=299 => Ok(Robots::parse(&self.text(&mut found, ROBOTS_BYTES_MAX).await?)),
            401 | 403 => {
                self.close();
                Ok(Robots::refuse_all())
            }
            400..=499 if found.pieces.status != 429 => {
                self.close();
                Ok(Robots::default())
            }
            _ => Err(self.judged(found).err().unwrap_or(Trouble::Final(FetchError::Robots(address.clone())))),
        }
    }

    /// Reads at most `bytes_max` bytes of a body.
    async fn text(&mut self, found: &mut FetchedResponse, bytes_max: usize) -> Result<String, Trouble> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next_piece(found).await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > bytes_max {
                bytes.truncate(bytes_max);
                self.close();
                break;
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn follow(
        &mut self,
        address: &DownloadUrl,
        headers: &[(&'static str, String)],
        heed_robots: bool,
    ) -> Result<FetchedResponse, Trouble> {
        let mut seen = vec![address.clone()];
        loop {
            let here = seen.last().cloned().unwrap_or_else(|| address.clone());
            let pieces = self.request(&here, headers, heed_robots).await?;
            if !matches!(pieces.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(FetchedResponse { address: here, pieces, window: TransferWindow::default() });
            }
            self.close();
            let refused = |what: String| Trouble::Final(FetchError::Redirect { from: here.clone(), what });
            let Some(location) = pieces.header("location") else {
                return Err(refused("it does not say where to".to_owned()));
            };
            let next = here.redirected(location).map_err(|error| refused(format!("the target {error}")))?;
            if seen.contains(&next) {
                return Err(refused(format!("it leads in a circle, to {next}")));
            }
            if seen.len() > REDIRECTS_MAX {
                return Err(refused(format!("it is the {}th redirect in a row", REDIRECTS_MAX + 1)));
            }
            seen.push(next);
        }
    }

    async fn request(
        &mut self,
        address: &DownloadUrl,
        headers: &[(&'static str, String)],
        heed_robots: bool,
    ) -> Result<StreamedResponse, Trouble> {
        let Some(host) = &mut self.host else {
            return Err(Trouble::Passing(FetchError::Unencrypted(address.clone()), None));
        };
        if heed_robots && !host.robots.allows(address.path()) {
            return Err(Trouble::Final(FetchError::Robots(address.clone())));
        }
        let pause = self.manners.pause.max(host.robots.delay());
        if let Some(left) = host.left {
            tokio::time::sleep(pause.saturating_sub(left.elapsed())).await;
        }
        let mut request = Request::get(address.path())
            .header(
                "user-agent",
                concat!("Hornbook/", env!("CARGO_PKG_VERSION"), " (builds searchable snapshots of law)"),
            )
            .header("accept", "*/*")
            .header("accept-encoding", "identity");
        if let Some(contact) = &self.manners.contact {
            request = request.header("from", contact.clone());
        }
        for (name, value) in headers {
            request = request.header(name, value.clone());
        }
        let answer = host.connection.send_streaming(request).await;
        host.left = Some(Instant::now());
        answer.map_err(|source| passing(address, source))
    }

    /// Turns statuses other than 200, 206, 304 and 416 into errors.
    fn judged(&mut self, found: FetchedResponse) -> Result<FetchedResponse, Trouble> {
        let status = found.pieces.status;
        if matches!(status, 200 | 206 | 304 | 416) {
            return Ok(found);
        }
        self.close();
        let asked = found.pieces.header("retry-after");
        let asked = asked.and_then(|text| retry_after(text, self.clock.now().wall));
        let error = FetchError::Status { address: found.address, status, retry_after: asked };
        Err(match status {
            408 | 425 | 429 | 500 | 502 | 503 | 504 => Trouble::Passing(error, asked),
            _ => Trouble::Final(error),
        })
    }
}

fn passing(address: &DownloadUrl, source: ClientError) -> Trouble {
    let is_final =
        matches!(source, ClientError::Certificate(_) | ClientError::Plain | ClientError::Url(_) | ClientError::Request);
    let error = FetchError::Client { address: address.clone(), source };
    if is_final { Trouble::Final(error) } else { Trouble::Passing(error, None) }
}
