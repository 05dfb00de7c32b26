//! Card payments through the real program: a pack is bought with a key, Stripe reports the payment
//! with a signed webhook, the credits arrive and survive a restart, and a refund takes them back.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use serde_json::Value;

use crate::serving::ServeProcess;
use crate::stripe::{FakeStripe, SECRET_KEY, WEBHOOK_SECRET, now, send_signed, signature};
use crate::{hornbook, sample_plan, stderr};

fn command(data: &Path, words: &[&str]) -> Value {
    let output = hornbook().args(["--json", "--data"]).arg(data).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The status and the body of the response.
fn ask(address: &str, line: &str, key: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: one\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[test]
fn a_pack_is_bought_by_card_through_the_program_and_refunded() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let written = |name: &str, text: &str| {
        let file = place.path().join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let stripe = FakeStripe::start();
    let settings = [
        "payments.provider=stripe".to_owned(),
        format!("payments.stripe_api={}", stripe.url()),
        format!("payments.stripe_secret_key_file={}", written("key", SECRET_KEY)),
        format!("payments.stripe_webhook_secret_file={}", written("secret", WEBHOOK_SECRET)),
    ];
    let settings = settings.each_ref().map(String::as_str);
    command(&data, &["account", "create", "Test", "--approve"]);
    let key = command(&data, &["key", "create", "Test"])["key"].as_str().unwrap().to_owned();
    let built = hornbook().arg("--data").arg(&data).args(["build", "--quiet"]).arg(sample_plan()).output().unwrap();
    assert!(built.status.success(), "{}", stderr(&built));
    let credits = || command(&data, &["account", "show", "Test"])["creditsRemaining"].as_u64().unwrap();

    let mut server = ServeProcess::start(&data, &settings);
    let before = credits();
    let buy = |server: &ServeProcess| ask(&server.address, "POST /api/v1/billing/checkout", &key, r#"{"pack":"pro"}"#);
    let (status, bought) = buy(&server);
    let url = bought["checkoutUrl"].as_str().unwrap_or_else(|| panic!("{status} {bought:#}"));
    let session = stripe.session_at(url);
    assert_eq!(session["amount_total"], bought["priceCents"]);
    let address = |server: &ServeProcess| -> SocketAddr { server.address.parse().unwrap() };

    let paid = stripe.paid(&session);
    assert_eq!(send_signed(&paid, &signature("whsec_another", now(), &paid.0), address(&server)), 400, "forged");
    assert_eq!(send_signed(&paid, &signature(WEBHOOK_SECRET, now() - 301, &paid.0), address(&server)), 400, "old");
    assert_eq!(credits(), before);
    // The server is killed before the webhook arrives, and Stripe sends it again.
    server.kill();
    assert_eq!(stripe.send(&paid, address(&server)), 0);
    server = ServeProcess::start(&data, &settings);
    stripe.deliver(&paid, address(&server));
    let pack = bought["credits"].as_u64().unwrap();
    assert_eq!(credits(), before + pack);
    stripe.deliver(&paid, address(&server));
    assert_eq!(credits(), before + pack, "the same notice again gives nothing");
    assert_eq!(buy(&server).1["status"], "paid", "the same request finds the purchase");
    assert_eq!(stripe.sessions().len(), 1);
    let (_, me) = ask(&server.address, "GET /api/v1/me", &key, "");
    assert_eq!((me["tier"].as_str(), me["creditsRemaining"].as_u64()), (Some("pro"), Some(before + pack)), "{me:#}");

    let cents = session["amount_total"].as_u64().unwrap();
    stripe.deliver(&stripe.refunded(&session, cents), address(&server));
    assert_eq!(credits(), before);
    assert_eq!(command(&data, &["purchase", "list"])[0]["status"], "refunded");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(command(&data, &["ledger", "verify"])["books"]["wallets"], before);
}
