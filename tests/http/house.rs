//! A server over the sample corpus on a real socket, and a client that sends exactly what it is told to.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hornbook::accounts::changes::{Act, KeyWish};
use hornbook::accounts::entropy::SystemEntropy;
use hornbook::accounts::ids::{AccountId, Credits};
use hornbook::accounts::key::KeyKind;
use hornbook::accounts::scope::{Scope, ScopeSet};
use hornbook::accounts::tier::Tariff;
use hornbook::accounts::{Accounts, Durability, Settings};
use hornbook::api::corpus::Corpus;
use hornbook::api::{Parts, Service};
use hornbook::clock::{Clock, SystemClock};
use hornbook::http::{HttpSettings, Server};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::sample::ENGINE;

/// A running server; dropped, it stops.
pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) service: Arc<Service>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _data: tempfile::TempDir,
}

/// A tariff that tests do not run into unless they want to.
pub(crate) fn generous() -> Tariff {
    let mut tariff = Tariff::CONTRACT;
    tariff.free.limits.per_minute = 100_000;
    tariff.free.limits.per_day = 1_000_000;
    tariff.free.monthly_units = 50_000;
    tariff
}

impl House {
    pub(crate) fn open(tariff: Tariff) -> Self {
        Self::open_with(tariff, &["https://app.example"])
    }

    pub(crate) fn open_with(tariff: Tariff, cross_origins: &[&str]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let settings = Settings { tariff, durability: Durability::Window, rollup_after_days: None };
        let accounts = Arc::new(Accounts::open(data.path(), settings, clock.now()).unwrap());
        let corpus = Arc::new(Corpus::new(Arc::clone(ENGINE.snapshot())).unwrap());
        let http = HttpSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            connections_max: 100,
            connections_per_address_max: 100,
            cross_origins: cross_origins.iter().map(|origin| (*origin).to_owned()).collect(),
        };
        let parts = Parts {
            corpus,
            accounts: Arc::clone(&accounts),
            clock: Arc::clone(&clock),
            base_url: "https://law.example".to_owned(),
            permits: 2,
        };
        let service = Arc::new(Service::new(parts));
        let served = Arc::clone(&service);
        let (told, tell) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let server = Server::bind(http).await.unwrap();
                told.send(server.address().unwrap()).unwrap();
                let stopped = async move { drop(stopped.await) };
                server.run(served, stopped).await;
            });
        });
        let address = tell.recv().unwrap();
        Self { address, accounts, clock, service, stop: Some(stop), thread: Some(thread), _data: data }
    }

    pub(crate) fn act(&self) -> Act {
        Act { actor: "test".to_owned(), at: self.clock.now().wall }
    }

    /// An approved account with so many credits.
    pub(crate) fn account(&self, credits: u32) -> AccountId {
        let id = self.accounts.create_account("test".to_owned(), &self.act()).unwrap().id;
        self.accounts.approve_account(id, &self.act()).unwrap();
        if credits > 0 {
            self.accounts.grant(id, Credits(credits), "for the test".to_owned(), &self.act()).unwrap();
        }
        id
    }

    pub(crate) fn key(&self, account: AccountId, scopes: &[Scope]) -> String {
        let scopes = ScopeSet::of(scopes);
        let wish = KeyWish { account, name: "test".to_owned(), kind: KeyKind::Live, scopes, expires_at: None };
        self.accounts.create_key(wish, &self.act(), &mut SystemEntropy).unwrap().secret.reveal()
    }

    /// A key of an account of its own, for everything.
    pub(crate) fn any_key(&self) -> String {
        self.key(self.account(0), &Scope::ALL)
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> Answered {
        self.get_with(path, &[("Authorization", &format!("Bearer {key}"))])
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answered {
        self.request("GET", path, headers)
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answered {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n");
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        self.raw(&format!("{text}\r\n"))
    }

    /// Sends these bytes and reads until the server closes.
    pub(crate) fn raw(&self, text: &str) -> Answered {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answered::read(&bytes)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers: HashMap<String, String> = HashMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let place = headers.entry(name.to_ascii_lowercase()).or_default();
            if !place.is_empty() {
                place.push_str(", ");
            }
            place.push_str(value);
        }
        Self { status, headers, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.header(name).parse().unwrap_or_else(|_| panic!("{name} is '{}': {self:?}", self.header(name)))
    }

    /// The Error object with this code, checked to be one.
    pub(crate) fn error(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["error"].as_str()), (status, Some(code)), "{body:#}");
        assert!(body["message"].as_str().is_some_and(|message| message.len() > 20), "{body:#}");
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(body.get("upgradeUrl").is_some(), status == 402, "{body:#}");
        assert_eq!(body.get("retryAfterSec").is_some(), matches!(status, 429 | 503), "{body:#}");
        body
    }
}
