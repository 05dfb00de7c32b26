//! A simple browser: forms and cookies.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::api::visitors::VisitorRates;
use hornbook::http::{Mounts, Proxies};
use hornbook::web::formation::tracking::TrackingPage;
use hornbook::web::page_context::{PageContext, PageSettings};
use hornbook::web::public_pages::PublicPages;
use hornbook::web::settings::mount::AccountPages;
use hornbook::web::zoning::map_parts::MapParts;
use hornbook_accounts::people::SignUpPolicy;

use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

pub(crate) const PASSWORD: &str = "correct horse";

/// Headers that a browser sends with a form from one of our pages.
pub(crate) const SAME_ORIGIN_HEADERS: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Origin", "https://law.example")];

pub(crate) const SESSION_COOKIE: &str = "__Host-hornbook-session";

/// The account pages, with sign-up that needs approval.
pub(crate) fn pages(service: &Arc<Service>) -> Mounts {
    pages_for(service, VisitorRates::default())
}

/// The same with these limits for people without an account.
pub(crate) fn pages_for(service: &Arc<Service>, visitors: VisitorRates) -> Mounts {
    let settings = PageSettings { visitors, sign_up: SignUpPolicy::Approval, ..PageSettings::default() };
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings));
    vec![
        Arc::new(AccountPages::new(Arc::clone(&shell))),
        Arc::new(TrackingPage::new(Arc::clone(&shell))),
        Arc::new(MapParts::new(Arc::clone(&shell))),
        Arc::new(PublicPages::new(shell)),
    ]
}

pub(crate) fn start_with_account_pages() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts: pages, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    )
}

/// The same behind a proxy that forwards client addresses.
pub(crate) fn start_with_account_pages_behind_proxy() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts: pages, ..TestServerOptions::default_for(generous_tariff()) },
        |http| {
            http.proxies = Proxies { networks: vec!["127.0.0.0/8".parse().unwrap()], uses_proxy_protocol: false };
        },
    )
}

pub(crate) struct Browser<'h> {
    server: &'h TestServer,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The form token of the last page.
    pub(crate) token: String,
    /// The client address that the trusted proxy forwards.
    address: Option<&'static str>,
}

impl<'h> Browser<'h> {
    pub(crate) fn new(server: &'h TestServer) -> Self {
        Self { server, cookies: BTreeMap::new(), token: String::new(), address: None }
    }

    /// A browser with this address, as forwarded by a trusted proxy.
    pub(crate) fn with_address(server: &'h TestServer, address: &'static str) -> Self {
        Self { address: Some(address), ..Self::new(server) }
    }

    /// Signed in with a new account that waits for approval.
    pub(crate) fn signed_up(server: &'h TestServer, login: &str) -> Self {
        let mut browser = Self::new(server);
        browser.get("/settings/sign-up");
        let answered = browser.post("/settings/sign-up", &[("login", login), ("password", PASSWORD)]);
        assert_eq!(answered.status, 303, "{}", answered.text());
        browser.get("/settings");
        browser
    }

    /// Signed in with a new approved account.
    pub(crate) fn approved(server: &'h TestServer, login: &str) -> Self {
        let browser = Self::signed_up(server, login);
        server.accounts.approve_account(browser.account(), &server.test_act()).unwrap();
        browser
    }

    pub(crate) fn account(&self) -> hornbook_accounts::ids::AccountId {
        let token = hornbook_accounts::key::LinkToken::parse(&self.cookies[SESSION_COOKIE]).unwrap();
        self.server.accounts.session(&token, self.server.clock.now()).unwrap().account
    }

    pub(crate) fn sign_in(&mut self, login: &str, password: &str) -> TestResponse {
        self.get("/settings/sign-in");
        self.post("/settings/sign-in", &[("login", login), ("password", password)])
    }

    pub(crate) fn get(&mut self, path: &str) -> TestResponse {
        let answered = self.server.send_raw(&self.head("GET", path, &[], None));
        self.store_cookies(answered)
    }

    /// Sends a form of the last page.
    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.post_as(path, fields, SAME_ORIGIN_HEADERS)
    }

    pub(crate) fn post_as(&mut self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> TestResponse {
        let token = self.token.clone();
        let mut fields = fields.to_vec();
        fields.push(("token", &token));
        let body = encoded(&fields);
        let answered = self.server.send_raw(&self.head("POST", path, headers, Some(&body)));
        self.store_cookies(answered)
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n");
        if !self.cookies.is_empty() {
            let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let _ = write!(text, "Cookie: {}\r\n", cookies.join("; "));
        }
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        if let Some(address) = self.address {
            let _ = write!(text, "X-Forwarded-For: {address}\r\n");
        }
        if let Some(body) = body {
            let length = body.len();
            let _ = write!(text, "Content-Length: {length}\r\n");
            if headers.iter().all(|(name, _)| *name != "Content-Type") {
                text += "Content-Type: application/x-www-form-urlencoded\r\n";
            }
        }
        text + "\r\n" + body.unwrap_or_default()
    }

    fn store_cookies(&mut self, answered: TestResponse) -> TestResponse {
        for cookie in answered.header("set-cookie").split(", ").filter(|cookie| !cookie.is_empty()) {
            for attribute in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
                assert!(cookie.contains(attribute), "{cookie}");
            }
            assert!(!cookie.contains("Domain"), "{cookie}");
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => drop(self.cookies.remove(name)),
                value => drop(self.cookies.insert(name.to_owned(), value.to_owned())),
            }
        }
        let text = answered.text();
        if let Some(token) = between(&text, "name=\"token\" value=\"", "\"") {
            self.token = token.to_owned();
        }
        answered
    }
}

pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let one = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    fields.iter().map(|(name, value)| format!("{}={}", one(name), one(value))).collect::<Vec<_>>().join("&")
}
