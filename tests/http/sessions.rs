//! Signing in over real connections, and what other sites, cookie thieves and guessers can achieve.

use std::sync::{Arc, OnceLock};

use hornbook::api::service::Service;
use hornbook::api::visitors::VisitorRates;
use hornbook::http::{Mounts, Proxies};
use hornbook::web::page_context::{PageContext, PageSettings, PolicyPages};
use hornbook::web::public_pages::PublicPages;
use hornbook::web::settings::mount::AccountPages;
use hornbook_accounts::people::SignUpPolicy;

use crate::browser::{
    Browser, PASSWORD, SAME_ORIGIN_HEADERS, SESSION_COOKIE, between, pages, start_with_account_pages,
    start_with_account_pages_behind_proxy,
};
use crate::test_server::{TestServer, TestServerOptions, generous_tariff};

#[test]
fn a_person_signs_up_in_and_out_and_readers_get_no_cookie() {
    let server = start_with_account_pages();
    let mut reader = Browser::new(&server);
    for path in ["/", "/browse", "/settings"] {
        reader.get(path);
        assert!(reader.cookies.is_empty(), "{path}");
    }
    let mut browser = Browser::signed_up(&server, "jane@example.org");
    let page = browser.get("/settings");
    assert!(page.text().contains("Waiting for approval") && page.text().contains("jane@example.org"));
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(browser.get("/settings/sign-in").status, 303, "who is signed in has no need to");
    browser.get("/settings");
    assert_eq!(browser.post("/settings/sign-out", &[]).header("location"), "/settings/sign-in");
    assert!(!browser.cookies.contains_key(SESSION_COOKIE));
    assert_eq!(browser.get("/settings").header("location"), "/settings/sign-in");
    assert_eq!(browser.sign_in("JANE@example.org", PASSWORD).header("location"), "/settings?signed-in");
    assert_eq!(browser.get("/settings?signed-in").status, 200);
    // Without TLS a browser drops the cookie, and the person is told why.
    let mut dropping = Browser::new(&server);
    assert_eq!(dropping.get("/settings?signed-in").header("location"), "/settings/sign-in?again");
    assert!(dropping.get("/settings/sign-in?again").text().contains("did not keep the sign-in"));
}

#[test]
fn forms_of_other_sites_and_forms_without_their_token_do_nothing() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    let keys = || server.accounts.keys(Some(account)).len();
    let (before, own) = (keys(), browser.token.clone());
    let fields = &[("name", "stolen"), ("scopes", "search")];
    for foreign in [
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")][..],
        &[("Sec-Fetch-Site", "same-site"), ("Origin", "https://other.law.example")],
        &[("Sec-Fetch-Site", "none")],
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[],
    ] {
        let answered = browser.post_as("/settings/keys", fields, foreign);
        assert_eq!(answered.status, 403, "{foreign:?}");
    }
    let mut other = Browser::approved(&server, "mallory");
    other.get("/settings");
    for token in ["", "0", &"0".repeat(64), &other.token.clone()] {
        browser.token = token.to_owned();
        assert_eq!(browser.post("/settings/keys", fields).status, 403, "{token}");
    }
    // Login CSRF: a form of another site cannot sign somebody in either.
    let mut victim = Browser::new(&server);
    assert_eq!(victim.post("/settings/sign-in", &[("login", "mallory"), ("password", PASSWORD)]).status, 403);
    assert_eq!(keys(), before);
    browser.token = own;
    assert_eq!(browser.post("/settings/keys", fields).status, 200);
    assert_eq!(keys(), before + 1);
}

#[test]
fn reading_changes_nothing() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let acts = || server.accounts.acts(1000).unwrap().len();
    let before = acts();
    for path in ["/settings", "/settings/ledger", "/settings/ledger.csv", "/settings/sign-in", "/settings/sign-up"] {
        browser.get(path);
    }
    for path in ["/settings/sign-out", "/settings/keys", "/settings/keys/revoke", "/settings/delete", "/settings/packs"]
    {
        assert_eq!(browser.get(path).status, 405, "{path}");
    }
    assert_eq!(acts(), before);
    assert_eq!(browser.get("/settings").status, 200, "still signed in");
}

#[test]
fn planted_session_cookies_are_refused() {
    let server = start_with_account_pages();
    Browser::signed_up(&server, "jane");
    let planted = "A".repeat(32);
    let mut victim = Browser::new(&server);
    victim.cookies.insert(SESSION_COOKIE.to_owned(), planted.clone());
    victim.sign_in("jane", PASSWORD);
    let given = victim.cookies[SESSION_COOKIE].clone();
    assert_ne!(given, planted);
    let mut thief = Browser::new(&server);
    thief.cookies.insert(SESSION_COOKIE.to_owned(), planted);
    assert_eq!(thief.get("/settings").status, 303);
    // Signing in again creates a new session and ends the previous one.
    victim.get("/settings");
    victim.post("/settings/sign-in", &[("login", "jane"), ("password", PASSWORD)]);
    assert_ne!(victim.cookies[SESSION_COOKIE], given);
    thief.cookies.insert(SESSION_COOKIE.to_owned(), given);
    assert_eq!(thief.get("/settings").status, 303);
    assert_eq!(victim.get("/settings").status, 200);
}

#[test]
fn responses_do_not_reveal_which_accounts_exist() {
    let server = start_with_account_pages();
    Browser::signed_up(&server, "jane");
    let asked = |login: &str, password: &str| {
        let mut browser = Browser::new(&server);
        browser.get("/settings/sign-in");
        let before = server.accounts.passwords_checked();
        let answered = browser.post("/settings/sign-in", &[("login", login), ("password", password)]);
        let work = server.accounts.passwords_checked() - before;
        let text = answered.text().replace(&browser.token, "TOKEN");
        assert!(!text.contains("jane"), "{text}");
        (answered.status, text, work)
    };
    let wrong_password = asked("jane", "not hers at all");
    assert_eq!((wrong_password.0, wrong_password.2), (422, 1));
    for nobody in ["john", "jane@example.org", "no name", ""] {
        assert_eq!(asked(nobody, "not hers at all"), wrong_password, "{nobody}");
    }
    // A link that never existed is answered like a used one.
    let mut browser = Browser::new(&server);
    let made = server.accounts.create_account("Jo".to_owned(), &server.test_act()).unwrap().id;
    let mut entropy = hornbook_accounts::entropy::SystemEntropy;
    let role = hornbook_accounts::people::PersonRole::Customer;
    let link = server.accounts.make_link(made, role, &server.test_act(), &mut entropy).unwrap().reveal();
    let path = format!("/settings/link/{link}");
    assert_eq!(browser.get(&path).status, 200);
    assert_eq!(browser.get(&path).status, 200, "looking uses nothing up");
    assert_eq!(browser.post(&path, &[("login", "jody"), ("password", PASSWORD)]).status, 303);
    let gone = Browser::new(&server).get(&path);
    let never = Browser::new(&server).get(&format!("/settings/link/{}", "A".repeat(32)));
    assert_eq!((gone.status, never.status), (404, 404));
    let plain = |answered: &crate::test_server::TestResponse| {
        let text = answered.text();
        between(&text, "<main", "</main>").unwrap().to_owned()
    };
    assert_eq!(plain(&gone), plain(&never));
    assert!(!server.log().contains(&link), "a link is a secret, also in the log");
}

#[test]
fn guesses_are_limited_by_name_and_by_address() {
    let server = start_with_account_pages();
    Browser::signed_up(&server, "jane");
    let mut statuses = Vec::new();
    let mut browser = Browser::new(&server);
    browser.get("/settings/sign-in");
    for guess in 0..8 {
        let password = format!("guess number {guess}");
        statuses.push(browser.post("/settings/sign-in", &[("login", "jane"), ("password", &password)]).status);
    }
    assert!(statuses.starts_with(&[422, 422]) && statuses.ends_with(&[429]), "{statuses:?}");
    let refused = browser.post("/settings/sign-in", &[("login", "jane"), ("password", PASSWORD)]);
    assert_eq!(refused.status, 429, "also the right one");
    assert!(refused.header_number("retry-after") >= 1);
    // An unknown name is limited in the same way.
    let of_nobody: Vec<u16> = (0..8)
        .map(|_| browser.post("/settings/sign-in", &[("login", "john"), ("password", "guess number x")]).status)
        .collect();
    assert!(of_nobody.ends_with(&[429]), "{of_nobody:?}");
    let many: Vec<u16> = (0..20)
        .map(|name| {
            let login = format!("name{name}");
            browser.post("/settings/sign-in", &[("login", &login), ("password", "guess number x")]).status
        })
        .collect();
    assert!(many.ends_with(&[429]), "an address may not try many names: {many:?}");
}

/// An attacker who guesses passwords from another network all the time cannot keep the owner from
/// signing in from a known network, nor from changing the password.
#[test]
fn password_guesses_do_not_lock_out_the_owner() {
    let server = start_with_account_pages_behind_proxy();
    let mut owner = Browser::signed_up(&server, "jane");
    let mut at_home = Browser::with_address(&server, "2001:db8:1::5");
    assert_eq!(at_home.sign_in("jane", PASSWORD).status, 303);
    for attacker in ["203.0.113.9", "203.0.113.10"] {
        let mut attacker = Browser::with_address(&server, attacker);
        let guesses: Vec<u16> = (0..8).map(|_| attacker.sign_in("jane", "guess number x").status).collect();
        assert!(guesses.ends_with(&[429]), "{guesses:?}");
    }
    let mut elsewhere = Browser::with_address(&server, "198.51.100.1");
    assert_eq!(elsewhere.sign_in("jane", PASSWORD).status, 429, "from a place that is not known");
    let mut at_home = Browser::with_address(&server, "2001:db8:1::77");
    assert_eq!(at_home.sign_in("jane", PASSWORD).status, 303, "from the same network as before");
    owner.get("/settings");
    let changed = owner.post("/settings/password", &[("current", PASSWORD), ("password", "battery staple")]);
    assert_eq!(changed.status, 303, "{}", changed.text());
    // Guesses from the known network are limited too, and so are those of a signed-in person.
    let guesses: Vec<u16> = (0..8)
        .map(|_| Browser::with_address(&server, "2001:db8:1::6").sign_in("jane", "guess number x").status)
        .collect();
    assert!(guesses.ends_with(&[429]), "{guesses:?}");
    owner.get("/settings");
    let guesses: Vec<u16> = (0..8)
        .map(|_| {
            owner.post("/settings/password", &[("current", "guess number x"), ("password", "battery staple")]).status
        })
        .collect();
    assert!(guesses.ends_with(&[429]), "{guesses:?}");
}

/// A server that was restarted, or another server of the same accounts, knows the networks of earlier sign-ins too.
#[test]
fn a_network_is_known_to_pages_that_saw_no_sign_in_from_it() {
    static FIRST: OnceLock<Arc<Service>> = OnceLock::new();
    let first = start_with_account_pages_behind_proxy();
    let _ = FIRST.set(Arc::clone(&first.service));
    Browser::signed_up(&first, "jane");
    assert_eq!(Browser::with_address(&first, "2001:db8:1::5").sign_in("jane", PASSWORD).status, 303);
    let mut at_work = Browser::with_address(&first, "192.0.2.44");
    assert_eq!(at_work.sign_in("jane", PASSWORD).status, 303);
    at_work.get("/settings");
    assert_eq!(at_work.post("/settings/sign-out", &[]).status, 303);

    // New pages on the same accounts.
    let restarted = TestServer::start_with_options(
        TestServerOptions {
            mounts: |_| pages(FIRST.get().unwrap()),
            ..TestServerOptions::default_for(generous_tariff())
        },
        |http| {
            http.proxies = Proxies { networks: vec!["127.0.0.0/8".parse().unwrap()], uses_proxy_protocol: false };
        },
    );
    let sign_in = |address, password: &str| Browser::with_address(&restarted, address).sign_in("jane", password).status;
    let guesses: Vec<u16> = (0..8).map(|_| sign_in("203.0.113.9", "guess number x")).collect();
    assert!(guesses.ends_with(&[429]), "{guesses:?}");
    assert_eq!(sign_in("198.51.100.1", PASSWORD), 429, "from an unknown network");
    assert_eq!(sign_in("2001:db8:1::77", PASSWORD), 303, "from the network of an earlier sign-in");
    assert_eq!(sign_in("192.0.2.44", PASSWORD), 303, "also after signing out there");
    // Guesses from a known network are limited too.
    let guesses: Vec<u16> = (0..8).map(|_| sign_in("192.0.2.44", "guess number x")).collect();
    assert!(guesses.starts_with(&[422]) && guesses.ends_with(&[429]), "{guesses:?}");
}

#[test]
fn sign_ups_are_rate_limited_and_pending_accounts_have_no_keys() {
    let server = start_with_account_pages_behind_proxy();
    let mut browser = Browser::signed_up(&server, "jane");
    let refused = browser.post("/settings/keys", &[("name", "x"), ("scopes", "search")]);
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("waits for approval"), "{}", refused.text());
    assert!(server.accounts.keys(Some(browser.account())).iter().all(|key| key.record.prefix == "web pages"));
    let changes: Vec<u16> =
        (0..40).map(|_| browser.post("/settings/sessions", &[("session", "others")]).status).collect();
    assert!(changes.starts_with(&[303]) && changes.ends_with(&[429]), "{changes:?}");
    let sign_up = |number: usize, address| {
        let mut browser = Browser::with_address(&server, address);
        browser.get("/settings/sign-up");
        browser
            .post(
                "/settings/sign-up",
                &[("login", &format!("{}-{number}", address.replace(':', "-"))), ("password", PASSWORD)],
            )
            .status
    };
    let made: Vec<u16> = (0..9).map(|number| sign_up(number, "203.0.113.9")).collect();
    assert!(made.starts_with(&[303]) && made.ends_with(&[429]), "{made:?}");
    // An IPv6 site with many networks counts as one.
    let made: Vec<u16> = ["2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:3::1"]
        .iter()
        .cycle()
        .take(9)
        .enumerate()
        .map(|(number, address)| sign_up(number, address))
        .collect();
    assert!(made.ends_with(&[429]), "{made:?}");
}

#[test]
fn a_new_password_signs_every_other_browser_out() {
    let server = start_with_account_pages();
    let mut browser = Browser::signed_up(&server, "jane");
    let mut other = Browser::new(&server);
    other.sign_in("jane", PASSWORD);
    assert_eq!(other.get("/settings").status, 200);
    let before = browser.cookies[SESSION_COOKIE].clone();
    let wrong = browser.post("/settings/password", &[("current", "not hers at all"), ("password", "battery staple")]);
    assert_eq!(wrong.status, 422);
    assert_eq!(other.get("/settings").status, 200);
    let done = browser.post("/settings/password", &[("current", PASSWORD), ("password", "battery staple")]);
    assert_eq!(done.status, 303, "{}", done.text());
    assert_ne!(browser.cookies[SESSION_COOKIE], before);
    assert_eq!((browser.get("/settings").status, other.get("/settings").status), (200, 303));
    assert_eq!(other.sign_in("jane", PASSWORD).status, 422);
    assert_eq!(other.sign_in("jane", "battery staple").status, 303);
}

#[test]
fn requests_that_are_not_forms_are_refused() {
    let server = start_with_account_pages();
    let mut browser = Browser::signed_up(&server, "jane");
    const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
    for types in
        [&[("Content-Type", "application/json")][..], &[FORM, ("Content-Type", "application/json")], &[FORM, FORM]]
    {
        let headers = [SAME_ORIGIN_HEADERS, types].concat();
        let refused = browser.post_as("/settings/sign-out", &[], &headers).status;
        assert_eq!((refused, browser.get("/settings").status), (422, 200), "{types:?}");
    }
}

/// The pages of a server where searching needs an account.
fn closed(service: &Arc<Service>, sign_up: SignUpPolicy) -> Mounts {
    let visitors = VisitorRates { reads_per_minute: 600, ..VisitorRates::default() };
    let terms = Some("https://law.example.org/terms".to_owned());
    let policies = PolicyPages { terms, privacy: None };
    let settings = PageSettings { visitors, sign_up, policies, ..PageSettings::default() };
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings));
    vec![Arc::new(AccountPages::new(Arc::clone(&shell))), Arc::new(PublicPages::new(shell))]
}

fn start_closed(mounts: fn(&Arc<Service>) -> Mounts) -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    )
}

#[test]
fn signing_in_leads_back_to_the_search() {
    let server = start_closed(|service| closed(service, SignUpPolicy::Open));
    let search = "/?q=noise%20ordinance&mode=keyword";
    let mut browser = Browser::new(&server);
    let refused = browser.get(search);
    assert_eq!(refused.status, 401);
    let text = refused.text();
    let sign_in = "/settings/sign-in?return=%2F%3Fq%3Dnoise%2520ordinance%26mode%3Dkeyword";
    let sign_up = sign_in.replace("sign-in", "sign-up");
    assert!(text.contains(&format!("<a href=\"{sign_in}\">sign in</a>")), "{text}");
    assert!(text.contains(&format!("<a href=\"{sign_up}\">sign up</a> (free, 50,000 searches a month)")), "{text}");

    // By signing up, and in another browser by signing in.
    let form = browser.get(&sign_up).text();
    assert!(form.contains("An account is free, with 50,000 searches a month. More come in packs, from $"), "{form}");
    assert!(form.contains("<a href=\"https://law.example.org/terms\" rel=\"noreferrer\">terms of use</a>"), "{form}");
    assert!(form.contains("This server keeps your name, a hash of your password") && !form.contains("personal data"));
    assert!(browser.get(sign_in).text().contains("Forgot your password?"), "before the first mistake");
    assert!(form.contains("name=\"return\" value=\"/?q=noise%20ordinance&amp;mode=keyword\""), "{form}");
    assert!(form.contains(&format!("href=\"{sign_in}\"")), "the other page returns there too: {form}");
    let fields = [("login", "jane"), ("password", PASSWORD), ("return", search)];
    let first = browser.post("/settings/sign-up", &fields);
    let mut other = Browser::new(&server);
    other.get(sign_in);
    let wrong = other.post("/settings/sign-in", &[("login", "jane"), ("password", "wrong"), ("return", search)]).text();
    assert!(wrong.contains("name=\"return\""), "a mistake does not lose the search: {wrong}");
    let second = other.post("/settings/sign-in", &fields);
    for (mut browser, answered) in [(browser, first), (other, second)] {
        assert_eq!(answered.status, 303, "{}", answered.text());
        let settings = answered.header("location").to_owned();
        assert_eq!(settings, "/settings?signed-in&return=%2F%3Fq%3Dnoise%2520ordinance%26mode%3Dkeyword");
        assert_eq!(browser.get(&settings).header("location"), search);
        assert_eq!(browser.get(search).status, 200);
        assert_eq!(browser.get(sign_in).header("location"), search, "who is signed in goes on at once");
    }

    let mut foreign = Browser::new(&server);
    foreign.get("/settings/sign-in");
    let fields = [("login", "jane"), ("password", PASSWORD), ("return", "//other.example/")];
    assert_eq!(foreign.post("/settings/sign-in", &fields).header("location"), "/settings?signed-in");
    let other_site = "/settings?signed-in&return=%2F%2Fother.example%2F";
    assert_eq!(foreign.get(other_site).status, 200, "only paths of this site");
}

#[test]
fn a_closed_search_says_how_to_get_in() {
    let invited = start_closed(|service| closed(service, SignUpPolicy::Invited));
    let text = Browser::new(&invited).get("/?q=anything").text();
    assert!(text.contains("The operator of this server creates accounts") && !text.contains("sign-up"), "{text}");

    let approval = start_closed(|service| closed(service, SignUpPolicy::Approval));
    let text = Browser::new(&approval).get("/?q=anything").text();
    assert!(text.contains("\">ask for an account</a> (free, 50,000 searches a month)"), "{text}");
    let mut waiting = Browser::signed_up(&approval, "jane");
    assert_eq!(
        waiting.get("/settings?signed-in&return=%2F%3Fq%3Danything").status,
        200,
        "there is nothing to return to"
    );
    let text = waiting.get("/?q=anything").text();
    assert!(text.contains("wait until the operator of this server approves your account"), "{text}");
}
