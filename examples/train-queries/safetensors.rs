//! Writes the file of a table: int8 rows with one scale each, and the hash of the passage table
//! that it belongs to.

use hornbook_corpus::embed::{DIMS, embedder};

use super::table::Row;

pub(super) fn bytes(rows: &[Row]) -> Vec<u8> {
    let largest = |row: &Row| row.iter().fold(0.0_f32, |largest, component| largest.max(component.abs()));
    let scales: Vec<f32> = rows.iter().map(|row| (largest(row) / 127.0).max(1e-8)).collect();
    let codes = rows.iter().zip(&scales).flat_map(|(row, scale)| {
        row.iter().map(move |component| (component / scale).round().clamp(-127.0, 127.0) as i8 as u8)
    });
    let (count, end) = (rows.len(), rows.len() * DIMS);
    let mut header = format!(
        r#"{{"__metadata__":{{"passages":"{}"}},"embedding":{{"dtype":"I8","shape":[{count},{DIMS}],"data_offsets":[0,{end}]}},"scale":{{"dtype":"F32","shape":[{count}],"data_offsets":[{end},{}]}}}}"#,
        embedder().fingerprint(),
        end + count * size_of::<f32>()
    );
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(codes);
    bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    bytes
}
