//! What is on a disk after its power fails: everything synced, and of the rest some sectors.

use hornbook_accounts::entropy::SeededEntropy;

use crate::support::disk::{DiskEvent, SECTOR_BYTES};

/// A possible state of a disk that had these bytes when the power failed after `events`.
pub(crate) fn bytes_after_power_cut(before: Vec<u8>, events: &[DiskEvent], random: &mut SeededEntropy) -> Vec<u8> {
    let synced = events.iter().rposition(|event| matches!(event, DiskEvent::Sync)).map_or(0, |at| at + 1);
    let mut bytes = before;
    for event in &events[..synced] {
        replay(&mut bytes, event, || true);
    }
    let survivors_in_4 = random.below(5);
    for event in &events[synced..] {
        replay(&mut bytes, event, || random.below(4) < survivors_in_4);
    }
    bytes
}

/// Replays an event with those of its sectors that survive. A length survives always: file systems journal it.
fn replay(bytes: &mut Vec<u8>, event: &DiskEvent, mut survives: impl FnMut() -> bool) {
    match event {
        DiskEvent::Write { offset, data } => {
            for (sector, chunk) in data.chunks(SECTOR_BYTES).enumerate() {
                let start = *offset as usize + sector * SECTOR_BYTES;
                if let Some(written) = bytes.get_mut(start..start + chunk.len())
                    && survives()
                {
                    written.copy_from_slice(chunk);
                }
            }
        }
        DiskEvent::SetLen(len) => bytes.resize(*len as usize, 0),
        DiskEvent::Sync | DiskEvent::Acknowledged(_) => {}
    }
}
