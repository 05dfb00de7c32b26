//! Agents that people let in: the whole flow over real connections, each refusal, and what strangers can achieve.

use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook::mcp::{Mcp, McpMount, McpSettings};
use hornbook::oauth::{AUTHORIZE_PATH, CROSS_ORIGIN_PATHS, SignIn, SignInEndpoints, metadata_url};
use hornbook::web::page_context::{PageContext, PageSettings};
use hornbook::web::settings::consent::ConsentPage;
use hornbook::web::settings::mount::AccountPages;
use hornbook_accounts::people::SignUpPolicy;
use hornbook_accounts::scope::Scope;
use hornbook_base::base64::Base64;
use hornbook_base::clock::{Clock, ManualClock, SystemClock};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::browser::{Browser, PASSWORD, SAME_ORIGIN_HEADERS, between};
use crate::mcp::{CURRENT_VERSION, ask, call, result, tool_result};
use crate::mcp_equals_rest::structured;
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

const CALLBACK: &str = "https://assistant.example/callback";
const METADATA: &str = "https://law.example/.well-known/oauth-protected-resource/api/mcp";
const VERIFIER: &str = "a-verifier-of-more-than-forty-three-characters";

fn mounts(service: &Arc<Service>) -> Mounts {
    let sign_in = SignIn::open(Arc::clone(service)).unwrap();
    let mcp = Arc::new(Mcp::new(Arc::clone(service)));
    let sign_in_metadata = sign_in.as_ref().map(|_| metadata_url(service.base_url()));
    let settings = PageSettings { sign_up: SignUpPolicy::Approval, ..PageSettings::default() };
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings));
    let mut mounts: Mounts = vec![
        Arc::new(McpMount::new(mcp, &McpSettings { sign_in_metadata, ..McpSettings::default() })),
        Arc::new(AccountPages::new(Arc::clone(&shell))),
    ];
    if let Some(sign_in) = sign_in {
        mounts.push(Arc::new(ConsentPage::new(shell, Arc::clone(&sign_in))));
        mounts.push(Arc::new(SignInEndpoints::new(sign_in)));
    }
    mounts
}

/// A service at whose `/api/mcp` nothing is answered without a key.
fn closed(service: &Arc<Service>) -> Mounts {
    let sign_in_metadata = Some(metadata_url(service.base_url()));
    let settings = McpSettings { sign_in_metadata, needs_key: true, ..McpSettings::default() };
    vec![Arc::new(McpMount::new(Arc::new(Mcp::new(Arc::clone(service))), &settings))]
}

fn open() -> TestServer {
    open_at(Arc::new(SystemClock::start()))
}

fn open_at(clock: Arc<dyn Clock>) -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts, clock, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    )
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn query(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

fn post(server: &TestServer, path: &str, media_type: &str, body: &str, headers: &str) -> TestResponse {
    let length = body.len();
    server.send_raw(&format!(
        "POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nContent-Type: {media_type}\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    ))
}

fn post_form(server: &TestServer, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    post(server, path, "application/x-www-form-urlencoded", &query(fields), "")
}

fn register(server: &TestServer, body: &Value) -> TestResponse {
    post(server, "/oauth/register", "application/json", &body.to_string(), "")
}

/// An assistant that is registered.
struct Agent<'h> {
    server: &'h TestServer,
    id: String,
}

impl<'h> Agent<'h> {
    fn new(server: &'h TestServer) -> Self {
        Self::named(server, "Assistant")
    }

    fn named(server: &'h TestServer, name: &str) -> Self {
        let wish = json!({ "client_name": name, "redirect_uris": [CALLBACK, "http://127.0.0.1/callback"] });
        let registered = register(server, &wish);
        assert_eq!(registered.status, 201, "{}", registered.text());
        Self { server, id: registered.json()["client_id"].as_str().unwrap().to_owned() }
    }

    /// The page for the person, with some parameters changed.
    fn page(&self, change: &[(&str, &str)]) -> String {
        let challenge = Base64::Url.encode(&Sha256::digest(VERIFIER));
        let mut fields = vec![
            ("client_id", self.id.as_str()),
            ("redirect_uri", CALLBACK),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "of the assistant"),
            ("resource", "https://law.example/api/mcp"),
        ];
        fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
        fields.extend(change);
        format!("/oauth/authorize?{}", query(&fields))
    }

    /// The code after the person clicked Allow.
    fn code(&self, browser: &mut Browser<'_>, terms: &[(&str, &str)]) -> String {
        let page = self.page(&[]);
        let asked = browser.get(&page);
        assert_eq!(asked.status, 200, "{}", asked.text());
        let fields = [terms, &[("decision", "allow")]].concat();
        let allowed = browser.post(&page, &fields);
        code_of(&allowed)
    }

    fn redeem(&self, code: &str) -> TestResponse {
        self.redeem_with(code, &[])
    }

    fn redeem_with(&self, code: &str, change: &[(&str, &str)]) -> TestResponse {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", self.id.as_str()),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
            ("resource", "https://law.example/api/mcp"),
        ];
        fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
        fields.extend(change);
        post_form(self.server, "/oauth/token", &fields)
    }

    fn refresh(&self, token: &str) -> TestResponse {
        let fields = [("grant_type", "refresh_token"), ("client_id", self.id.as_str()), ("refresh_token", token)];
        post_form(self.server, "/oauth/token", &fields)
    }

    /// Access token and refresh token, after the person clicked Allow.
    fn let_in(&self, browser: &mut Browser<'_>, terms: &[(&str, &str)]) -> (String, String) {
        let code = self.code(browser, terms);
        tokens(&self.redeem(&code))
    }
}

/// All scopes, as a browser sends them.
const ALL: &[(&str, &str)] = &[("scopes", "search"), ("scopes", "node"), ("scopes", "browse"), ("scopes", "gis")];

/// Where the page leads.
fn left_for(page: &TestResponse) -> String {
    let text = page.text();
    let address = between(&text, "http-equiv=\"refresh\" content=\"0;url=", "\"").unwrap_or_else(|| panic!("{text}"));
    address.replace("&amp;", "&")
}

fn code_of(allowed: &TestResponse) -> String {
    assert_eq!(allowed.status, 200, "{}", allowed.text());
    between(&left_for(allowed), "code=", "&").unwrap().to_owned()
}

fn tokens(answered: &TestResponse) -> (String, String) {
    assert_eq!(answered.status, 200, "{}", answered.text());
    let text = |name: &str| answered.json()[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

fn expect_error(answered: &TestResponse, status: u16, code: &str) {
    let body = answered.json();
    assert_eq!((answered.status, body["error"].as_str()), (status, Some(code)), "{body:#}");
    assert!(body["error_description"].as_str().is_some_and(|text| text.len() > 15), "{body:#}");
    assert_eq!(answered.header("cache-control"), "no-store");
}

/// Whether a tool answers an agent with this token; if not, it is a 401.
fn works(server: &TestServer, access: &str) -> bool {
    let answered = call(server, "law.list_coverage", json!({}), Some(access));
    assert!(matches!(answered.status, 200 | 401), "{}", answered.text());
    answered.status == 200
}

#[test]
fn a_person_lets_an_agent_in_and_sends_it_away() {
    let server = open();
    // An agent is refused, and finds its way by what the refusal names.
    let refused = call(&server, "law.search", json!({ "q": "deposit" }), None);
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, &*format!("Bearer resource_metadata=\"{METADATA}\""))
    );
    let path = METADATA.strip_prefix("https://law.example").unwrap();
    let resource = server.get_with(path, &[]).json();
    assert_eq!(resource, server.get_with("/.well-known/oauth-protected-resource", &[]).json());
    assert_eq!(
        (&resource["resource"], &resource["authorization_servers"]),
        (&json!("https://law.example/api/mcp"), &json!(["https://law.example"]))
    );
    assert_eq!(resource["scopes_supported"], json!(["search", "node", "browse", "gis", "formation"]));
    let metadata = server.get_with("/.well-known/oauth-authorization-server", &[]).json();
    for (name, value) in [
        ("issuer", json!("https://law.example")),
        ("authorization_endpoint", json!("https://law.example/oauth/authorize")),
        ("token_endpoint", json!("https://law.example/oauth/token")),
        ("registration_endpoint", json!("https://law.example/oauth/register")),
        ("revocation_endpoint", json!("https://law.example/oauth/revoke")),
        ("response_types_supported", json!(["code"])),
        ("grant_types_supported", json!(["authorization_code", "refresh_token"])),
        ("code_challenge_methods_supported", json!(["S256"])),
        ("token_endpoint_auth_methods_supported", json!(["none"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
    ] {
        assert_eq!(metadata[name], value, "{name}");
    }
    assert!(metadata.get("client_id_metadata_document_supported").is_none(), "it would need a network");

    // The person signs in on the way, and is asked.
    let agent = Agent::new(&server);
    drop(Browser::approved(&server, "jane"));
    let mut browser = Browser::new(&server);
    let page = agent.page(&[("scope", "search node")]);
    let sign_in = browser.get(&page);
    assert_eq!(sign_in.status, 303, "{}", sign_in.text());
    let form = browser.get(sign_in.header("location")).text();
    let back = between(&form, "name=\"return\" value=\"", "\"").unwrap().replace("&amp;", "&");
    let signed_in = browser.post("/settings/sign-in", &[("login", "jane"), ("password", PASSWORD), ("return", &back)]);
    let arrived = browser.get(signed_in.header("location"));
    assert_eq!((arrived.status, arrived.header("location")), (303, page.as_str()));
    let question = browser.get(&page).text();
    for shown in ["calls itself <strong>Assistant</strong>", "<strong>assistant.example</strong>", "value=\"90\""] {
        assert!(question.contains(shown), "{shown}: {question}");
    }
    assert_eq!(question.matches("name=\"scopes\"").count(), 2, "only what the agent asks for: {question}");
    let terms = [
        ("scopes", "search"),
        ("scopes", "node"),
        ("budget", "20"),
        ("daily_budget", "2"),
        ("days", "30"),
        ("decision", "allow"),
    ];
    let allowed = browser.post(&page, &terms);
    assert_eq!((allowed.header("cache-control"), allowed.header("referrer-policy")), ("no-store", "same-origin"));
    let address = left_for(&allowed);
    assert!(address.starts_with("https://assistant.example/callback?code="), "{address}");
    assert!(address.ends_with("&state=of%20the%20assistant&iss=https%3A%2F%2Flaw.example"), "{address}");

    // The agent gets its tokens and works on its leash.
    let code = code_of(&allowed);
    let answered = agent.redeem(&code);
    let (access, refresh) = tokens(&answered);
    let body = answered.json();
    assert_eq!(
        (&body["token_type"], &body["expires_in"], &body["scope"]),
        (&json!("Bearer"), &json!(3600), &json!("search node"))
    );
    assert_eq!(answered.header("cache-control"), "no-store");
    tool_result(&server, "law.search", json!({ "q": "deposit" }), &access);
    let other_scope = call(
        &server,
        "law.zoning_at",
        json!({ "shortCode": "XA-PORT-ARDEN", "lat": 44.054, "lon": -124.217 }),
        Some(&access),
    );
    assert_eq!(structured(&other_scope)["error"], "insufficient_scope");
    tool_result(&server, "law.search", json!({ "q": "deposit" }), &access);
    let beyond = call(&server, "law.search", json!({ "q": "deposit" }), Some(&access));
    assert_eq!(structured(&beyond)["error"], "budget_exceeded");
    let shown = browser.get("/settings").text();
    for part in [
        "Connected agents",
        "<strong>Assistant</strong> at assistant.example",
        "For search, node",
        "Budget: 20 credits in all, 2 credits a day. Spent: 2 in all",
        "Disconnect",
        "You have no key yet.",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("hb_auth") && !shown.contains(">Replace<"), "{shown}");

    // It refreshes, its budget goes on, and the person changes that and ends it.
    let (second, next) = tokens(&agent.refresh(&refresh));
    assert!(!works(&server, &access));
    let beyond = call(&server, "law.search", json!({ "q": "deposit" }), Some(&second));
    assert_eq!(structured(&beyond)["error"], "budget_exceeded");
    let id = between(&shown, "name=\"key\" value=\"", "\"").unwrap().to_owned();
    let raised = browser.post("/settings/keys/budget", &[("key", &id), ("budget", "20")]);
    assert_eq!((raised.status, raised.header("location")), (303, "/settings#agents"));
    assert!(works(&server, &second));
    browser.get("/settings");
    assert_eq!(browser.post("/settings/keys/rotate", &[("key", &id)]).status, 422);
    browser.get("/settings");
    assert_eq!(browser.post("/settings/keys/revoke", &[("key", &id)]).header("location"), "/settings#agents");
    assert!(!works(&server, &second));
    expect_error(&agent.refresh(&next), 400, "invalid_grant");
    assert!(!browser.get("/settings").text().contains("Connected agents"));
    let log = server.log();
    for secret in [&code, &access, &refresh, &second, &next, &agent.id] {
        assert!(!log.contains(secret.as_str()), "a secret is in the log");
    }
    server.accounts.verify_ledger().unwrap();
}

/// Some clients sign in only if their first message is refused.
#[test]
fn where_sign_in_is_required_the_first_message_is_refused() {
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: closed, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    );
    let key = server.create_full_key();
    let sent = |method: &str, headers: &str| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" },
        } });
        post(&server, "/api/mcp", "application/json", &message.to_string(), headers)
    };
    for method in ["initialize", "tools/list", "ping"] {
        let refused = sent(method, "");
        assert_eq!(refused.status, 401, "{method}: {}", refused.text());
        assert_eq!(refused.header("www-authenticate"), format!("Bearer resource_metadata=\"{METADATA}\""));
    }
    let let_in = sent("initialize", &format!("Authorization: Bearer {key}\r\n"));
    assert_eq!(let_in.status, 200, "{}", let_in.text());
}

#[test]
fn a_token_works_only_for_agents_and_an_api_key_everywhere() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let (access, _) = Agent::new(&server).let_in(&mut browser, ALL);
    assert!(works(&server, &access));
    let refused = server.get("/api/v1/me", &access).expect_error(401, "invalid_api_key");
    assert!(refused["message"].as_str().unwrap().contains("works only at /api/mcp"), "{refused}");
    for path in ["/api/v1/search?q=a", "/api/v1/keys", "/api/v1/coverage"] {
        server.get(path, &access).expect_error(401, "invalid_api_key");
    }
    let body = r#"{"name":"below"}"#;
    let created =
        post(&server, "/api/v1/keys", "application/json", body, &format!("Authorization: Bearer {access}\r\n"));
    created.expect_error(401, "invalid_api_key");
    let key = server.create_key(browser.account(), &Scope::ALL);
    assert!(works(&server, &key));
    assert_eq!(server.get("/api/v1/me", &key).status, 200);
    // What is refused says how to get in.
    let bad = call(&server, "law.list_coverage", json!({}), Some(&format!("{access}x")));
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{METADATA}\"");
    assert_eq!((bad.status, bad.header("www-authenticate")), (401, challenge.as_str()));
    // Handshakes and lists need no key, as before.
    result(&ask(&server, CURRENT_VERSION, "tools/list", json!({}), None));
}

#[test]
fn a_code_is_exchanged_only_as_it_was_asked_for() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let (agent, other) = (Agent::new(&server), Agent::named(&server, "Other"));
    let long = "a".repeat(129);
    for (change, status, code) in [
        (("code_verifier", "another-verifier-of-more-than-forty-three-chars"), 400, "invalid_grant"),
        (("code_verifier", "short"), 400, "invalid_grant"),
        (("code_verifier", &*long), 400, "invalid_grant"),
        (("code_verifier", ""), 400, "invalid_request"),
        (("client_id", &*other.id), 400, "invalid_grant"),
        (("client_id", "made.up"), 401, "invalid_client"),
        (("client_id", ""), 400, "invalid_request"),
        (("redirect_uri", "https://assistant.example/callback/"), 400, "invalid_grant"),
        (("redirect_uri", "http://127.0.0.1/callback"), 400, "invalid_grant"),
        (("resource", "https://law.example/api/v1"), 400, "invalid_target"),
        (("resource", "https://other.example/api/mcp"), 400, "invalid_target"),
        (("grant_type", "password"), 400, "unsupported_grant_type"),
        (("grant_type", "client_credentials"), 400, "unsupported_grant_type"),
        (("grant_type", ""), 400, "invalid_request"),
        (("scope", "everything"), 400, "invalid_scope"),
        (("code", "a"), 400, "invalid_grant"),
        (("code", &"a".repeat(32)), 400, "invalid_grant"),
    ] {
        let valid = agent.code(&mut browser, ALL);
        expect_error(&agent.redeem_with(&valid, &[change]), status, code);
        // A code that was presented is used up, right or wrong; one that was not still works.
        let presented = code == "invalid_grant" && change.0 != "code";
        assert_eq!(agent.redeem(&valid).status == 200, !presented, "{change:?}");
    }
    let twice = query(&[("grant_type", "authorization_code"), ("client_id", &agent.id), ("client_id", &agent.id)]);
    expect_error(
        &post(&server, "/oauth/token", "application/x-www-form-urlencoded", &twice, ""),
        400,
        "invalid_request",
    );
    expect_error(&post(&server, "/oauth/token", "application/json", "{}", ""), 400, "invalid_request");
    assert_eq!(server.get_with("/oauth/token", &[]).status, 405);
    // OAuth 2.1 leaves the address out.
    let valid = agent.code(&mut browser, ALL);
    assert_eq!(agent.redeem_with(&valid, &[("redirect_uri", "")]).status, 200);
}

#[test]
fn a_code_lasts_a_minute_and_an_access_token_an_hour() {
    let clock = Arc::new(ManualClock::at(SystemClock::start().now().wall));
    let server = open_at(Arc::clone(&clock) as Arc<dyn Clock>);
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::new(&server);
    let late = agent.code(&mut browser, ALL);
    clock.advance_millis(60_000);
    expect_error(&agent.redeem(&late), 400, "invalid_grant");
    let in_time = agent.code(&mut browser, &[ALL, &[("days", "1")]].concat());
    clock.advance_millis(59_999);
    let (access, refresh) = tokens(&agent.redeem(&in_time));
    clock.advance_millis(3_599_999);
    assert!(works(&server, &access));
    clock.advance_millis(1);
    assert!(!works(&server, &access));
    let (second, next) = tokens(&agent.refresh(&refresh));
    assert!(works(&server, &second));
    // The grant ends after a day, and its last access token with it.
    clock.advance_millis(22 * 3_600_000 + 1_800_000);
    let last = agent.refresh(&next);
    assert!(last.json()["expires_in"].as_u64().unwrap() < 1_801, "{}", last.text());
    clock.advance_millis(1_800_000);
    assert!(!works(&server, &tokens(&last).0));
    expect_error(&agent.refresh(&tokens(&last).1), 400, "invalid_grant");
}

#[test]
fn a_code_or_refresh_token_that_is_used_twice_ends_the_grant() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::new(&server);
    let code = agent.code(&mut browser, ALL);
    let (access, refresh) = tokens(&agent.redeem(&code));
    assert!(works(&server, &access));
    expect_error(&agent.redeem(&code), 400, "invalid_grant");
    assert!(!works(&server, &access));
    expect_error(&agent.refresh(&refresh), 400, "invalid_grant");

    let (first, refresh) = agent.let_in(&mut browser, ALL);
    expect_error(&Agent::named(&server, "Other").refresh(&refresh), 400, "invalid_grant");
    assert!(works(&server, &first), "another client cannot end it");
    let (second, next) = tokens(&agent.refresh(&refresh));
    expect_error(&agent.refresh(&refresh), 400, "invalid_grant");
    assert!(!works(&server, &second));
    expect_error(&agent.refresh(&next), 400, "invalid_grant");
    let acts: Vec<String> =
        server.accounts.acts(50).unwrap().into_iter().map(|act| format!("{} {}", act.act, act.on)).collect();
    assert!(acts.iter().any(|act| act.starts_with("agent revoke") && act.contains("was used again")), "{acts:?}");
}

/// Of many programs that present the same code at once, at most one gets tokens, and they do not stay.
#[test]
fn a_code_presented_by_many_at_once_leaves_no_access() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::new(&server);
    for _ in 0..5 {
        let code = agent.code(&mut browser, ALL);
        let answers: Vec<TestResponse> = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..4).map(|_| scope.spawn(|| agent.redeem(&code))).collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        let issued: Vec<&TestResponse> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert!(issued.len() <= 1);
        issued.iter().for_each(|answer| assert!(!works(&server, &tokens(answer).0)));
        let keys = server.accounts.keys(Some(browser.account()));
        assert!(keys.iter().all(|key| key.record.grant.is_none() || key.record.revoked_at.is_some()));
    }
}

#[test]
fn either_token_ends_its_grant_and_nothing_else() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::new(&server);
    let key = server.create_key(browser.account(), &Scope::ALL);
    let revoke =
        |token: &str| post_form(&server, "/oauth/revoke", &[("token", token), ("client_id", &agent.id)]).status;
    let (kept, _) = agent.let_in(&mut browser, ALL);
    for place in 0..2 {
        let (access, refresh) = agent.let_in(&mut browser, ALL);
        let token = if place == 0 { &access } else { &refresh };
        assert_eq!(revoke(token), 200);
        assert!(!works(&server, &access));
        expect_error(&agent.refresh(&refresh), 400, "invalid_grant");
        assert_eq!(revoke(token), 200, "again");
    }
    for unknown in ["x", &key, "hb_refr_1_x", &format!("hb_refr_2_{}", "a".repeat(64))] {
        assert_eq!(revoke(unknown), 200, "{unknown}");
    }
    expect_error(&post_form(&server, "/oauth/revoke", &[("client_id", &agent.id)]), 400, "invalid_request");
    assert!(works(&server, &kept) && works(&server, &key));
    server.accounts.disable_account(browser.account(), &server.test_act()).unwrap();
    assert!(!works(&server, &kept));
}

#[test]
fn only_an_approved_person_who_clicks_lets_an_agent_in() {
    let server = open();
    let agent = Agent::new(&server);
    let (page, grants) =
        (agent.page(&[]), || server.accounts.keys(None).iter().filter(|key| key.record.grant.is_some()).count());
    let fields = [ALL, &[("decision", "allow")]].concat();
    let mut waiting = Browser::signed_up(&server, "john");
    for answered in [waiting.get(&page), waiting.post(&page, &fields)] {
        assert_eq!(answered.status, 422, "{}", answered.text());
        assert!(answered.text().contains("waits for approval"));
    }
    let mut stranger = Browser::new(&server);
    stranger.get("/settings/sign-in");
    assert_eq!(stranger.post(&page, &fields).header("location"), "/settings/sign-in");

    let mut browser = Browser::approved(&server, "jane");
    browser.get(&page);
    for headers in
        [&[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://assistant.example")][..], &[], &[("Origin", "null")]]
    {
        assert_eq!(browser.post_as(&page, &fields, headers).status, 403);
    }
    let own = std::mem::replace(&mut browser.token, "0".repeat(64));
    assert_eq!(browser.post_as(&page, &fields, SAME_ORIGIN_HEADERS).status, 403);
    browser.token = own;
    let denied = left_for(&browser.post(&page, &[ALL, &[("decision", "deny")]].concat()));
    assert_eq!(
        denied,
        format!("{CALLBACK}?error=access_denied&state=of%20the%20assistant&iss=https%3A%2F%2Flaw.example")
    );
    for (fields, why) in [
        (vec![("decision", "allow")], "choose what the agent"),
        (vec![("decision", "allow"), ("scopes", "everything")], "not a scope"),
        (vec![("decision", "allow"), ("scopes", "node"), ("days", "0")], "1 to 65535 days"),
        (vec![("decision", "allow"), ("scopes", "node"), ("budget", "-1")], "whole number"),
    ] {
        let refused = browser.post(&page, &fields);
        let text = refused.text().to_lowercase();
        assert!(refused.status == 422 && text.contains(&why.to_lowercase()), "{fields:?}: {text}");
    }
    let narrow = agent.page(&[("scope", "node")]);
    let wider = browser.post(&narrow, &[("decision", "allow"), ("scopes", "node"), ("scopes", "gis")]);
    assert!(wider.status == 422 && wider.text().contains("did not ask for that"), "{}", wider.text());
    assert_eq!(grants(), 0);
}

/// Anybody can register a client. So no request, right or wrong, makes the server lead a browser elsewhere unasked.
#[test]
fn nobody_is_led_to_another_site_without_an_answer() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::new(&server);
    for (change, links_back) in [
        (("redirect_uri", "https://evil.example/"), false),
        (("redirect_uri", "https://assistant.example/callback/../evil"), false),
        (("redirect_uri", "https://assistant.example.evil.example/callback"), false),
        (("redirect_uri", "javascript:/alert(1)"), false),
        (("redirect_uri", ""), false),
        (("client_id", "e30.e30"), false),
        (("client_id", ""), false),
        (("response_type", "token"), true),
        (("code_challenge_method", "plain"), true),
        (("code_challenge_method", ""), true),
        (("code_challenge", ""), true),
        (("scope", "everything"), true),
        (("resource", "https://evil.example/api/mcp"), true),
    ] {
        let page = agent.page(&[change]);
        for mut reader in [Browser::new(&server), Browser::new(&server)] {
            reader.cookies.clone_from(&browser.cookies);
            let answered = reader.get(&page);
            let text = answered.text();
            assert_eq!((answered.status, answered.header("location")), (400, ""), "{change:?}: {text}");
            assert!(!text.contains("http-equiv"), "{change:?}: {text}");
            assert!(!text.contains("evil.example") && !text.contains("javascript:"), "{change:?}: {text}");
            assert_eq!(text.contains(&format!("href=\"{CALLBACK}?error=")), links_back, "{change:?}: {text}");
            browser.cookies.clone_from(&reader.cookies);
        }
        assert_eq!(Browser::new(&server).get(&page).status, 400, "strangers get the same answer");
    }
    // A program on the device may use any port.
    let here = agent.page(&[("redirect_uri", "http://127.0.0.1:49152/callback")]);
    assert!(browser.get(&here).text().contains("a program on this device"));
    let allowed = browser.post(&here, &[("decision", "allow"), ("scopes", "node")]);
    assert!(left_for(&allowed).starts_with("http://127.0.0.1:49152/callback?code="));
    // A browser does not send the session with a link of another site. The page asks once more, from here.
    let page = agent.page(&[]);
    for site in ["cross-site", "same-site"] {
        let bounced = server.get_with(&page, &[("Sec-Fetch-Site", site)]);
        assert_eq!((bounced.status, left_for(&bounced)), (200, page.clone()));
    }
    for site in ["same-origin", "none"] {
        let asked = server.get_with(&page, &[("Sec-Fetch-Site", site)]);
        assert!(
            asked.header("location").starts_with("/settings/sign-in?return=%2Foauth%2Fauthorize"),
            "{}",
            asked.text()
        );
    }
}

#[test]
fn names_of_strangers_are_shown_as_text() {
    let server = open();
    let mut browser = Browser::approved(&server, "jane");
    let agent = Agent::named(&server, "</strong><script>alert(1)</script>\"'&");
    let page = agent.page(&[("state", "\"><script>alert(2)</script>")]);
    let asked = browser.get(&page).text();
    let allowed = browser.post(&page, &[ALL, &[("decision", "allow")]].concat());
    agent.redeem(&code_of(&allowed));
    for text in [asked, allowed.text(), browser.get("/settings").text()] {
        assert!(!text.contains("<script>") && text.contains("&lt;script&gt;alert(1)"), "{text}");
    }
    for name in ["a\u{202e}b", "a\u{200b}b", "a\u{1b}[2J"] {
        let refused = register(&server, &json!({ "client_name": name, "redirect_uris": [CALLBACK] }));
        expect_error(&refused, 400, "invalid_client_metadata");
    }
}

#[test]
fn registration_stores_nothing_and_gives_no_secrets() {
    let server = open();
    let before = server.accounts.acts(1000).unwrap().len();
    let wish = json!({ "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_basic", "client_name": "A",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "logo_uri": "https://a.example/x" });
    let registered = register(&server, &wish);
    let body = registered.json();
    assert_eq!((registered.status, registered.header("cache-control")), (201, "no-store"));
    assert_eq!((&body["token_endpoint_auth_method"], body.get("client_secret")), (&json!("none"), None));
    assert_eq!((&body["redirect_uris"], &body["client_name"]), (&json!([CALLBACK]), &json!("A")));
    assert_eq!(
        body["client_id"],
        register(&server, &wish).json()["client_id"],
        "the same registration has the same id"
    );
    for (wish, code) in [
        (json!({ "redirect_uris": ["http://evil.example/"] }), "invalid_redirect_uri"),
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": "x" }), "invalid_client_metadata"),
    ] {
        expect_error(&register(&server, &wish), 400, code);
    }
    expect_error(&post(&server, "/oauth/register", "application/json", "not json", ""), 400, "invalid_client_metadata");
    assert_eq!(server.accounts.acts(1000).unwrap().len(), before);
}

/// Over plain http, tokens and codes would cross the network unencrypted.
#[test]
fn over_plain_http_nobody_is_let_in() {
    let server = TestServer::start_with_options(
        TestServerOptions {
            mounts,
            base_url: "http://law.example",
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| (),
    );
    for path in CROSS_ORIGIN_PATHS.into_iter().chain([AUTHORIZE_PATH]) {
        assert_eq!(server.get_with(path, &[]).status, 404, "{path}");
        assert_eq!(post_form(&server, path, &[]).status, 404, "{path}");
    }
    let refused = call(&server, "law.list_coverage", json!({}), None);
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"));
}

#[test]
fn pages_of_allowed_origins_may_exchange_tokens() {
    let server = open();
    let allowed = |path: &str, origin: &str| {
        let answered =
            server.request("OPTIONS", path, &[("Origin", origin), ("Access-Control-Request-Method", "POST")]);
        answered.header("access-control-allow-origin").to_owned()
    };
    for path in ["/api/mcp", "/oauth/token"] {
        assert_eq!(allowed(path, "https://agents.example"), "https://agents.example");
        assert_eq!(allowed(path, "https://evil.example"), "");
    }
    assert_eq!(allowed("/oauth/authorize", "https://agents.example"), "");
}
