//! Reads rows of `hornbook_records`.

use deadpool_postgres::Object;
use hornbook_accounts::state::{ChangedRecord, KeyOrder, KeyRange, StateTable};

use super::connections::answer;
use super::failure::DatabaseFailure;

pub(crate) type Row = (Vec<u8>, Vec<u8>);

pub(crate) async fn get(client: &Object, table: StateTable, key: &[u8]) -> Result<Option<Vec<u8>>, DatabaseFailure> {
    let statement =
        answer(client.prepare_cached("SELECT record FROM hornbook_records WHERE tbl = $1 AND key = $2")).await?;
    let row = answer(client.query_opt(&statement, &[&table.name(), &key])).await?;
    Ok(row.map(|row| row.get(0)))
}

pub(crate) async fn count(client: &Object, table: StateTable) -> Result<u64, DatabaseFailure> {
    let row =
        answer(client.query_one("SELECT count(*) FROM hornbook_records WHERE tbl = $1", &[&table.name()])).await?;
    Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0))
}

/// Rows of servers before this column was added have no keys.
const REMEMBERED: &str = "SELECT count(keys) FROM hornbook_changes WHERE number > $1";
const CHANGED: &str = "SELECT changed.tbl, changed.key, records.record FROM (
        SELECT DISTINCT each.tbl, each.key FROM hornbook_changes, unnest(tables, keys) AS each (tbl, key)
        WHERE number > $1 AND each.tbl = ANY ($2)) AS changed
    LEFT JOIN hornbook_records AS records ON records.tbl = changed.tbl AND records.key = changed.key";

/// The records of these tables that were changed after one change and up to another. None if that is not remembered.
pub(crate) async fn changed_after(
    client: &Object,
    after: i64,
    newest: i64,
    tables: &[StateTable],
) -> Result<Option<Vec<ChangedRecord>>, DatabaseFailure> {
    let statement = answer(client.prepare_cached(REMEMBERED)).await?;
    let remembered: i64 = answer(client.query_one(&statement, &[&after])).await?.get(0);
    if remembered != newest - after {
        return Ok(None);
    }
    let statement = answer(client.prepare_cached(CHANGED)).await?;
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let rows = answer(client.query(&statement, &[&after, &names])).await?;
    let changed = rows.iter().filter_map(|row| {
        let table = *tables.iter().find(|table| table.name() == row.get::<_, &str>(0))?;
        Some(ChangedRecord { table, key: row.get(1), record: row.get(2) })
    });
    Ok(Some(changed.collect()))
}

/// The next rows of a range, which grow in number: a caller that wants one row gets few.
#[derive(Clone)]
pub(crate) struct Batches {
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    order: KeyOrder,
    limit: i64,
    is_over: bool,
}

/// RowArrays in the order of the range, and the part of the range that they cover.
pub(crate) struct RowBatch {
    pub(crate) rows: Vec<Row>,
    pub(crate) start: Vec<u8>,
    pub(crate) end: Option<Vec<u8>>,
}

const FIRST_ROWS: i64 = 4;
const MOST_ROWS: i64 = 1024;

impl Batches {
    pub(crate) fn of(range: KeyRange<'_>) -> Self {
        let (start, end) = (range.start.to_vec(), range.end.map(<[u8]>::to_vec));
        let is_over = range.end.is_some_and(|end| end <= range.start);
        Self { start, end, order: range.order, limit: FIRST_ROWS, is_over }
    }

    pub(crate) async fn next(
        &mut self,
        client: &Object,
        table: StateTable,
    ) -> Result<Option<RowBatch>, DatabaseFailure> {
        if self.is_over {
            return Ok(None);
        }
        let rows = self.fetch(client, table).await?;
        self.is_over = rows.len() < usize::try_from(self.limit).unwrap_or(usize::MAX);
        self.limit = (self.limit * 8).min(MOST_ROWS);
        let mut batch = RowBatch { rows, start: self.start.clone(), end: self.end.clone() };
        if let (false, Some((last, _))) = (self.is_over, batch.rows.last()) {
            match self.order {
                KeyOrder::LowestFirst => {
                    // The smallest key after the last one.
                    self.start = [last.as_slice(), &[0]].concat();
                    batch.end = Some(self.start.clone());
                }
                KeyOrder::HighestFirst => {
                    self.end = Some(last.clone());
                    batch.start.clone_from(last);
                }
            }
        }
        Ok(Some(batch))
    }

    async fn fetch(&self, client: &Object, table: StateTable) -> Result<Vec<Row>, DatabaseFailure> {
        let until = if self.end.is_some() { "AND key < $4" } else { "" };
        let order = match self.order {
            KeyOrder::LowestFirst => "ASC",
            KeyOrder::HighestFirst => "DESC",
        };
        let text = format!(
            "SELECT key, record FROM hornbook_records WHERE tbl = $1 AND key >= $2 {until} ORDER BY key {order} LIMIT $3"
        );
        let statement = answer(client.prepare_cached(&text)).await?;
        let name = table.name();
        let rows = match &self.end {
            Some(end) => answer(client.query(&statement, &[&name, &self.start, &self.limit, end])).await?,
            None => answer(client.query(&statement, &[&name, &self.start, &self.limit])).await?,
        };
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}
