//! The socket through which operators administer a running server.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hornbook::admin::socket::AdminSocket;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey, NewPurchase, OpenedPurchase, PaymentReport};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::tier::PackName;
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::{Clock, SystemClock};
use serde_json::{Value, json};

fn hornbook(data: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
    command.current_dir(data).env_clear().arg("--data").arg(data).args(words);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for a command to end and returns whether it succeeded. Kills it after a minute.
fn succeeds(mut child: Child) -> bool {
    for _ in 0..6000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn revoke_and_disable_do_not_wait_for_slow_commands() {
    let data = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let accounts = Arc::new(Accounts::open(data.path(), Settings::default(), clock.now()).unwrap());
    let act = ActContext { actor: Actor::program("test"), at: clock.now().wall };
    let account = accounts.create_account("Test".to_owned(), &act).unwrap().id;
    accounts.approve_account(account, &act).unwrap();
    let wish = NewKey {
        account,
        name: "k".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::ALL,
        expires_at: None,
        budget: Budget::default(),
    };
    let key = accounts.create_key(wish, &act, &mut SystemEntropy).unwrap();
    let secret = key.secret.reveal();

    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let released: Mutex<Receiver<()>> = Mutex::new(released);
    let socket = AdminSocket::bind(data.path()).unwrap();
    let (served, served_clock) = (Arc::clone(&accounts), Arc::clone(&clock));
    // The thread ends with the test process.
    std::thread::spawn(move || {
        let slow_reload = move || {
            begun.send(()).unwrap();
            // Until the signal comes, or the test has failed and dropped the channel.
            let _ = released.lock().unwrap().recv();
            Ok(json!({ "snapshot": "s" }))
        };
        socket.serve(&served, &served_clock, &slow_reload);
    });
    let slow = hornbook(data.path(), &["reload"]);
    has_begun.recv_timeout(Duration::from_secs(60)).unwrap();
    // A second slow command waits in the queue.
    let verify = hornbook(data.path(), &["ledger", "verify"]);

    assert!(succeeds(hornbook(data.path(), &["key", "revoke", "key-1"])), "the revocation waited for a slow command");
    assert!(accounts.authenticate(Some(&secret), clock.now()).is_err());
    assert!(succeeds(hornbook(data.path(), &["account", "disable", "Test"])));

    release.send(()).unwrap();
    assert!(succeeds(slow) && succeeds(verify));
    let acts = accounts.acts(9).unwrap();
    let last: Vec<&str> = acts.iter().rev().take(3).map(|act| &*act.act).collect();
    assert_eq!(last, ["reload", "account disable", "key revoke"]);
}

/// The standard output of a command.
fn printed(data: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
    let output = command.current_dir(data).env_clear().arg("--data").arg(data).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_operator_sets_and_lists_the_budgets_of_keys() {
    let data = tempfile::tempdir().unwrap();
    printed(data.path(), &["account", "create", "Jane", "--approve"]);
    printed(data.path(), &["key", "create", "Jane", "--name", "agent", "--budget", "100", "--daily-budget", "5"]);
    let listed = printed(data.path(), &["key", "list", "Jane"]);
    assert!(listed.contains("100 credits in all, 5 credits a day"), "{listed}");
    assert!(listed.contains("0 in all, 0 this month, 0 today"), "{listed}");
    let changed = printed(data.path(), &["key", "budget", "key-1", "--monthly-budget", "7"]);
    assert!(changed.contains("7 credits a month") && !changed.contains("in all, 5"), "{changed}");
    let ended = printed(data.path(), &["key", "budget", "key-1"]);
    assert!(!ended.contains("credits"), "{ended}");
    let audit = printed(data.path(), &["audit"]);
    assert!(audit.contains("key-1 of acct-1, 7 credits a month"), "{audit}");
    assert!(audit.contains("key-1 of acct-1, without a budget"), "{audit}");
}

#[test]
fn an_operator_deletes_an_account_and_learns_what_remains() {
    let data = tempfile::tempdir().unwrap();
    printed(data.path(), &["account", "create", "Jane Roe", "--approve"]);
    printed(data.path(), &["grant", "acct-1", "50", "--reason", "a gift"]);
    printed(data.path(), &["key", "create", "acct-1"]);
    let asked = printed(data.path(), &["account", "delete", "Jane Roe"]);
    for words in ["deleted      false", "creditsLost  50", "keys         1", "hornbook account delete acct-1 --yes"] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    assert!(printed(data.path(), &["account", "list"]).contains("Jane Roe"), "nothing was deleted");
    let deleted = printed(data.path(), &["account", "delete", "acct-1", "--yes"]);
    assert!(deleted.contains("deleted      true") && deleted.contains("the books must add up"), "{deleted}");
    let listed = printed(data.path(), &["account", "list"]);
    assert!(listed.contains("deleted") && !listed.contains("Jane"), "{listed}");
    assert!(!printed(data.path(), &["audit"]).contains("Jane"), "the name is nowhere");
    let verified = printed(data.path(), &["ledger", "verify"]);
    assert!(verified.contains("intact"), "{verified}");
    let mut again = hornbook(data.path(), &["account", "delete", "acct-1", "--yes"]);
    assert!(!again.wait().unwrap().success(), "it is deleted already");
}

#[test]
fn inbox_lists_only_pending_items() {
    let data = tempfile::tempdir().unwrap();
    let now = SystemClock::start().now();
    let accounts = Accounts::open(data.path(), Settings::default(), now).unwrap();
    let act = ActContext { actor: Actor::program("test"), at: now.wall };
    let account = accounts.create_account("Approved".to_owned(), &act).unwrap().id;
    accounts.approve_account(account, &act).unwrap();
    accounts.create_account("Waiting".to_owned(), &act).unwrap();
    let waits = accounts.request_purchase(account, PackName::Pro, &act).unwrap();
    let paid = accounts.request_purchase(account, PackName::Pro, &act).unwrap();
    accounts.pay_purchase(paid.id, None, &act).unwrap();
    let wish = NewPurchase { account, pack: PackName::Starter, retry: None, by_card: true };
    let OpenedPurchase::New(by_card) = accounts.open_purchase(wish, &act, &mut SystemEntropy).unwrap() else {
        panic!("it is the first")
    };
    let checkout = by_card.checkout.unwrap();
    let wrong = PaymentReport::Paid {
        checkout,
        session: "cs".to_owned(),
        payment: "pi".to_owned(),
        amount: 1,
        currency: "usd".to_owned(),
    };
    accounts.report_payment(wrong, &act).unwrap();
    drop(accounts);

    let inbox: Value = serde_json::from_str(&printed(data.path(), &["inbox", "--json"])).unwrap();
    let ids = |list: &str| inbox[list].as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids("purchases"), [json!(waits.id)]);
    assert_eq!(ids("accounts"), [json!("acct-2")]);
    assert_eq!(ids("payments"), [json!(checkout)]);
    assert_eq!(ids("orders"), Vec::<Value>::new());
    let text = printed(data.path(), &["inbox"]);
    assert!(
        text.contains("hornbook purchase approve buy-1") && text.contains("1 usd were paid instead of 500 usd"),
        "{text}"
    );

    // The commands that the inbox suggests remove the rows from the list.
    printed(data.path(), &["purchase", "approve", "buy-1"]);
    printed(data.path(), &["account", "approve", "acct-2"]);
    let text = printed(data.path(), &["inbox", "--done", &checkout.to_string()]);
    assert!(!text.contains("buy-1") && !text.contains("acct-2") && !text.contains("paid instead of"), "{text}");
}
