//! Stores the vectors computed so far in a file beside the destination of a build. Embedding takes hours: after an
//! interruption, the next build continues from this file.
//!
//! A record is one batch of passages. Batches are the same in every build of the same law, so a continued
//! build gives exactly the snapshot that an uninterrupted one gives. A process killed while it writes leaves part of a
//! record, a power failure may leave wrong bytes. A record that does not match its checksum is cut off, with everything after it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use hornbook_corpus::embed::TokenId;
use hornbook_corpus::vectors::EncoderHash;

/// The first bytes of the file; the hash of the encoder follows. Change it with the format.
const MAGIC: [u8; 16] = *b"hornbook-embed-1";
const HEADER_LEN: u64 = 16 + 32;
const CHECKSUM_LEN: usize = 8;

/// Identifies a batch by all tokens of its passages.
type BatchHash = [u8; 32];

/// Where the vectors of a batch are in the file.
#[derive(Clone, Copy, Debug)]
struct LoggedBatch {
    offset: u64,
    passages: usize,
}

#[derive(Debug)]
pub(super) struct EmbeddingLog {
    file: File,
    end: u64,
    dims: usize,
    batches: HashMap<BatchHash, LoggedBatch>,
}

impl EmbeddingLog {
    /// Opens or creates the file. What another encoder wrote to it is removed. None if another build uses it.
    pub(super) fn open(path: &Path, encoder: &EncoderHash, dims: usize) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let mut log = Self { file, end: HEADER_LEN, dims, batches: HashMap::new() };
        let header = [MAGIC.as_slice(), encoder].concat();
        let mut found = vec![0; header.len()];
        if log.file.read_exact_at(&mut found, 0).is_ok() && found == header {
            log.read_batches()?;
        } else {
            log.file.set_len(0)?;
            log.file.write_all_at(&header, 0)?;
        }
        log.file.set_len(log.end)?;
        log.file.seek(SeekFrom::Start(log.end))?;
        Ok(Some(log))
    }

    /// Lists the whole records.
    fn read_batches(&mut self) -> io::Result<()> {
        let mut rest = BufReader::with_capacity(1 << 20, self.file.try_clone()?);
        rest.seek(SeekFrom::Start(HEADER_LEN))?;
        let left = self.file.metadata()?.len();
        let mut head = [0; 32 + 4];
        while rest.read_exact(&mut head).is_ok() {
            let (hash, passages) = head.split_at(32);
            let passages = u32::from_le_bytes(passages.try_into().expect("four bytes follow the hash")) as usize;
            let vectors_len = passages * self.dims * 4;
            let record_len = (head.len() + vectors_len + CHECKSUM_LEN) as u64;
            if self.end + record_len > left {
                break;
            }
            let mut record = [head.as_slice(), &vec![0; vectors_len]].concat();
            rest.read_exact(&mut record[head.len()..])?;
            let mut sum = [0; CHECKSUM_LEN];
            rest.read_exact(&mut sum)?;
            if sum != checksum(&record) {
                break;
            }
            let batch = LoggedBatch { offset: self.end + head.len() as u64, passages };
            self.batches.insert(hash.try_into().expect("a hash has 32 bytes"), batch);
            self.end += record_len;
        }
        Ok(())
    }

    /// The number of passages in the file.
    pub(super) fn passages(&self) -> usize {
        self.batches.values().map(|batch| batch.passages).sum()
    }

    /// The vectors of a batch, if the file has them.
    pub(super) fn vectors(&self, batch: &[&[TokenId]]) -> io::Result<Option<Vec<Vec<f32>>>> {
        let Some(logged) = self.batches.get(&hash_of(batch)).filter(|logged| logged.passages == batch.len()) else {
            return Ok(None);
        };
        let mut bytes = vec![0; logged.passages * self.dims * 4];
        self.file.read_exact_at(&mut bytes, logged.offset)?;
        let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        Ok(Some(values.chunks(self.dims).map(<[f32]>::to_vec).collect()))
    }

    /// Adds a batch. It survives the end of this process, and after `sync` also a power failure.
    pub(super) fn add(&mut self, batch: &[&[TokenId]], vectors: &[Vec<f32>]) -> io::Result<()> {
        let hash = hash_of(batch);
        let mut record = hash.to_vec();
        record.extend((batch.len() as u32).to_le_bytes());
        record.extend(vectors.iter().flatten().flat_map(|value| value.to_le_bytes()));
        let offset = self.end + 32 + 4;
        record.extend(checksum(&record));
        self.file.write_all(&record)?;
        self.end += record.len() as u64;
        self.batches.insert(hash, LoggedBatch { offset, passages: batch.len() });
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn hash_of(batch: &[&[TokenId]]) -> BatchHash {
    let mut hasher = blake3::Hasher::new();
    for passage in batch {
        hasher.update(&(passage.len() as u64).to_le_bytes());
        let tokens: Vec<u8> = passage.iter().flat_map(|token| token.0.to_le_bytes()).collect();
        hasher.update(&tokens);
    }
    *hasher.finalize().as_bytes()
}

fn checksum(record: &[u8]) -> [u8; CHECKSUM_LEN] {
    let hash = blake3::hash(record);
    *hash.as_bytes().first_chunk().expect("a hash has more bytes")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ENCODER: EncoderHash = [7; 32];

    fn batch(seed: u16, passages: u16) -> Vec<Vec<TokenId>> {
        (0..passages).map(|n| vec![TokenId(seed), TokenId(n), TokenId(102)]).collect()
    }

    fn slices(batch: &[Vec<TokenId>]) -> Vec<&[TokenId]> {
        batch.iter().map(Vec::as_slice).collect()
    }

    fn vectors(seed: u16, passages: u16) -> Vec<Vec<f32>> {
        (0..passages).map(|n| (0..32).map(|dim| f32::from(seed) + f32::from(n * 32 + dim) / 1024.0).collect()).collect()
    }

    fn opened(path: &Path) -> EmbeddingLog {
        EmbeddingLog::open(path, &ENCODER, 32).unwrap().unwrap()
    }

    /// A file with the batches 1 to 5, of as many passages.
    fn written(path: &Path) {
        let mut log = opened(path);
        for seed in 1..=5 {
            log.add(&slices(&batch(seed, seed)), &vectors(seed, seed)).unwrap();
        }
        log.sync().unwrap();
    }

    #[test]
    fn a_log_cut_or_damaged_anywhere_keeps_the_whole_batches_before_that_and_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        written(&path);
        let whole = fs::read(&path).unwrap();
        assert_eq!(opened(&path).passages(), 15);
        let ends: Vec<usize> = (1..=5)
            .scan(HEADER_LEN as usize, |end, n| {
                *end += 32 + 4 + n * 32 * 4 + CHECKSUM_LEN;
                Some(*end)
            })
            .collect();
        assert_eq!(*ends.last().unwrap(), whole.len());
        for place in (0..whole.len()).step_by(7) {
            let kept = ends.iter().take_while(|end| **end <= place).count() as u16;
            let cut = whole[..place].to_vec();
            let mut damaged = whole.clone();
            damaged[place] ^= 0x40;
            for bytes in [cut, damaged] {
                fs::write(&path, &bytes).unwrap();
                let mut log = opened(&path);
                for seed in 1..=5 {
                    let found = log.vectors(&slices(&batch(seed, seed))).unwrap();
                    assert_eq!(found, (seed <= kept).then(|| vectors(seed, seed)), "batch {seed}, byte {place}");
                }
                log.add(&slices(&batch(9, 2)), &vectors(9, 2)).unwrap();
                drop(log);
                let log = opened(&path);
                assert_eq!(log.vectors(&slices(&batch(9, 2))).unwrap(), Some(vectors(9, 2)));
                assert_eq!(log.batches.len(), usize::from(kept) + 1);
            }
        }
    }

    #[test]
    fn a_log_belongs_to_one_encoder_and_one_build_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        written(&path);
        let first = opened(&path);
        assert!(EmbeddingLog::open(&path, &ENCODER, 32).unwrap().is_none());
        drop(first);
        let other = EmbeddingLog::open(&path, &[8; 32], 32).unwrap().unwrap();
        assert_eq!(other.passages(), 0);
        drop(other);
        assert_eq!(opened(&path).passages(), 0, "it was begun anew");
    }
}
