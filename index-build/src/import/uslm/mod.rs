//! United States Legislative Markup: titles of the United States Code, with their appendices, as
//! the Office of the Law Revision Counsel publishes them (USLM 1), and volumes of the Code of
//! Federal Regulations in USLM 2.
//!
//! A document is walked once. [`hierarchy`] makes nodes of titles, chapters and sections,
//! [`text`] builds texts and notes line by line, [`left_out`] records the words that are in no
//! text, and [`identifier`] and [`scheme`] make keys and citations. Law quoted in notes makes no
//! nodes: the walk never searches for sections below a section.

mod disposition;
pub(crate) mod edition;
mod effect;
mod flat;
mod hierarchy;
mod identifier;
mod left_out;
mod lines;
mod provision;
mod reading;
mod scheme;
mod table;
mod text;

use roxmltree::Document as Tree;

use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::import::unknown::{self, KnownElements};
use crate::import::xml;
use scheme::Scheme;

/// Parses one title, appendix or volume.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: ImportTarget<'_>) -> Parsed {
    let root = tree.root_element();
    let Some(scheme) = Scheme::of_root(root.tag_name().name()) else {
        let what = format!(
            "the document is <{}>, but a code in USLM is <uscDoc> or <cfrDoc>; leave this file out or choose another format",
            root.tag_name().name()
        );
        return Parsed::refused(document.position(xml::line_of(tree, root)), what);
    };
    let mut parsed = hierarchy::read(document, target, scheme, root);
    left_out::name(root, &mut parsed);
    unknown::warn(root, &VOCABULARY, document, &mut parsed);
    parsed
}

const VOCABULARY: KnownElements = KnownElements { names: NAMES, is_left_out: hierarchy::is_left_out };

/// The elements in the schema of USLM 1, and further ones in the volumes of regulations.
const NAMES: &str = "a action affiliation amendingFormula amendment appendix approved article authority b bill block br \
    caption center cfrDoc changeNote chapeau chapter checkBox citationNote clause col colgroup colspec \
    column compiledAct content continuation courtRule courtRules crossHeading date def del designator \
    division docNumber docPublicationName docReleasePoint docTitle document editionNote editorialNote em \
    enactingFormula entry explanationNote figure fillIn footnote groupItem header heading headingItem i \
    img inline ins instruction item label lawDoc layout level longTitle made main marker meta name note \
    notes num organizationNote p paragraph part preamble preliminary property proviso quotedContent \
    quotedText recital ref referenceItem reorganizationPlan reorganizationPlans resolution role row \
    schedule section set shortTitle signature signatureDate signatures source sourceCredit span spanspec \
    statement statute statutoryNote strong sub subarticle subchapter subclause subdivision subheading \
    subitem subject subparagraph subpart subsection subsubitem subtitle sup table target tbody td term \
    text tfoot tgroup th thead title toc tocItem tr uscDoc";
