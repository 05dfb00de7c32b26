//! The format number of the state file, and the migration steps from older formats.

use serde_json::Value;

use super::check;
use super::database::{ChangeNumber, StateDatabase};
use super::error::{DamageKind, StateError};
use super::table::StateTable;
use super::transaction::{StateReader, StateWriter};

/// Increases with every change of the stored format.
pub const SCHEMA_VERSION: u32 = 11;

pub(super) const SCHEMA_KEY: &[u8] = b"schema";
/// The mark of a state whose records are still being copied into it.
pub(super) const UNFINISHED_KEY: &[u8] = b"unfinished copy";

/// Migrates a file to the next format: step 0 from format 1 to 2. Format 1 is the first.
pub(super) type MigrationStep = fn(&mut StateWriter) -> Result<(), StateError>;
pub(super) const STEPS: [MigrationStep; SCHEMA_VERSION as usize - 1] = [
    add_acts,
    add_checkouts,
    add_drafts,
    add_people,
    add_payments,
    add_indexes,
    add_spending,
    add_watches,
    add_leases,
    add_agent_codes,
];

/// Format 2 adds an audit log. Idempotency records lost two fields; the old ones are removed,
/// because they would last only minutes.
fn add_acts(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Acts)?;
    writing.clear_table(StateTable::Idempotency)?;
    writing.clear_table(StateTable::IdempotencyAges)
}

/// Format 3 adds checkouts: the pages on which a payment provider takes payments.
fn add_checkouts(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Checkouts)
}

/// Format 4 adds drafts of formation orders.
fn add_drafts(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Drafts)?;
    writing.create(StateTable::DraftAges)
}

/// Format 5 adds people who sign in. Earlier sessions had other fields, and none was ever opened.
fn add_people(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::People)?;
    writing.create(StateTable::Logins)?;
    writing.create(StateTable::Links)?;
    writing.clear_table(StateTable::Sessions)
}

/// Format 6 records what each payment paid for. If one payment paid for two things, which earlier
/// formats allowed, the first one keeps it.
fn add_payments(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Payments)?;
    let mut paid = Vec::new();
    for (table, kind, at) in
        [(StateTable::Purchases, "purchase", "/paymentReference"), (StateTable::Orders, "order", "/payment/reference")]
    {
        writing.scan(table, &[], &mut |key, payload| {
            let bad = |_| StateError::bad_record(table.name(), key);
            let record: Value = serde_json::from_slice(payload).map_err(bad)?;
            if let Some(reference) = record.pointer(at).and_then(Value::as_str) {
                paid.push((reference.to_owned(), serde_json::json!({ kind: record["id"] }).to_string()));
            }
            Ok(true)
        })?;
    }
    for (reference, what) in paid {
        if writing.get(StateTable::Payments, reference.as_bytes())?.is_none() {
            writing.put(StateTable::Payments, reference.as_bytes(), what.as_bytes())?;
        }
    }
    Ok(())
}

/// Format 7 adds indexes, reports on payments that are not known yet, and a list of problems in
/// each checkout. Its acts name accounts by number only.
fn add_indexes(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::EarlyReports)?;
    rewrite(writing, StateTable::Checkouts, |checkout| {
        let problem = checkout.remove("problem").filter(|problem| !problem.is_null());
        checkout.insert("problems".to_owned(), problem.into_iter().collect());
    })?;
    rewrite(writing, StateTable::Acts, |act| {
        let names_a_person = act.get("act").is_some_and(|name| name == "account create");
        if let Some(Value::String(on)) = act.get_mut("on").filter(|_| names_a_person) {
            on.truncate(on.find(',').unwrap_or(on.len()));
        }
    })?;
    writing.rebuild_indexes()
}

/// Format 8 adds what keys with a budget spent. No key of an earlier format has one.
fn add_spending(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Spending)
}

/// Format 9 adds watches, what was reported to them, and where reports are sent.
fn add_watches(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Watches)?;
    writing.create(StateTable::WatchReports)?;
    writing.create(StateTable::WatchWebhooks)
}

/// Format 10 adds what servers that share the state have leased.
fn add_leases(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::Leases)?;
    writing.create(StateTable::Servers)
}

/// Format 11 adds the codes with which agents fetch what people allowed them.
fn add_agent_codes(writing: &mut StateWriter) -> Result<(), StateError> {
    writing.create(StateTable::AgentCodes)
}

/// Changes every record of a table.
fn rewrite(
    writing: &mut StateWriter,
    table: StateTable,
    change: impl Fn(&mut serde_json::Map<String, Value>),
) -> Result<(), StateError> {
    let mut changed = Vec::new();
    writing.scan(table, &[], &mut |key, payload| {
        let bad = |_| StateError::bad_record(table.name(), key);
        let mut record = serde_json::from_slice(payload).map_err(bad)?;
        change(&mut record);
        changed.push((key.to_vec(), Value::Object(record).to_string()));
        Ok(true)
    })?;
    writing.put_all(table, changed)
}

/// Creates every table in an empty database, and stores the format number. Opening never does this:
/// a database without a schema has lost it.
pub fn create_schema(database: &dyn StateDatabase) -> Result<(), StateError> {
    let mut writing = StateWriter::begin(database)?;
    // Two servers may find the same database empty.
    if writing.number_before() != ChangeNumber::default() && writing.get(StateTable::Meta, SCHEMA_KEY)?.is_some() {
        return Ok(());
    }
    for table in StateTable::ALL {
        writing.create(table)?;
    }
    writing.put(StateTable::Meta, SCHEMA_KEY, &SCHEMA_VERSION.to_le_bytes())?;
    writing.commit().map(drop)
}

/// Refuses newer formats and damaged files, and migrates older formats to the one after the last
/// step. `place` names the file.
pub(super) fn check_and_migrate(
    database: &mut dyn StateDatabase,
    place: &str,
    steps: &[MigrationStep],
) -> Result<(), StateError> {
    if is_unfinished(&StateReader::begin(database)?)? {
        return Err(StateError::Unfinished { place: place.to_owned() });
    }
    let newest = steps.len() + 1;
    let found = match format(database)? {
        None | Some(0) => return Err(StateError::damaged(place, DamageKind::NoSchema)),
        Some(found) if found as usize > newest => {
            return Err(StateError::TooNew { place: place.to_owned(), found, newest: newest as u32 });
        }
        Some(found) => found as usize,
    };
    // Nothing is written before everything is checked: a migration could make damage worse.
    check::integrity(database, place)?;
    if found < newest {
        check::existing_tables(database, place)?;
        migrate(database, &steps[found - 1..], newest as u32)?;
    }
    if database.is_read_whole_at_opening() { check::all_checksums(database, place) } else { Ok(()) }
}

/// Whether records are still being copied into this state.
fn is_unfinished(reading: &StateReader) -> Result<bool, StateError> {
    Ok(reading.has(StateTable::Meta)? && reading.get(StateTable::Meta, UNFINISHED_KEY)?.is_some())
}

/// Runs all steps in one transaction, so that a crash leaves the old format, never one in between.
fn migrate(database: &dyn StateDatabase, due: &[MigrationStep], newest: u32) -> Result<(), StateError> {
    let mut writing = StateWriter::begin(database)?;
    for step in due {
        step(&mut writing)?;
    }
    writing.put(StateTable::Meta, SCHEMA_KEY, &newest.to_le_bytes())?;
    writing.commit().map(drop)
}

fn format(database: &dyn StateDatabase) -> Result<Option<u32>, StateError> {
    let reading = StateReader::begin(database)?;
    if !reading.has(StateTable::Meta)? {
        return Ok(None);
    }
    let Some(bytes) = reading.get(StateTable::Meta, SCHEMA_KEY)? else { return Ok(None) };
    let bytes = bytes.try_into().map_err(|_| StateError::bad_record(StateTable::Meta.name(), SCHEMA_KEY))?;
    Ok(Some(u32::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use redb::Database;

    use super::super::redb_database::definition;
    use super::super::{Index, STATE_FILE, State};
    use super::*;

    fn open_database(data: &std::path::Path) -> Database {
        Database::open(data.join(STATE_FILE)).unwrap()
    }

    #[test]
    fn a_newer_format_is_refused_with_both_numbers() {
        let data = tempfile::tempdir().unwrap();
        let state = State::open(data.path()).unwrap();
        let mut writing = state.write().unwrap();
        let newer = SCHEMA_VERSION + 1;
        writing.put(StateTable::Meta, SCHEMA_KEY, &newer.to_le_bytes()).unwrap();
        writing.commit().unwrap();
        drop(state);
        let message = State::open(data.path()).err().unwrap().to_string();
        let both = format!("state format {newer}, but this hornbook reads formats up to {SCHEMA_VERSION}");
        assert!(message.contains(&both), "{message}");
    }

    const APPEND: MigrationStep = |writing| {
        let mut trail = writing.get(StateTable::Meta, b"trail")?.unwrap_or_default();
        trail.push(b'.');
        writing.put(StateTable::Meta, b"trail", &trail)
    };
    const FAIL: MigrationStep = |_| Err(StateError::bad_record("meta", b"trail"));

    /// Creates a file of format 1.
    fn fresh(data: &std::path::Path) -> Database {
        drop(State::open(data).unwrap());
        let database = open_database(data);
        let mut writing = StateWriter::begin(&database).unwrap();
        writing.put(StateTable::Meta, SCHEMA_KEY, &1u32.to_le_bytes()).unwrap();
        writing.put(StateTable::Idempotency, b"record of format 1", b"with more fields").unwrap();
        writing.commit().unwrap();
        let writing = database.begin_write().unwrap();
        assert!(writing.delete_table(definition(StateTable::Acts)).unwrap());
        writing.commit().unwrap();
        database
    }

    #[test]
    fn a_file_of_format_1_gets_an_audit_log_and_loses_its_idempotency_records() {
        let data = tempfile::tempdir().unwrap();
        drop(fresh(data.path()));
        let state = State::open(data.path()).unwrap();
        let reading = state.read().unwrap();
        assert_eq!((reading.count(StateTable::Acts).unwrap(), reading.count(StateTable::Idempotency).unwrap()), (0, 0));
        drop((reading, state));
        assert_eq!(format(&open_database(data.path())).unwrap(), Some(SCHEMA_VERSION));
    }

    #[test]
    fn a_file_of_format_3_gets_tables_for_drafts() {
        let data = tempfile::tempdir().unwrap();
        drop(State::open(data.path()).unwrap());
        let database = open_database(data.path());
        let mut writing = StateWriter::begin(&database).unwrap();
        writing.put(StateTable::Meta, SCHEMA_KEY, &3u32.to_le_bytes()).unwrap();
        writing.put(StateTable::Orders, b"an order of format 3", br#"{"id":"stays"}"#).unwrap();
        writing.commit().unwrap();
        let writing = database.begin_write().unwrap();
        assert!(writing.delete_table(definition(StateTable::Drafts)).unwrap());
        assert!(writing.delete_table(definition(StateTable::DraftAges)).unwrap());
        writing.commit().unwrap();
        drop(database);
        let state = State::open(data.path()).unwrap();
        let reading = state.read().unwrap();
        assert_eq!((reading.count(StateTable::Drafts).unwrap(), reading.count(StateTable::Orders).unwrap()), (0, 1));
        drop((reading, state));
        assert_eq!(format(&open_database(data.path())).unwrap(), Some(SCHEMA_VERSION));
    }

    #[test]
    fn a_file_of_format_4_gets_tables_for_people_and_loses_its_sessions() {
        let data = tempfile::tempdir().unwrap();
        drop(State::open(data.path()).unwrap());
        let database = open_database(data.path());
        let mut writing = StateWriter::begin(&database).unwrap();
        writing.put(StateTable::Meta, SCHEMA_KEY, &4u32.to_le_bytes()).unwrap();
        writing.put(StateTable::Accounts, &[0, 0, 0, 1], br#"{"name":"an account of format 4"}"#).unwrap();
        writing.put(StateTable::Sessions, &[7; 32], br#"{"device":"a session of format 4"}"#).unwrap();
        writing.commit().unwrap();
        let writing = database.begin_write().unwrap();
        for table in [StateTable::People, StateTable::Logins, StateTable::Links] {
            assert!(writing.delete_table(definition(table)).unwrap());
        }
        writing.commit().unwrap();
        drop(database);
        let state = State::open(data.path()).unwrap();
        let reading = state.read().unwrap();
        let counts =
            [StateTable::Accounts, StateTable::Sessions, StateTable::People, StateTable::Logins, StateTable::Links];
        assert_eq!(counts.map(|table| reading.count(table).unwrap()), [1, 0, 0, 0, 0]);
        drop((reading, state));
        assert_eq!(format(&open_database(data.path())).unwrap(), Some(SCHEMA_VERSION));
    }

    #[test]
    fn a_file_of_format_5_learns_what_each_payment_paid() {
        let data = tempfile::tempdir().unwrap();
        drop(State::open(data.path()).unwrap());
        let database = open_database(data.path());
        let mut writing = StateWriter::begin(&database).unwrap();
        writing.put(StateTable::Meta, SCHEMA_KEY, &5u32.to_le_bytes()).unwrap();
        writing.put(StateTable::Purchases, &[1], br#"{"id":"pur-1","paymentReference":"pi_1"}"#).unwrap();
        writing.put(StateTable::Purchases, &[2], br#"{"id":"pur-2","paymentReference":null}"#).unwrap();
        writing.put(StateTable::Orders, &[3], br#"{"id":"ord-1","payment":{"reference":"pi_1"}}"#).unwrap();
        writing.put(StateTable::Orders, &[4], br#"{"id":"ord-2","payment":{"reference":"pi_2"}}"#).unwrap();
        writing.put(StateTable::Orders, &[5], br#"{"id":"ord-3","payment":null}"#).unwrap();
        writing.commit().unwrap();
        let writing = database.begin_write().unwrap();
        assert!(writing.delete_table(definition(StateTable::Payments)).unwrap());
        writing.commit().unwrap();
        drop(database);
        let state = State::open(data.path()).unwrap();
        let reading = state.read().unwrap();
        assert_eq!(reading.count(StateTable::Payments).unwrap(), 2);
        let paid =
            |reference: &str| String::from_utf8(reading.get(StateTable::Payments, reference.as_bytes()).unwrap()?).ok();
        assert_eq!(paid("pi_1").as_deref(), Some(r#"{"purchase":"pur-1"}"#));
        assert_eq!(paid("pi_2").as_deref(), Some(r#"{"order":"ord-2"}"#));
        drop(reading);
        drop(state);
        assert_eq!(format(&open_database(data.path())).unwrap(), Some(SCHEMA_VERSION));
    }

    #[test]
    fn a_file_of_format_6_gets_indexes_lists_of_problems_and_acts_without_names() {
        let data = tempfile::tempdir().unwrap();
        drop(State::open(data.path()).unwrap());
        let database = open_database(data.path());
        let mut writing = StateWriter::begin(&database).unwrap();
        writing.put(StateTable::Sessions, &[7; 32], br#"{"account":"acct_1"}"#).unwrap();
        writing
            .put(StateTable::Checkouts, &[8; 16], br#"{"pays":{"order":"o"},"payment":"pi_1","problem":"paid twice"}"#)
            .unwrap();
        writing
            .put(StateTable::Checkouts, &[9; 16], br#"{"pays":{"purchase":"p"},"payment":null,"problem":null}"#)
            .unwrap();
        writing.put(StateTable::Acts, &[1], br#"{"act":"account create","on":"acct_1, ada@example.org"}"#).unwrap();
        writing.put(StateTable::Acts, &[2], br#"{"act":"purchase paid","on":"pur_1 of acct_1, 5 credits"}"#).unwrap();
        writing.put(StateTable::Meta, SCHEMA_KEY, &6u32.to_le_bytes()).unwrap();
        writing.commit().unwrap();
        let writing = database.begin_write().unwrap();
        assert!(writing.delete_table(definition(StateTable::Index)).unwrap());
        assert!(writing.delete_table(definition(StateTable::EarlyReports)).unwrap());
        writing.commit().unwrap();
        drop(database);
        let state = State::open(data.path()).unwrap();
        let reading = state.read().unwrap();
        let json = |table, key: &[u8]| String::from_utf8(reading.get(table, key).unwrap().unwrap()).unwrap();
        let found = |index, owner| reading.owned_by(index, owner).unwrap().len();
        assert_eq!(found(Index::Sessions, "acct_1"), 1);
        assert_eq!((found(Index::CheckoutsByPayment, "pi_1"), found(Index::CheckoutsByOrder, "o")), (1, 1));
        assert!(json(StateTable::Checkouts, &[8; 16]).contains(r#""problems":["paid twice"]"#));
        assert!(json(StateTable::Checkouts, &[9; 16]).contains(r#""problems":[]"#));
        assert!(json(StateTable::Acts, &[1]).contains(r#""on":"acct_1""#));
        assert!(json(StateTable::Acts, &[2]).contains(r#""on":"pur_1 of acct_1, 5 credits""#));
    }

    fn trail(database: &Database) -> Option<Vec<u8>> {
        StateReader::begin(database).unwrap().get(StateTable::Meta, b"trail").unwrap()
    }

    #[test]
    fn older_formats_pass_through_every_step_that_is_due() {
        let data = tempfile::tempdir().unwrap();
        let mut database = fresh(data.path());
        let writing = database.begin_write().unwrap();
        writing.open_table(definition(StateTable::Acts)).unwrap();
        writing.commit().unwrap();
        let mut open = |steps: &[MigrationStep]| check_and_migrate(&mut database, "the file", steps);
        open(&[APPEND, APPEND]).unwrap();
        open(&[APPEND, APPEND]).unwrap();
        open(&[APPEND, APPEND, APPEND]).unwrap();
        assert!(open(&[APPEND, APPEND, APPEND, APPEND, FAIL]).is_err());
        assert!(matches!(open(&[APPEND]), Err(StateError::TooNew { found: 4, .. })));
        assert_eq!((format(&database).unwrap(), trail(&database)), (Some(4), Some(b"...".to_vec())));
    }

    #[test]
    fn a_step_may_add_a_table_that_the_older_format_lacked() {
        let data = tempfile::tempdir().unwrap();
        let mut database = fresh(data.path());
        let writing = database.begin_write().unwrap();
        assert!(writing.delete_table(definition(StateTable::Sessions)).unwrap());
        writing.commit().unwrap();
        assert!(check_and_migrate(&mut database, "the file", &[]).is_err());
        let add: MigrationStep =
            |writing| writing.create(StateTable::Sessions).and_then(|()| writing.create(StateTable::Acts));
        check_and_migrate(&mut database, "the file", &[add]).unwrap();
        assert_eq!(format(&database).unwrap(), Some(2));
    }

    #[test]
    fn a_damaged_older_format_is_refused_before_anything_is_written() {
        let data = tempfile::tempdir().unwrap();
        let mut database = fresh(data.path());
        let writing = database.begin_write().unwrap();
        writing.open_table(definition(StateTable::Wallets)).unwrap().insert(&[0u8; 4][..], &[1u8; 20][..]).unwrap();
        writing.commit().unwrap();
        let error = check_and_migrate(&mut database, "the file", &[APPEND]).unwrap_err().to_string();
        assert!(error.contains("table wallets"), "{error}");
        assert_eq!((format(&database).unwrap(), trail(&database)), (Some(1), None));
    }
}
