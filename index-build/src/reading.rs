//! Reads the files of one source with the importer of its format.

use crate::account::{CountedLines, SourceWords};
use crate::import::batch::DocumentBatch;
use crate::import::intake::{ImportError, SourceIntake};
use crate::import::target::ImportTarget;
use crate::import::{ReadMode, SourceContent};
use crate::opened_source::OpenedSource;
use crate::plan::PlannedSource;
use crate::progress::ProgressDisplay;
use crate::report::WarningKind;
use crate::source_files::{self, SourceFile};

/// Reads a source of law, number `number` of the plan, into the code body `key`, and counts its words.
pub(crate) fn read_source(
    number: u16,
    source: &OpenedSource<'_>,
    key: &str,
    progress: ProgressDisplay,
    intake: &mut SourceIntake<'_>,
    words: &mut SourceWords,
) -> Result<(), ImportError> {
    let planned = source.planned;
    let SourceContent::Law { read, words: form, .. } = planned.format.content else { return Ok(()) };
    let target = ImportTarget {
        jurisdiction: planned.jurisdiction.as_str(),
        code_body: planned.code_body.as_deref().unwrap_or_default(),
        key,
        citation: planned.citation.as_deref(),
        source: number,
        tags: &planned.tags,
        options: &planned.options,
    };
    let provisions_before = intake.gatherer.provisions();
    let mut stage = progress.stage("reading", "nodes", None);
    let member = planned.member.as_deref();
    let links = match read {
        ReadMode::Lines(read) => source_files::for_each(&source.path, member, |file| {
            let mut counted = CountedLines::new(file.reader, form, words);
            stage.add(read(SourceFile { place: file.place, reader: &mut counted }, target, intake)?);
            drop(counted);
            for (reason, text) in intake.left_out.drain(..) {
                words.leave_out(reason, &text);
            }
            Ok::<(), ImportError>(())
        })?,
        ReadMode::Documents { parse, wants } => {
            let mut batch = DocumentBatch::default();
            let links = source_files::for_each(&source.path, member, |file| {
                if wants(&file.place) {
                    batch.read(file)?;
                }
                if batch.is_full() {
                    stage.add(batch.parse(parse, target, form, intake, words)?);
                }
                Ok::<(), ImportError>(())
            })?;
            stage.add(batch.parse(parse, target, form, intake, words)?);
            links
        }
    };
    stage.finish();
    for link in links {
        intake.warnings.add(WarningKind::SkippedLink, link, "this is a link; it was skipped");
    }
    if intake.gatherer.provisions() == provisions_before && intake.mistakes.is_empty() {
        let what = "this source has no provisions; check that the file is complete, or remove it from the plan";
        intake.mistakes.add(source.path.display(), what);
    }
    Ok(())
}

/// The error message if two sources share a key but belong to different code bodies.
pub(crate) fn other_body(first: &PlannedSource, other: &PlannedSource) -> Option<String> {
    let is_same = first.jurisdiction == other.jurisdiction && first.code_body == other.code_body;
    (!is_same).then(|| {
        format!(
            "the sources '{}' and '{}' share the key '{}' but not jurisdiction and code_body; a key names one code body",
            first.path.display(),
            other.path.display(),
            first.key.as_deref().unwrap_or_default()
        )
    })
}
