//! Encrypted data of drafts and orders: unreadable on disk, deleted in time, and the loss of its
//! key is always reported.

mod support;

use std::path::Path;

use hornbook::accounts::changes::DraftView;
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::records::OrderStage;
use hornbook::accounts::sealed::SealedCount;
use hornbook::accounts::{Accounts, Settings};
use support::drafts::{DAY_MILLIS, PRIVATE, accept, content, look, open, standing};
use support::{act, customer, noon, read, start};

#[test]
fn nothing_of_an_intake_is_in_any_file_in_plain_text() {
    let clock = noon();
    let data = tempfile::tempdir().unwrap();
    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let owner = customer(&accounts, 0, 1, read(&clock)).account;
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    let secret = draft.token.reveal();
    let (token, intake) = (secret.as_str(), serde_json::to_string(&content("Ondarza Holdings LLC").intake).unwrap());
    drop(accounts);
    let mut hidden = PRIVATE.to_vec();
    hidden.extend([token, &intake[1..20], "21900"]);
    assert_hidden(data.path(), &hidden);
    // The key decrypts nothing without the token, and only a hash of the token is stored.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(data.path().join("state.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let accepted = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap();
    drop(accounts);
    let tracking_token = accepted.tracking_token.unwrap();
    // An order stores the name of the company in plain text, since it will be public. The rest stays encrypted.
    hidden.retain(|word| *word != "Ondarza Holdings LLC" && *word != "21900");
    hidden.push(&tracking_token);
    assert_hidden(data.path(), &hidden);
    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let intake = accounts.order_intake(accepted.order.id, &act(read(&clock)), &mut SeededEntropy(3)).unwrap();
    assert_eq!(intake.unwrap()["people"][0]["name"], PRIVATE[0]);
}

/// Checks that the words are in no file of the directory, neither as text nor in hexadecimal.
fn assert_hidden(data: &Path, words: &[&str]) {
    let mut files = 0;
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        files += 1;
        for word in words {
            let digits = hornbook::hex::encode(word.as_bytes());
            for wanted in [word.as_bytes(), digits.as_bytes()] {
                let found = bytes.windows(wanted.len()).any(|window| window == wanted);
                assert!(!found, "{} has '{word}'", path.display());
            }
        }
    }
    assert!(files >= 4, "state, key, lock, mark");
}

#[test]
fn a_lost_key_is_not_replaced_before_what_it_sealed_is_given_up() {
    let clock = noon();
    let data = tempfile::tempdir().unwrap();
    let open_accounts = || Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let accounts = open_accounts();
    let owner = customer(&accounts, 0, 1, read(&clock)).account;
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    drop(accounts);
    let key = data.path().join("state.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let accounts = open_accounts();
    let refused = open(&accounts, owner, read(&clock), 7).unwrap_err().to_string();
    assert!(refused.contains("state.key is missing") && refused.contains("1 drafts and 0 intakes"), "{refused}");
    let refused = accounts.draft(&draft.token, read(&clock).wall, &mut SeededEntropy(0)).unwrap_err().to_string();
    assert!(refused.contains("put it back"), "{refused}");
    assert!(!key.exists(), "no other key was made");
    drop(accounts);
    std::fs::write(&key, &kept).unwrap();
    let accounts = open_accounts();
    assert!(look(&accounts, &draft.token, read(&clock)).is_some());
    let order = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap().order.id;
    open(&accounts, owner, read(&clock), 3).unwrap();
    assert!(accounts.give_up_sealed(true, &act(read(&clock))).is_err(), "the key is there");
    drop(accounts);

    std::fs::remove_file(&key).unwrap();
    let accounts = open_accounts();
    let sealed = SealedCount { drafts: 1, intakes: 1 };
    assert_eq!(accounts.give_up_sealed(false, &act(read(&clock))).unwrap(), sealed, "counted");
    assert_eq!(accounts.give_up_sealed(true, &act(read(&clock))).unwrap(), sealed, "removed");
    assert_eq!(accounts.open_draft_count().unwrap(), 0);
    assert!(accounts.order(order).unwrap().unwrap().intake.is_none());
    let fresh = open(&accounts, owner, read(&clock), 7).unwrap();
    assert!(look(&accounts, &fresh.token, read(&clock)).is_some());
    assert_ne!(std::fs::read(&key).unwrap(), kept);
}

#[test]
fn another_key_opens_nothing_and_says_which_file_is_missing() {
    let clock = noon();
    let data = tempfile::tempdir().unwrap();
    let open_accounts = || Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let accounts = open_accounts();
    let owner = customer(&accounts, 0, 1, read(&clock)).account;
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    drop(accounts);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = Accounts::open(other.path(), Settings::default(), read(&clock)).unwrap();
    let stranger = customer(&elsewhere, 0, 1, read(&clock)).account;
    open(&elsewhere, stranger, read(&clock), 2).unwrap();
    std::fs::copy(other.path().join("state.key"), data.path().join("state.key")).unwrap();
    let refused =
        open_accounts().draft(&draft.token, read(&clock).wall, &mut SeededEntropy(0)).unwrap_err().to_string();
    assert!(refused.contains("state.key") && refused.contains("put the file back"), "{refused}");
}

#[test]
fn a_draft_is_gone_at_its_hour_and_wiped_at_the_next_sweep() {
    let clock = noon();
    let (disk, accounts, owner) = standing(&clock, Settings { draft_days: 2, ..Settings::default() });
    let first = open(&accounts, owner, read(&clock), 1).unwrap();
    let accepted = open(&accounts, owner, read(&clock), 2).unwrap();
    let order = accept(&accounts, &accepted.token, read(&clock), 3).unwrap().unwrap().order;
    clock.advance_millis(DAY_MILLIS);
    let second = open(&accounts, owner, read(&clock), 4).unwrap();
    clock.advance_millis(DAY_MILLIS - 1);
    accounts.maintain(read(&clock)).unwrap();
    assert!(look(&accounts, &first.token, read(&clock)).is_some());
    assert_eq!(accounts.open_draft_count().unwrap(), 2);
    clock.advance_millis(1);
    assert!(look(&accounts, &first.token, read(&clock)).is_none());
    assert!(accept(&accounts, &first.token, read(&clock), 5).unwrap().is_none());
    assert!(look(&accounts, &accepted.token, read(&clock)).is_none());
    accounts.maintain(read(&clock)).unwrap();
    assert_eq!(accounts.open_draft_count().unwrap(), 1);
    assert!(look(&accounts, &second.token, read(&clock)).is_some());
    // Also after the clock goes back, because the draft is deleted.
    clock.set_wall(first.expires_at.plus_millis(-(DAY_MILLIS as i64)));
    assert!(look(&accounts, &first.token, read(&clock)).is_none());
    assert!(look(&accounts, &accepted.token, read(&clock)).is_none());
    assert!(accounts.order(order.id).unwrap().is_some(), "the order stays");
    drop(accounts);
    drop(start(disk.medium(), Settings::default(), read(&clock)));
}

#[test]
fn a_completed_order_has_no_intake_any_more() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    let order = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap().order.id;
    let intake = || accounts.order_intake(order, &act(read(&clock)), &mut SeededEntropy(3)).unwrap();
    accounts.pay_order(order, None, &act(read(&clock))).unwrap();
    accounts.advance_order(order, OrderStage::Filing, &act(read(&clock))).unwrap();
    assert!(intake().is_some(), "the filing needs it");
    accounts.advance_order(order, OrderStage::Completed, &act(read(&clock))).unwrap();
    assert!(intake().is_none());
    assert!(accounts.order(order).unwrap().unwrap().intake.is_none());
}

#[test]
fn an_intake_sent_again_with_its_idempotency_key_has_one_draft_and_one_link() {
    let clock = noon();
    let (disk, accounts, owner) = standing(&clock, Settings { draft_days: 2, ..Settings::default() });
    let other = customer(&accounts, 0, 1, read(&clock)).account;
    let send = |accounts: &Accounts, owner, name: &str, seed| {
        let (content, now) = (content(name), read(&clock).wall);
        accounts.open_draft(owner, &content, Some("retry-1"), now, &mut SeededEntropy(seed)).unwrap()
    };
    let first = send(&accounts, owner, "Ondarza Holdings LLC", 1).unwrap();
    clock.advance_millis(DAY_MILLIS);
    // Also after a restart.
    drop(accounts);
    let accounts = start(disk.medium(), Settings { draft_days: 2, ..Settings::default() }, read(&clock));
    let again = send(&accounts, owner, "Ondarza Holdings LLC", 2).unwrap();
    assert_eq!((again.id, again.token.reveal(), again.expires_at), (first.id, first.token.reveal(), first.expires_at));
    assert_eq!(accounts.open_draft_count().unwrap(), 1);
    assert!(send(&accounts, owner, "Another LLC", 3).is_none(), "the key is of the first intake");
    assert_ne!(send(&accounts, other, "Ondarza Holdings LLC", 4).unwrap().token.reveal(), first.token.reveal());
    let order = accept(&accounts, &first.token, read(&clock), 5).unwrap().unwrap().order.id;
    assert_eq!(send(&accounts, owner, "Ondarza Holdings LLC", 6).unwrap().id, first.id);
    assert!(send(&accounts, owner, "Another LLC", 7).is_none());
    assert_eq!(accounts.orders().unwrap()[0].id, order);

    // When the draft has expired, the key starts a new one, and the sweep that deletes the first
    // draft keeps the second.
    clock.advance_millis(DAY_MILLIS);
    let second = send(&accounts, owner, "Another LLC", 8).unwrap();
    assert_ne!(second.id, first.id);
    accounts.maintain(read(&clock)).unwrap();
    assert!(matches!(look(&accounts, &second.token, read(&clock)), Some(DraftView::Open { .. })));
}
