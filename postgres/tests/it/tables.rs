//! The database answers like the state file, whatever is put, removed, scanned, dropped and committed.

use hornbook_accounts::state::{
    ChangeNumber, KeyOrder, KeyRange, StateDatabase, StateStorage, StateTable, TableReader,
};
use hornbook_base::random::SplitMix64;

use crate::TestState;
use crate::support::disk::SimulatedDisk;

const TABLES: [StateTable; 3] = [StateTable::Accounts, StateTable::Ledger, StateTable::Index];

/// Keys that are prefixes of each other, with the lowest and highest bytes.
fn key(random: &mut SplitMix64) -> Vec<u8> {
    (0..1 + random.index(3)).map(|_| [0, 1, 0x7f, 0x80, 0xff][random.index(5)]).collect()
}

/// What a reader says of random keys and ranges, with scans that stop early.
fn results_of(reader: &dyn TableReader, mut random: SplitMix64) -> Vec<String> {
    let mut results = Vec::new();
    for _ in 0..12 {
        let table = TABLES[random.index(3)];
        let (start, end) = (key(&mut random), key(&mut random));
        let order = [KeyOrder::LowestFirst, KeyOrder::HighestFirst][random.index(2)];
        let range = match random.below(3) {
            0 => KeyRange { order, ..KeyRange::ALL },
            1 => KeyRange { start: &start, end: None, order },
            _ => KeyRange { start: &start, end: Some(&end), order },
        };
        let (mut found, most) = (Vec::new(), 1 + random.index(60));
        let scanned = reader.scan(table, range, &mut |key, record| {
            found.push((key.to_vec(), record.to_vec()));
            Ok(found.len() < most)
        });
        scanned.unwrap();
        results.push(format!("{table:?} {range:?} {found:?} {:?}", reader.get(table, &start).unwrap()));
    }
    results.extend(TABLES.iter().map(|table| format!("{table:?} {}", reader.count(*table).unwrap())));
    results
}

#[test]
fn a_database_answers_like_the_state_file() {
    let (database, file) = (TestState::fresh().medium().open().unwrap(), SimulatedDisk::with_schema().open().unwrap());
    let both: [&dyn StateDatabase; 2] = [&*database, &*file];
    let mut number = database.begin_read().unwrap().number();
    for round in 0..60 {
        let is_committed = round % 4 != 3;
        let results = both.map(|database| {
            let mut random = SplitMix64(round);
            let mut writer = database.begin_write().unwrap();
            for _ in 0..25 {
                let table = TABLES[random.index(3)];
                match random.below(20) {
                    0 => writer.clear(table).unwrap(),
                    1..5 => writer.remove(table, &key(&mut random)).unwrap(),
                    _ => {
                        let records = (0..random.index(6)).map(|_| (key(&mut random), vec![round as u8; 40]));
                        let records: Vec<_> = records.collect();
                        writer.put_all(table, &mut records.into_iter()).unwrap();
                    }
                }
            }
            let mut results = results_of(&*writer, SplitMix64(round + 1000));
            if is_committed {
                writer.commit().unwrap();
            } else {
                drop(writer);
            }
            results.append(&mut results_of(&*database.begin_read().unwrap(), SplitMix64(round + 2000)));
            results
        });
        assert_eq!(results[0], results[1], "round {round}");
        number = ChangeNumber(number.0 + i64::from(is_committed));
        assert_eq!(database.begin_read().unwrap().number(), number);
    }
}
