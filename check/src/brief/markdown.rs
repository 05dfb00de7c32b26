//! Markdown, as CommonMark with footnotes and tables.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{BlockWriter, BriefBlockKind};

pub(super) fn read(source: &str, writer: &mut BlockWriter) {
    let options = Options::ENABLE_FOOTNOTES | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut around = Vec::new();
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        match event {
            Event::Start(tag) => match tag {
                Tag::BlockQuote(_) => open(writer, &mut around, BriefBlockKind::Quote),
                Tag::FootnoteDefinition(label) => {
                    open(writer, &mut around, BriefBlockKind::Note);
                    writer.begin_note(&label);
                }
                Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell | Tag::CodeBlock(_) => {
                    end(writer, &around);
                }
                _ => {}
            },
            Event::End(tag) => match tag {
                TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                    end(writer, &around);
                    around.pop();
                }
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock => {
                    end(writer, &around);
                }
                _ => {}
            },
            Event::Text(text) | Event::Code(text) => {
                // The text is a part of the file, or the character of an entity or escape.
                let inner = source.get(range.clone()).and_then(|part| part.find(&*text)).unwrap_or(0);
                writer.push(&text, Some(range.start + inner));
            }
            Event::FootnoteReference(label) => writer.refer_to_note(&label),
            Event::SoftBreak | Event::HardBreak => writer.push_character(' ', None),
            _ => {}
        }
    }
    end(writer, &around);
}

fn open(writer: &mut BlockWriter, around: &mut Vec<BriefBlockKind>, kind: BriefBlockKind) {
    end(writer, around);
    around.push(kind);
}

fn end(writer: &mut BlockWriter, around: &[BriefBlockKind]) {
    writer.end(around.last().copied().unwrap_or(BriefBlockKind::Paragraph));
}
