//! Encrypted data of drafts and orders: unreadable on disk, deleted in time, and the loss of its
//! key is always reported.

use std::path::Path;

use hornbook_accounts::changes::{DraftView, SignUp};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::people::{Password, PasswordCost};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::sealed::SealedCount;
use hornbook_accounts::{Accounts, Settings};

use crate::support::drafts::{DAY_MILLIS, PRIVATE, accept, draft_content, open, start_with_customer, view_draft};
use crate::support::{act, clock_at_noon, create_customer, now_of, start_accounts};

#[test]
fn nothing_of_an_intake_is_in_any_file_in_plain_text() {
    let clock = clock_at_noon();
    let data = tempfile::tempdir().unwrap();
    let accounts = Accounts::open(data.path(), Settings::default(), now_of(&clock)).unwrap();
    let owner = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    let secret = draft.token.reveal();
    let (token, intake) =
        (secret.as_str(), serde_json::to_string(&draft_content("Ondarza Holdings LLC").intake).unwrap());
    drop(accounts);
    let mut hidden = PRIVATE.to_vec();
    hidden.extend([token, &intake[1..20], "21900"]);
    assert_hidden(data.path(), &hidden);
    // The key decrypts nothing without the token, and only a hash of the token is stored.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(data.path().join("state.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    let accounts = Accounts::open(data.path(), Settings::default(), now_of(&clock)).unwrap();
    let accepted = accept(&accounts, &draft.token, now_of(&clock), 2).unwrap().unwrap();
    drop(accounts);
    let tracking_token = accepted.tracking_token.unwrap();
    // An order stores the name of the company in plain text, since it will be public. The rest stays encrypted.
    hidden.retain(|word| *word != "Ondarza Holdings LLC" && *word != "21900");
    hidden.push(&tracking_token);
    assert_hidden(data.path(), &hidden);
    let accounts = Accounts::open(data.path(), Settings::default(), now_of(&clock)).unwrap();
    let intake = accounts.order_intake(accepted.order.id, &act(now_of(&clock)), &mut SeededEntropy(3)).unwrap();
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
            let digits = hornbook_base::hex::encode(word.as_bytes());
            for wanted in [word.as_bytes(), digits.as_bytes()] {
                let found = bytes.windows(wanted.len()).any(|window| window == wanted);
                assert!(!found, "{} has '{word}'", path.display());
            }
        }
    }
    assert!(files >= 4, "state, key, lock, mark");
}

/// The networks of sign-ins are stored as keyed hashes. Without the key people still sign in, and no network is known.
#[test]
fn no_address_of_a_sign_in_is_in_any_file() {
    const ADDRESSES: [&str; 2] = ["203.0.113.77", "2001:db8:77::1"];
    let clock = clock_at_noon();
    let data = tempfile::tempdir().unwrap();
    let settings = Settings { password_work: PasswordCost { memory_kib: 8, passes: 1 }, ..Settings::default() };
    let open_accounts = || Accounts::open(data.path(), settings, now_of(&clock)).unwrap();
    let (act, mut entropy) = (act(now_of(&clock)), SeededEntropy(1));
    let accounts = open_accounts();
    let (login, password) = ("jane".parse().unwrap(), Password::new("correct horse").unwrap());
    let proof = accounts.sign_up(SignUp { login, password, approve: true }, &act, &mut entropy).unwrap();
    for address in ADDRESSES {
        accounts.open_session(proof, "a browser", address.parse().unwrap(), &act, &mut entropy).unwrap();
        assert!(accounts.knows_network("jane", address.parse().unwrap(), &mut entropy).unwrap());
    }
    let owner = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    open(&accounts, owner, now_of(&clock), 1).unwrap();
    drop(accounts);
    assert_hidden(data.path(), &["203.0.113", "2001:db8:77", "20010db80077"]);

    std::fs::remove_file(data.path().join("state.key")).unwrap();
    let accounts = open_accounts();
    let [address, _] = ADDRESSES.map(|address| address.parse().unwrap());
    assert!(!accounts.knows_network("jane", address, &mut entropy).unwrap());
    let proof = accounts.check_login("jane", "correct horse").unwrap();
    accounts.open_session(proof, "a browser", address, &act, &mut entropy).unwrap();
    assert!(!data.path().join("state.key").exists(), "a sign-in replaced the lost key");
}

#[test]
fn a_lost_encryption_key_is_replaced_only_after_giving_up_the_data() {
    let clock = clock_at_noon();
    let data = tempfile::tempdir().unwrap();
    let open_accounts = || Accounts::open(data.path(), Settings::default(), now_of(&clock)).unwrap();
    let accounts = open_accounts();
    let owner = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    drop(accounts);
    let key = data.path().join("state.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let accounts = open_accounts();
    let refused = open(&accounts, owner, now_of(&clock), 7).unwrap_err().to_string();
    assert!(refused.contains("state.key is missing") && refused.contains("1 drafts and 0 intakes"), "{refused}");
    let refused = accounts.draft(&draft.token, now_of(&clock).wall, &mut SeededEntropy(0)).unwrap_err().to_string();
    assert!(refused.contains("restore it"), "{refused}");
    assert!(!key.exists(), "no other key was made");
    drop(accounts);
    std::fs::write(&key, &kept).unwrap();
    let accounts = open_accounts();
    assert!(view_draft(&accounts, &draft.token, now_of(&clock)).is_some());
    let order = accept(&accounts, &draft.token, now_of(&clock), 2).unwrap().unwrap().order.id;
    open(&accounts, owner, now_of(&clock), 3).unwrap();
    assert!(accounts.remove_undecryptable(true, &act(now_of(&clock))).is_err(), "the key is there");
    drop(accounts);

    std::fs::remove_file(&key).unwrap();
    let accounts = open_accounts();
    let sealed = SealedCount { drafts: 1, intakes: 1 };
    assert_eq!(accounts.remove_undecryptable(false, &act(now_of(&clock))).unwrap(), sealed, "counted");
    assert_eq!(accounts.remove_undecryptable(true, &act(now_of(&clock))).unwrap(), sealed, "removed");
    assert_eq!(accounts.open_draft_count().unwrap(), 0);
    assert!(accounts.order(order).unwrap().unwrap().intake.is_none());
    let fresh = open(&accounts, owner, now_of(&clock), 7).unwrap();
    assert!(view_draft(&accounts, &fresh.token, now_of(&clock)).is_some());
    assert_ne!(std::fs::read(&key).unwrap(), kept);
}

#[test]
fn a_wrong_encryption_key_is_refused_with_the_file_name() {
    let clock = clock_at_noon();
    let data = tempfile::tempdir().unwrap();
    let open_accounts = || Accounts::open(data.path(), Settings::default(), now_of(&clock)).unwrap();
    let accounts = open_accounts();
    let owner = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    drop(accounts);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = Accounts::open(other.path(), Settings::default(), now_of(&clock)).unwrap();
    let stranger = create_customer(&elsewhere, 0, 1, now_of(&clock)).account;
    open(&elsewhere, stranger, now_of(&clock), 2).unwrap();
    std::fs::copy(other.path().join("state.key"), data.path().join("state.key")).unwrap();
    let refused =
        open_accounts().draft(&draft.token, now_of(&clock).wall, &mut SeededEntropy(0)).unwrap_err().to_string();
    assert!(refused.contains("state.key") && refused.contains("restore the earlier state.key"), "{refused}");
}

#[test]
fn drafts_expire_on_time_and_are_deleted_by_the_next_sweep() {
    let clock = clock_at_noon();
    let (disk, accounts, owner) = start_with_customer(&clock, Settings { draft_days: 2, ..Settings::default() });
    let first = open(&accounts, owner, now_of(&clock), 1).unwrap();
    let accepted = open(&accounts, owner, now_of(&clock), 2).unwrap();
    let order = accept(&accounts, &accepted.token, now_of(&clock), 3).unwrap().unwrap().order;
    clock.advance_millis(DAY_MILLIS);
    let second = open(&accounts, owner, now_of(&clock), 4).unwrap();
    clock.advance_millis(DAY_MILLIS - 1);
    accounts.maintain(now_of(&clock)).unwrap();
    assert!(view_draft(&accounts, &first.token, now_of(&clock)).is_some());
    assert_eq!(accounts.open_draft_count().unwrap(), 2);
    clock.advance_millis(1);
    assert!(view_draft(&accounts, &first.token, now_of(&clock)).is_none());
    assert!(accept(&accounts, &first.token, now_of(&clock), 5).unwrap().is_none());
    assert!(view_draft(&accounts, &accepted.token, now_of(&clock)).is_none());
    accounts.maintain(now_of(&clock)).unwrap();
    assert_eq!(accounts.open_draft_count().unwrap(), 1);
    assert!(view_draft(&accounts, &second.token, now_of(&clock)).is_some());
    // Also after the clock goes back, because the draft is deleted.
    clock.set_wall(first.expires_at.plus_millis(-(DAY_MILLIS as i64)));
    assert!(view_draft(&accounts, &first.token, now_of(&clock)).is_none());
    assert!(view_draft(&accounts, &accepted.token, now_of(&clock)).is_none());
    assert!(accounts.order(order.id).unwrap().is_some(), "the order stays");
    drop(accounts);
    drop(start_accounts(disk.medium(), Settings::default(), now_of(&clock)));
}

#[test]
fn completing_an_order_deletes_its_intake() {
    let clock = clock_at_noon();
    let (_, accounts, owner) = start_with_customer(&clock, Settings::default());
    let draft = open(&accounts, owner, now_of(&clock), 1).unwrap();
    let order = accept(&accounts, &draft.token, now_of(&clock), 2).unwrap().unwrap().order.id;
    let intake = || accounts.order_intake(order, &act(now_of(&clock)), &mut SeededEntropy(3)).unwrap();
    accounts.pay_order(order, None, &act(now_of(&clock))).unwrap();
    accounts.advance_order(order, OrderStage::Filing, &act(now_of(&clock))).unwrap();
    assert!(intake().is_some(), "the filing needs it");
    accounts.advance_order(order, OrderStage::Completed, &act(now_of(&clock))).unwrap();
    assert!(intake().is_none());
    assert!(accounts.order(order).unwrap().unwrap().intake.is_none());
}

#[test]
fn an_intake_sent_again_with_its_idempotency_key_has_one_draft_and_one_link() {
    let clock = clock_at_noon();
    let (disk, accounts, owner) = start_with_customer(&clock, Settings { draft_days: 2, ..Settings::default() });
    let other = create_customer(&accounts, 0, 1, now_of(&clock)).account;
    let send = |accounts: &Accounts, owner, name: &str, seed| {
        let (content, now) = (draft_content(name), now_of(&clock).wall);
        accounts.open_draft(owner, &content, Some("retry-1"), now, &mut SeededEntropy(seed)).unwrap()
    };
    let first = send(&accounts, owner, "Ondarza Holdings LLC", 1).unwrap();
    clock.advance_millis(DAY_MILLIS);
    // Also after a restart.
    drop(accounts);
    let accounts = start_accounts(disk.medium(), Settings { draft_days: 2, ..Settings::default() }, now_of(&clock));
    let again = send(&accounts, owner, "Ondarza Holdings LLC", 2).unwrap();
    assert_eq!((again.id, again.token.reveal(), again.expires_at), (first.id, first.token.reveal(), first.expires_at));
    assert_eq!(accounts.open_draft_count().unwrap(), 1);
    assert!(send(&accounts, owner, "Another LLC", 3).is_none(), "the idempotency key belongs to the first intake");
    assert_ne!(send(&accounts, other, "Ondarza Holdings LLC", 4).unwrap().token.reveal(), first.token.reveal());
    let order = accept(&accounts, &first.token, now_of(&clock), 5).unwrap().unwrap().order.id;
    assert_eq!(send(&accounts, owner, "Ondarza Holdings LLC", 6).unwrap().id, first.id);
    assert!(send(&accounts, owner, "Another LLC", 7).is_none());
    assert_eq!(accounts.orders().unwrap()[0].id, order);

    // When the draft has expired, the key starts a new one, and the sweep that deletes the first
    // draft keeps the second.
    clock.advance_millis(DAY_MILLIS);
    let second = send(&accounts, owner, "Another LLC", 8).unwrap();
    assert_ne!(second.id, first.id);
    accounts.maintain(now_of(&clock)).unwrap();
    assert!(matches!(view_draft(&accounts, &second.token, now_of(&clock)), Some(DraftView::Open { .. })));
}
