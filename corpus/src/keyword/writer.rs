//! Writes the keyword index from a stream of documents in ordinal order, in bounded memory.
//!
//! A separate thread analyses and collects documents. When the collected postings reach the memory budget, they are
//! written to disk as a run. At the end a single run becomes the index; several runs are merged, in order, into one
//! segment. The same documents give the same bytes, with any number of runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use tantivy::indexer::merge_indices;
use tantivy::schema::Schema;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{Directory, Index, SingleSegmentIndexWriter, TantivyDocument, TantivyError};

use super::directory::{BuildDirectory, META_FILE, SEGMENT_FILES};
use super::error::KeywordError;
use super::schema::{KeywordFields, KeywordSchema, keyword_schema};
use crate::analyzer::{ANALYZER_ID, LawTokenizer};
use crate::section_file::sync_directory;

/// The segment id in every index, in place of tantivy's random one.
const SEGMENT_ID: &str = "00000000000000000000000000000001";

/// Maximum number of documents. tantivy numbers documents below 2^31.
const DOCUMENT_COUNT_MAX: u32 = i32::MAX as u32;

/// tantivy uses 9 MiB before the first document. With a budget of little more, every document would become a run.
const MEMORY_BUDGET_BYTES_MIN: usize = 12 << 20;

/// Bytes of text in a batch for the analysing thread. At most [`BATCHES_WAITING`] batches wait for it.
const BATCH_BYTES: usize = 1 << 20;
const BATCHES_WAITING: usize = 2;

/// The searchable data of one node. Containers without text must be pushed too, so that document ids stay ordinals.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeywordDocument<'a> {
    pub heading: &'a str,
    /// Spans of text. No phrase matches across two spans.
    pub text: &'a [&'a str],
    pub citation: &'a str,
    /// The headings of the ancestors.
    pub breadcrumb: &'a [&'a str],
}

/// Statistics of the written index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeywordStats {
    pub document_count: u32,
    pub run_count: usize,
    /// Name and size of each file, in order of name.
    pub files: Vec<(String, u64)>,
}

#[derive(Debug)]
pub struct KeywordWriter {
    path: PathBuf,
    fields: KeywordFields,
    ordinal: tantivy::schema::Field,
    document_count: u32,
    batch: Vec<TantivyDocument>,
    batch_bytes: usize,
    batches: SyncSender<Vec<TantivyDocument>>,
    /// `None` after its error was reported.
    worker: Option<JoinHandle<Result<Vec<IndexRun>, KeywordError>>>,
}

/// A part of the index on disk, with consecutive documents.
struct IndexRun {
    directory: BuildDirectory,
    index: Index,
}

impl KeywordWriter {
    /// Creates the folder, which must not exist, and starts the thread. The budget limits the collected postings;
    /// it is raised to 12 MiB if it is smaller.
    pub fn create(path: &Path, memory_budget_bytes: usize) -> Result<Self, KeywordError> {
        fs::create_dir(path).map_err(|source| io_error(path, "create", source))?;
        let memory_budget_bytes = memory_budget_bytes.max(MEMORY_BUDGET_BYTES_MIN);
        let KeywordSchema { schema, fields, ordinal } = keyword_schema();
        let (batches, incoming) = sync_channel(BATCHES_WAITING);
        let runs = RunWriter { path: path.to_owned(), schema, memory_budget_bytes, runs: Vec::new() };
        let worker = std::thread::Builder::new()
            .name("keyword-index".into())
            .spawn(move || runs.write_all(&incoming))
            .map_err(|source| io_error(path, "start a thread for", source))?;
        Ok(Self {
            path: path.to_owned(),
            fields,
            ordinal,
            document_count: 0,
            batch: Vec::new(),
            batch_bytes: 0,
            batches,
            worker: Some(worker),
        })
    }

    /// Adds the next node in order. An error of the thread may be returned only by a later call.
    pub fn push(&mut self, document: KeywordDocument<'_>) -> Result<(), KeywordError> {
        if self.document_count >= DOCUMENT_COUNT_MAX {
            return Err(KeywordError::TooManyDocuments { path: self.path.clone() });
        }
        let KeywordDocument { heading, text, citation, breadcrumb } = document;
        let mut fields = TantivyDocument::default();
        let spans = [(self.fields.heading, &[heading][..]), (self.fields.text, text)];
        let more_spans = [(self.fields.citation, &[citation][..]), (self.fields.breadcrumb, breadcrumb)];
        for (field, spans) in spans.into_iter().chain(more_spans) {
            for span in spans.iter().filter(|span| !span.is_empty()) {
                fields.add_text(field, span);
                self.batch_bytes += span.len();
            }
        }
        fields.add_u64(self.ordinal, u64::from(self.document_count));
        self.batch.push(fields);
        self.document_count += 1;
        // Documents without text use memory too.
        self.batch_bytes += 64;
        if self.batch_bytes >= BATCH_BYTES { self.send_batch() } else { Ok(()) }
    }

    /// Merges the runs, leaves only the files of the index, and syncs them.
    pub fn finish(mut self) -> Result<KeywordStats, KeywordError> {
        self.send_batch()?;
        let Self { path, document_count, batches, worker, .. } = self;
        drop(batches);
        let runs = join_worker(&path, worker)?;
        let run_count = runs.len();
        let meta = join_runs(&path, &runs)?;
        for run in runs {
            let root = run.directory.root().to_owned();
            drop(run);
            fs::remove_dir_all(&root).map_err(|source| io_error(&root, "remove", source))?;
        }
        replace_store(&path)?;
        let meta_path = path.join(META_FILE);
        fs::write(&meta_path, normalized_meta(&path, &meta)?)
            .map_err(|source| io_error(&meta_path, "write", source))?;
        Ok(KeywordStats { document_count, run_count, files: sync_files(&path)? })
    }

    fn send_batch(&mut self) -> Result<(), KeywordError> {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if self.batches.send(batch).is_ok() {
            return Ok(());
        }
        // The thread takes batches until it fails, so it has an error to report.
        join_worker(&self.path, self.worker.take())?;
        Err(KeywordError::WriterStopped { path: self.path.clone() })
    }
}

fn join_worker(
    path: &Path,
    worker: Option<JoinHandle<Result<Vec<IndexRun>, KeywordError>>>,
) -> Result<Vec<IndexRun>, KeywordError> {
    let stopped = || KeywordError::WriterStopped { path: path.to_owned() };
    worker.ok_or_else(stopped)?.join().map_err(|_| stopped())?
}

/// The part that runs in the thread. It receives documents and writes runs.
struct RunWriter {
    path: PathBuf,
    schema: Schema,
    memory_budget_bytes: usize,
    runs: Vec<IndexRun>,
}

/// The run being collected.
struct OpenRun {
    directory: BuildDirectory,
    writer: SingleSegmentIndexWriter,
}

impl RunWriter {
    fn write_all(mut self, incoming: &Receiver<Vec<TantivyDocument>>) -> Result<Vec<IndexRun>, KeywordError> {
        let mut open = self.begin_run(0)?;
        let mut is_empty = true;
        for document in incoming.iter().flatten() {
            if !is_empty && open.writer.mem_usage() >= self.memory_budget_bytes {
                let full = std::mem::replace(&mut open, self.begin_run(self.runs.len() + 1)?);
                self.end_run(full)?;
            }
            let added = open.writer.add_document(document);
            added.map_err(|source| engine_error(&self.path, "add a document to", source))?;
            is_empty = false;
        }
        self.end_run(open)?;
        Ok(self.runs)
    }

    fn begin_run(&self, number: usize) -> Result<OpenRun, KeywordError> {
        let root = self.path.join(format!("run-{number}"));
        fs::create_dir(&root).map_err(|source| io_error(&root, "create", source))?;
        let directory = BuildDirectory::new(&root);
        let tokenizers = TokenizerManager::default();
        tokenizers.register(ANALYZER_ID, TextAnalyzer::from(LawTokenizer::default()));
        let writer = Index::builder()
            .schema(self.schema.clone())
            .tokenizers(tokenizers)
            .single_segment_index_writer(Box::new(directory.clone()) as Box<dyn Directory>, self.memory_budget_bytes)
            .map_err(|source| engine_error(&self.path, "begin a run of", source))?;
        Ok(OpenRun { directory, writer })
    }

    fn end_run(&mut self, run: OpenRun) -> Result<(), KeywordError> {
        let OpenRun { directory, writer } = run;
        let index = writer.finalize().map_err(|source| engine_error(&self.path, "write a run of", source))?;
        self.runs.push(IndexRun { directory, index });
        Ok(())
    }
}

/// Puts the files of one segment into the folder. Returns tantivy's `meta.json` for it.
fn join_runs(path: &Path, runs: &[IndexRun]) -> Result<Vec<u8>, KeywordError> {
    let engine = |source| engine_error(path, "merge the runs of", source);
    let directory = match runs {
        [only] => {
            for name in SEGMENT_FILES {
                let from = only.directory.root().join(name);
                fs::rename(&from, path.join(name)).map_err(|source| io_error(&from, "move", source))?;
            }
            only.directory.clone()
        }
        _ => {
            // The merger keeps the order of the runs, so ordinals stay in order.
            let indices: Vec<Index> = runs.iter().map(|run| run.index.clone()).collect();
            let merged = BuildDirectory::new(path);
            merge_indices(&indices, Box::new(merged.clone()) as Box<dyn Directory>).map_err(engine)?;
            merged
        }
    };
    directory.atomic_read(Path::new(META_FILE)).map_err(|source| engine(source.into()))
}

/// Replaces the document store with that of an index without documents. Ours contains an empty record per document.
/// These are never read, and the boundaries of its blocks depend on the runs.
fn replace_store(path: &Path) -> Result<(), KeywordError> {
    const STORE_FILE: &str = "segment.store";
    let schema = keyword_schema().schema;
    let mut empty =
        RunWriter { path: path.to_owned(), schema, memory_budget_bytes: MEMORY_BUDGET_BYTES_MIN, runs: Vec::new() };
    let run = empty.begin_run(0)?;
    let root = run.directory.root().to_owned();
    empty.end_run(run)?;
    let to = path.join(STORE_FILE);
    fs::rename(root.join(STORE_FILE), &to).map_err(|source| io_error(&to, "replace", source))?;
    fs::remove_dir_all(&root).map_err(|source| io_error(&root, "remove", source))
}

/// The content of `meta.json` without the parts that differ between builds: the random segment id, and the payload
/// about merged runs.
fn normalized_meta(path: &Path, meta: &[u8]) -> Result<String, KeywordError> {
    let unexpected = || {
        let cause = std::io::Error::other("tantivy wrote index metadata in an unknown form");
        engine_error(path, "describe", TantivyError::from(cause))
    };
    let mut meta: serde_json::Value = serde_json::from_slice(meta).map_err(|_| unexpected())?;
    let segments = meta.get_mut("segments").and_then(|segments| segments.as_array_mut()).ok_or_else(unexpected)?;
    let [segment] = segments.as_mut_slice() else { return Err(unexpected()) };
    *segment.get_mut("segment_id").ok_or_else(unexpected)? = SEGMENT_ID.into();
    meta.as_object_mut().ok_or_else(unexpected)?.remove("payload");
    Ok(format!("{meta:#}\n"))
}

/// Syncs every file and the folder. Returns the names and sizes of the files.
fn sync_files(path: &Path) -> Result<Vec<(String, u64)>, KeywordError> {
    let mut files = Vec::new();
    for name in [META_FILE].into_iter().chain(SEGMENT_FILES) {
        let file_path = path.join(name);
        let io = |source| io_error(&file_path, "sync", source);
        let file = File::open(&file_path).map_err(io)?;
        file.sync_all().map_err(io)?;
        files.push((name.to_owned(), file.metadata().map_err(io)?.len()));
    }
    sync_directory(path).map_err(|source| io_error(path, "sync", source))?;
    Ok(files)
}

fn io_error(path: &Path, doing: &'static str, source: std::io::Error) -> KeywordError {
    KeywordError::Io { path: path.to_owned(), doing, source }
}

fn engine_error(path: &Path, doing: &'static str, source: TantivyError) -> KeywordError {
    KeywordError::Engine { path: path.to_owned(), doing, source }
}
