//! People, their sessions and their links: compared with a simple model, over restarts, and limits
//! for stolen tokens.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{
    AuthProof, EndSessions, LinkChoice, LinkView, NewKey, PENDING_MILLIS, PENDING_SIGN_UPS_MAX, SESSIONS_MAX, SignUp,
};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, ChangeError, Refusal};
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::key::{KeyKind, LinkToken};
use hornbook_accounts::people::{Login, Password, PasswordCost, PersonRole};
use hornbook_accounts::records::AccountStatus;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::{ManualClock, UnixMillis};
use proptest::prelude::*;

use crate::TestState;
use crate::support::{act, clock_at_noon, now_of, start_accounts};

const IDLE_MILLIS: i64 = 3_600_000;
const LONGEST_MILLIS: i64 = 4 * 3_600_000;
const PASSWORD: &str = "correct horse";
const HOME: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));

fn settings() -> Settings {
    Settings {
        session_idle_millis: IDLE_MILLIS,
        session_millis: LONGEST_MILLIS,
        password_work: PasswordCost { memory_kib: 8, passes: 1 },
        ..Settings::default()
    }
}

fn login(text: &str) -> Login {
    text.parse().unwrap()
}

fn password(text: &str) -> Password {
    Password::new(text).unwrap()
}

struct PeopleFixture {
    clock: ManualClock,
    state: TestState,
    accounts: Option<Accounts>,
    entropy: SeededEntropy,
}

impl PeopleFixture {
    fn new() -> Self {
        let (clock, state) = (clock_at_noon(), TestState::fresh());
        let accounts = Some(start_accounts(state.medium(), settings(), now_of(&clock)));
        Self { clock, state, accounts, entropy: SeededEntropy(1) }
    }

    fn accounts(&self) -> &Accounts {
        self.accounts.as_ref().unwrap()
    }

    fn restart(&mut self) {
        self.accounts = None;
        self.accounts = Some(start_accounts(self.state.medium(), settings(), now_of(&self.clock)));
    }

    fn signed_up(&mut self, name: &str) -> AuthProof {
        let wish = SignUp { login: login(name), password: password(PASSWORD), approve: true };
        let act = act(now_of(&self.clock));
        self.accounts.as_ref().unwrap().sign_up(wish, &act, &mut self.entropy).unwrap()
    }

    fn open(&mut self, proof: AuthProof) -> Result<LinkToken, ChangeError> {
        let act = act(now_of(&self.clock));
        self.accounts.as_ref().unwrap().open_session(proof, "a browser", HOME, &act, &mut self.entropy)
    }

    fn open_from(&mut self, proof: AuthProof, address: IpAddr) {
        let act = act(now_of(&self.clock));
        let accounts = self.accounts.as_ref().unwrap();
        accounts.open_session(proof, "a browser", address, &act, &mut self.entropy).unwrap();
    }

    fn knows_network(&self, name: &str, address: &str) -> bool {
        let address = address.parse().unwrap();
        self.accounts().knows_network(name, address, &mut SeededEntropy(2)).unwrap()
    }

    fn who(&self, token: &LinkToken) -> Option<AccountId> {
        self.accounts().session(token, now_of(&self.clock)).map(|person| person.account)
    }

    fn change_password(&mut self, proof: AuthProof, new: &str) -> Result<AuthProof, ChangeError> {
        let act = act(now_of(&self.clock));
        self.accounts.as_ref().unwrap().change_password(proof, &password(new), &act, &mut self.entropy)
    }

    fn link(&mut self, account: AccountId, role: PersonRole) -> LinkToken {
        let act = act(now_of(&self.clock));
        self.accounts.as_ref().unwrap().make_link(account, role, &act, &mut self.entropy).unwrap()
    }

    fn use_link(&mut self, token: &LinkToken, name: Option<&str>, new: &str) -> Result<Option<AuthProof>, ChangeError> {
        let answer = LinkChoice { login: name.map(login), password: password(new) };
        let act = act(now_of(&self.clock));
        self.accounts.as_ref().unwrap().use_link(token, answer, &act, &mut self.entropy)
    }
}

#[test]
fn a_person_signs_up_and_in_and_out() {
    let mut place = PeopleFixture::new();
    let account = place.signed_up("Jane@Example.org").account();
    let proof = place.accounts().check_login(" jane@example.ORG", PASSWORD).unwrap();
    assert_eq!(proof.account(), account);
    for (name, wrong) in
        [("jane@example.org", "correct hors"), ("jane@example.com", PASSWORD), ("", ""), ("é", PASSWORD)]
    {
        assert!(place.accounts().check_login(name, wrong).is_none(), "{name}");
    }
    let (first, second) = (place.open(proof).unwrap(), place.open(proof).unwrap());
    assert_ne!(first.reveal(), second.reveal());
    let now = now_of(&place.clock);
    let person = place.accounts().session(&first, now).unwrap();
    assert_eq!((person.login.as_str(), person.role), ("jane@example.org", PersonRole::Customer));
    let act = act(now);
    let sessions = place.accounts().sessions(account, now.wall);
    assert_eq!(sessions.len(), 2);
    assert_eq!(place.accounts().end_sessions(account, EndSessions::One(person.session), &act).unwrap(), 1);
    assert_eq!((place.who(&first), place.who(&second)), (None, Some(account)));
    let taken = SignUp { login: login("jane@example.org"), password: password("another password"), approve: true };
    let refused = place.accounts().sign_up(taken, &act, &mut SeededEntropy(9)).unwrap_err().to_string();
    assert!(refused.contains("is taken"), "{refused}");
    let acts: Vec<String> = place.accounts().acts(20).unwrap().into_iter().map(|act| act.act).collect();
    assert_eq!(acts, ["account create", "person create", "sign in", "sign in", "sign out"]);
}

#[test]
fn networks_of_sign_ins_are_known_after_a_restart_and_forgotten_with_the_password_and_the_account() {
    let mut place = PeopleFixture::new();
    let jane = place.signed_up("jane");
    let john = place.signed_up("john");
    place.open_from(jane, HOME);
    let site = |number: u128| IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | (number << 64) | 1));
    place.open_from(jane, site(1));
    place.open_from(john, site(2));
    place.restart();
    for (name, address, is_known) in [
        ("jane", "203.0.113.7", true),
        (" JANE", "::ffff:203.0.113.7", true),
        ("jane", "2001:db8:0:1:ffff::9", true),
        ("jane", "203.0.113.8", false),
        ("jane", "2001:db8:0:2::1", false),
        ("john", "2001:db8:0:2::7", true),
        ("john", "203.0.113.7", false),
        ("nobody", "203.0.113.7", false),
        ("", "203.0.113.7", false),
    ] {
        assert_eq!(place.knows_network(name, address), is_known, "{name} {address}");
    }
    // The least recently used network makes room.
    place.open_from(jane, HOME);
    (10..25).for_each(|number| place.open_from(jane, site(number)));
    assert!(place.knows_network("jane", "203.0.113.7") && place.knows_network("jane", "2001:db8:0:18::1"));
    assert!(!place.knows_network("jane", "2001:db8:0:1::1"), "only the last sixteen are kept");
    // Signing out forgets nothing, and a new password everything.
    let (account, act) = (jane.account(), act(now_of(&place.clock)));
    let all = EndSessions::OthersThan(place.accounts().sessions(john.account(), act.at)[0].id);
    assert_eq!(place.accounts().end_sessions(account, all, &act).unwrap(), 18);
    assert!(place.knows_network("jane", "203.0.113.7"));
    let jane = place.change_password(jane, "battery staple").unwrap();
    assert!(!place.knows_network("jane", "203.0.113.7"));
    place.open_from(jane, HOME);
    assert!(place.knows_network("jane", "203.0.113.7"));
    // Somebody else who takes the name of a deleted account starts without known networks.
    place.accounts().delete_account(jane, &act).unwrap();
    place.signed_up("jane");
    assert!(!place.knows_network("jane", "203.0.113.7"));
}

#[test]
fn a_clock_set_back_does_not_revive_sessions() {
    let mut place = PeopleFixture::new();
    let proof = place.signed_up("jane");
    let (token, before) = (place.open(proof).unwrap(), now_of(&place.clock).wall);
    place.clock.advance_millis(IDLE_MILLIS as u64);
    assert!(place.who(&token).is_none());
    place.accounts().maintain(now_of(&place.clock)).unwrap();
    place.clock.set_wall(before);
    assert!(place.who(&token).is_none());
    place.restart();
    assert!(place.who(&token).is_none());
}

#[test]
fn unknown_names_take_as_much_password_work_as_wrong_passwords() {
    let mut place = PeopleFixture::new();
    place.signed_up("jane");
    let work = |run: &dyn Fn(&Accounts)| {
        let before = place.accounts().passwords_checked();
        run(place.accounts());
        place.accounts().passwords_checked() - before
    };
    let of_wrong_password = work(&|accounts| assert!(accounts.check_login("jane", "not hers at all").is_none()));
    assert_eq!(of_wrong_password, 1);
    for nobody in ["john", "", "not a name", "acct-1"] {
        assert_eq!(
            work(&|accounts| assert!(accounts.check_login(nobody, "not hers at all").is_none())),
            of_wrong_password,
            "{nobody}"
        );
    }
}

#[test]
fn a_new_password_invalidates_sessions_and_proofs() {
    let mut place = PeopleFixture::new();
    let proof = place.signed_up("jane");
    let tokens = [place.open(proof).unwrap(), place.open(proof).unwrap()];
    let renewed = place.change_password(proof, "battery staple").unwrap();
    assert!(tokens.iter().all(|token| place.who(token).is_none()));
    assert!(place.open(proof).unwrap_err().to_string().contains("sign in again"));
    assert!(place.change_password(proof, "a third password").is_err());
    let token = place.open(renewed).unwrap();
    place.restart();
    assert!(tokens.iter().all(|token| place.who(token).is_none()));
    assert!(place.who(&token).is_some());
    assert!(place.accounts().check_login("jane", PASSWORD).is_none());
    assert!(place.accounts().check_login("jane", "battery staple").is_some());
}

#[test]
fn a_disabled_account_is_signed_out_and_a_deleted_one_never_comes_back() {
    let mut place = PeopleFixture::new();
    let (jane, john) = (place.signed_up("jane"), place.signed_up("john"));
    let (of_jane, of_john) = (place.open(jane).unwrap(), place.open(john).unwrap());
    let act = act(now_of(&place.clock));
    place.accounts().disable_account(jane.account(), &act).unwrap();
    assert!(place.who(&of_jane).is_none());
    let refused = place.open(jane).unwrap_err().to_string();
    assert!(refused.contains("disabled"), "{refused}");
    place.accounts().approve_account(jane.account(), &act).unwrap();
    assert!(place.who(&of_jane).is_none(), "a signed-out session is valid again");
    let wish = NewKey {
        account: john.account(),
        name: "key of john".to_owned(),
        kind: KeyKind::Live,
        scopes: ScopeSet::ALL,
        expires_at: None,
        budget: Budget::default(),
    };
    let key = place.accounts().create_key(wish, &act, &mut SeededEntropy(77)).unwrap().record.id;
    place.accounts().revoke_key(key, &act).unwrap();
    place.accounts().delete_account(john, &act).unwrap();
    for _ in 0..2 {
        let acts = format!("{:?}", place.accounts().acts(1000).unwrap());
        assert!(acts.contains(&john.account().to_string()) && !acts.contains("john"), "{acts}");
        assert!(place.accounts().keys(Some(john.account())).iter().all(|key| &*key.record.name == "deleted"));
        assert!(place.who(&of_john).is_none() && place.accounts().check_login("john", PASSWORD).is_none());
        assert!(place.accounts().person(john.account()).is_none());
        let record = place.accounts().account(john.account(), now_of(&place.clock)).unwrap().record;
        assert_eq!((record.status, &*record.name), (AccountStatus::Deleted, "deleted"));
        assert!(place.accounts().keys(Some(john.account())).iter().all(|key| key.record.revoked_at.is_some()));
        assert!(place.accounts().approve_account(john.account(), &act).is_err());
        place.restart();
    }
    assert!(place.accounts().check_login("jane", PASSWORD).is_some());
    assert_ne!(place.signed_up("john").account(), john.account(), "the name is free again");
}

/// Accounts that are never approved are limited in number and time. When they end, only their
/// number stays used.
#[test]
fn unapproved_sign_ups_expire() {
    let mut place = PeopleFixture::new();
    let at = |place: &PeopleFixture| act(now_of(&place.clock));
    let sign_up = |place: &mut PeopleFixture, name: &str| {
        let wish = SignUp { login: login(name), password: password(PASSWORD), approve: false };
        let act = at(place);
        place.accounts.as_ref().unwrap().sign_up(wish, &act, &mut place.entropy)
    };
    let (jane, john) = (sign_up(&mut place, "jane").unwrap(), sign_up(&mut place, "john").unwrap());
    let granted = sign_up(&mut place, "granted").unwrap().account();
    place.accounts().grant(granted, Credits(5), "a gift".to_owned(), &at(&place)).unwrap();
    let made_by_operator = place.accounts().create_account("Acme".to_owned(), &at(&place)).unwrap().id;
    let of_john = place.open(john).unwrap();
    for number in 3..PENDING_SIGN_UPS_MAX {
        sign_up(&mut place, &format!("name{number}")).unwrap();
    }
    let refused = sign_up(&mut place, "late").unwrap_err().to_string();
    assert!(refused.contains("too many new accounts"), "{refused}");
    place.accounts().approve_account(jane.account(), &at(&place)).unwrap();
    sign_up(&mut place, "late").unwrap();

    place.clock.advance_millis(PENDING_MILLIS as u64 - 1);
    place.accounts().maintain(now_of(&place.clock)).unwrap();
    assert!(place.accounts().person(john.account()).is_some());
    place.clock.advance_millis(1);
    place.accounts().maintain(now_of(&place.clock)).unwrap();
    for _ in 0..2 {
        let left: Vec<AccountId> =
            place.accounts().accounts(now_of(&place.clock)).unwrap().iter().map(|view| view.record.id).collect();
        assert_eq!(left, [jane.account(), granted, made_by_operator]);
        assert!(place.accounts().person(john.account()).is_none() && place.who(&of_john).is_none());
        assert!(place.accounts().keys(Some(john.account())).is_empty());
        place.accounts().verify_ledger().unwrap();
        place.restart();
    }
    assert_ne!(sign_up(&mut place, "john").unwrap().account(), john.account(), "the name is free, the number is not");
}

#[test]
fn a_link_works_once_within_three_days_until_a_newer_one() {
    let mut place = PeopleFixture::new();
    let act_now = act(now_of(&place.clock));
    let invited = place.accounts().create_account("Jane Roe".to_owned(), &act_now).unwrap().id;
    let ended = place.link(invited, PersonRole::Customer);
    let link = place.link(invited, PersonRole::Customer);
    let seen = |place: &PeopleFixture, link| place.accounts().link(link, now_of(&place.clock).wall).unwrap();
    assert_eq!(seen(&place, &ended), None);
    assert_eq!(seen(&place, &link), Some(LinkView::Invited { account: invited, name: "Jane Roe".to_owned() }));
    assert!(place.use_link(&ended, Some("jane"), PASSWORD).unwrap().is_none());
    assert!(place.use_link(&link, None, PASSWORD).is_err(), "a name is needed");
    assert!(seen(&place, &link).is_some(), "what was refused did not use it up");
    let proof = place.use_link(&link, Some("jane"), PASSWORD).unwrap().unwrap();
    assert!(place.use_link(&link, Some("thief"), "another password").unwrap().is_none());
    let session = place.open(proof).unwrap();

    let reset = place.link(invited, PersonRole::Customer);
    assert_eq!(seen(&place, &reset), Some(LinkView::NewPassword { login: login("jane") }));
    assert!(place.who(&session).is_some(), "opening a link ended the session");
    place.restart();
    place.use_link(&reset, None, "battery staple").unwrap().unwrap();
    assert!(place.who(&session).is_none());
    assert!(place.accounts().check_login("jane", "battery staple").is_some());

    let late = place.link(invited, PersonRole::Customer);
    place.clock.advance_millis(3 * 86_400_000);
    assert_eq!(seen(&place, &late), None);
    assert!(place.use_link(&late, None, "a third password").unwrap().is_none());
    place.accounts().maintain(now_of(&place.clock)).unwrap();
}

#[test]
fn the_first_operator_link_works_only_once() {
    let mut place = PeopleFixture::new();
    let make = |place: &PeopleFixture, seed| {
        let act = act(now_of(&place.clock));
        place.accounts().first_operator_link(&act, &mut SeededEntropy(seed)).unwrap()
    };
    let (lost, link) = (make(&place, 5).unwrap(), make(&place, 6).unwrap());
    assert!(place.use_link(&lost, Some("root"), PASSWORD).unwrap().is_none());
    let proof = place.use_link(&link, Some("root"), PASSWORD).unwrap().unwrap();
    assert_eq!(place.accounts().person(proof.account()).unwrap().role, PersonRole::Operator);
    assert!(make(&place, 7).is_none());
    let reset = place.link(proof.account(), PersonRole::Customer);
    place.use_link(&reset, None, "battery staple").unwrap().unwrap();
    assert_eq!(
        place.accounts().person(proof.account()).unwrap().role,
        PersonRole::Operator,
        "a link takes no role away"
    );
}

#[test]
fn calls_of_a_signed_in_person_are_metered_like_those_of_a_key() {
    let mut place = PeopleFixture::new();
    let proof = place.signed_up("jane");
    let token = place.open(proof).unwrap();
    let now = now_of(&place.clock);
    let person = place.accounts().session(&token, now).unwrap();
    let call = |place: &PeopleFixture| {
        let paced = place.accounts().authenticate_person(&person, now)?.require(ScopeSet::ALL)?.check_rate(now)?;
        match paced.reserve("search", Credits(2), None, now)? {
            Reserved::Fresh(reservation) => Ok(reservation.begin()?.settle_blocking()?),
            Reserved::Replay(_) => unreachable!(),
        }
    };
    let free = settings().tariff.free;
    let receipt = call(&place).unwrap();
    assert_eq!(receipt.allotment_remaining(), free.monthly_units - 2);
    let entry = &place.accounts().recent_entries(proof.account(), 1).unwrap()[0];
    assert_eq!((entry.key_prefix.as_deref(), entry.from_allotment), (Some("web pages"), 2));
    for _ in 1..free.limits.per_minute {
        call(&place).unwrap();
    }
    assert!(matches!(call(&place), Err(Refusal::TooFast(_))));
    place.restart();
    assert!(matches!(call(&place), Err(Refusal::TooFast(_))), "the minute is counted across a restart");
    let act = act(now);
    let web = place.accounts().keys(Some(proof.account())).pop().unwrap().record;
    assert_eq!(web.kind, KeyKind::Web);
    assert!(place.accounts().revoke_key(web.id, &act).is_err());
    assert!(place.accounts().rotate_key(web.id, 0, &act, &mut SeededEntropy(3)).is_err());
    place.accounts().disable_account(proof.account(), &act).unwrap();
    assert!(matches!(call(&place), Err(Refusal::Key(BadKey::AccountNotApproved))));
}

#[test]
fn a_person_has_a_bounded_number_of_sessions() {
    let mut place = PeopleFixture::new();
    let proof = place.signed_up("jane");
    let mut tokens = Vec::new();
    for _ in 0..=SESSIONS_MAX {
        place.clock.advance_millis(1000);
        tokens.push(place.open(proof).unwrap());
    }
    assert!(place.who(&tokens[0]).is_none());
    assert!(tokens[1..].iter().all(|token| place.who(token).is_some()));
}

/// An event in the sessions of two people.
#[derive(Clone, Copy, Debug)]
enum Step {
    Open(usize),
    Visit(usize),
    End(usize),
    EndOthers(usize),
    ChangePassword(usize),
    Wait(u32),
    Maintain,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..2usize).prop_map(Step::Open),
        6 => (0..30usize).prop_map(Step::Visit),
        2 => (0..30usize).prop_map(Step::End),
        1 => (0..30usize).prop_map(Step::EndOthers),
        1 => (0..2usize).prop_map(Step::ChangePassword),
        4 => (1..90u32).prop_map(Step::Wait),
        2 => Just(Step::Maintain),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..60)
}

/// A session in the model.
struct ModelSession {
    owner: usize,
    opened: UnixMillis,
    seen: UnixMillis,
}

impl ModelSession {
    fn ends_at(&self) -> UnixMillis {
        self.seen.plus_millis(IDLE_MILLIS).min(self.opened.plus_millis(LONGEST_MILLIS))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150 / crate::ONE_IN))]
    #[test]
    fn sessions_never_differ_from_the_model(steps in steps()) {
        let mut place = PeopleFixture::new();
        let mut proofs = [place.signed_up("jane"), place.signed_up("john")];
        let mut passwords = [0, 0];
        let mut tokens: Vec<LinkToken> = Vec::new();
        let mut model: BTreeMap<usize, ModelSession> = BTreeMap::new();
        for step in steps {
            let now = now_of(&place.clock);
            model.retain(|_, session| now.wall < session.ends_at());
            match step {
                Step::Open(owner) => {
                    // The limit of sessions has a separate test.
                    if model.values().filter(|session| session.owner == owner).count() >= SESSIONS_MAX / 2 {
                        continue;
                    }
                    tokens.push(place.open(proofs[owner]).unwrap());
                    model.insert(tokens.len() - 1, ModelSession { owner, opened: now.wall, seen: now.wall });
                }
                Step::Visit(nth) => {
                    let Some(token) = tokens.get(nth) else { continue };
                    let expected = model.get_mut(&nth).map(|session| {
                        session.seen = now.wall;
                        proofs[session.owner].account()
                    });
                    prop_assert_eq!(place.who(token), expected);
                }
                Step::End(nth) | Step::EndOthers(nth) => {
                    let Some(session) = tokens.get(nth).and_then(|token| place.accounts().session(token, now)) else {
                        prop_assert!(!model.contains_key(&nth));
                        continue;
                    };
                    let own = model.get_mut(&nth).unwrap();
                    own.seen = now.wall;
                    let owner = own.owner;
                    let others = matches!(step, Step::EndOthers(_));
                    let which =
                        if others { EndSessions::OthersThan(session.session) } else { EndSessions::One(session.session) };
                    place.accounts().end_sessions(session.account, which, &act(now)).unwrap();
                    model.retain(|at, session| session.owner != owner || (*at == nth) == others);
                }
                Step::ChangePassword(owner) => {
                    passwords[owner] += 1;
                    let new = format!("password {}", passwords[owner]);
                    proofs[owner] = place.change_password(proofs[owner], &new).unwrap();
                    model.retain(|_, session| session.owner != owner);
                }
                Step::Wait(minutes) => place.clock.advance_millis(u64::from(minutes) * 60_000),
                Step::Maintain => place.accounts().maintain(now).unwrap(),
                Step::Restart => {
                    // Maintenance runs every half minute. Changes after it may be lost in a restart.
                    place.accounts().maintain(now).unwrap();
                    place.restart();
                }
            }
            let now = now_of(&place.clock);
            for (owner, proof) in proofs.iter().enumerate() {
                let live = model.values().filter(|session| session.owner == owner && now.wall < session.ends_at()).count();
                prop_assert_eq!(place.accounts().sessions(proof.account(), now.wall).len(), live);
            }
        }
    }
}
